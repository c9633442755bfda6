"""The labelling page as XML, and the answers that come back from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET  # only our own documents are read

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling import SMALL, tree_text

from faultatlas.annotation.bridge.page.answers import Parsed, answer_of, result_of
from faultatlas.annotation.bridge.page.config import labelling_config
from faultatlas.annotation.labels import SPECIAL, Stage
from faultatlas.data.taxonomy import Node, Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary, taxonomy_of_text

TREE = taxonomy_of_text(tree_text(SMALL), "tree")
MANY = taxonomy_of_text(tree_text(SMALL, choice="multiple"), "tree")
SHIPPED = [path.stem for path in sorted((Path(__file__).parents[3] / "data/taxonomies").glob("*"))]


def paths(tree: ET.Element) -> dict[str, list[str]]:
    """The path of aliases of every choice in the tree."""
    found = {}

    def walk(element: ET.Element, above: list[str]) -> None:
        for child in element.findall("Choice"):
            path = [*above, child.attrib["alias"]]
            found[path[-1]] = path
            walk(child, path)

    taxonomy = tree.find(".//Taxonomy")
    assert taxonomy is not None
    walk(taxonomy, [])
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_every_code_of_a_shipped_taxonomy_can_be_chosen_and_comes_back(
    name: str, tmp_path: Path
) -> None:
    taxonomy = TaxonomyLibrary(tmp_path).taxonomy(name)
    page = ET.fromstring(labelling_config(taxonomy, choice=taxonomy.choice))  # noqa: S314

    found = paths(page)

    assert [*found] == [node.code for node in taxonomy.nodes] + [*SPECIAL]
    for node in taxonomy.selectable:
        sent = result_of([node.code], taxonomy)
        assert sent[0]["value"]["taxonomy"] == [found[node.code]]
        assert answer_of(sent, taxonomy).codes == (node.code,)
    codebook = page.find(".//HyperText[@name='codebook']")
    assert codebook is not None
    assert codebook.attrib["value"].count("<details>") == len(taxonomy.nodes)


def test_categories_can_be_chosen_only_where_the_taxonomy_says_so() -> None:
    leaves = labelling_config(TREE, choice="single")
    anything = labelling_config(
        taxonomy_of_text(tree_text(SMALL).replace("select: leaves", "select: any"), "tree"),
        choice="multiple",
    )

    assert 'leafsOnly="true" maxUsages="1"' in leaves
    assert "leafsOnly" not in anything
    assert "maxUsages" not in anything


@pytest.mark.parametrize("stage", ["independent", "negotiated", "adjudicated"])
@pytest.mark.parametrize("suggestions", [False, True])
def test_only_what_the_design_asks_for_is_shown_beside_the_tree(
    stage: Stage,
    suggestions: bool,  # noqa: FBT001
) -> None:
    config = labelling_config(TREE, choice="single", stage=stage, suggestions=suggestions)

    shown = set(re.findall(r'value="\$(\w+)"', config))

    assert ("said" in shown) == (stage != "independent")
    assert ("suggested" in shown) == suggestions
    assert shown <= {"html", "said", "suggested"}


@given(st.text(), st.text(), st.text(alphabet="$html<>&\"'\\{}%[]() \n"))
def test_any_words_of_a_taxonomy_stay_words(name: str, definition: str, question: str) -> None:
    node = Node("c", name, "", definition, definition, definition, (), 1)
    taxonomy = Taxonomy("t", "1", "T", "S", "single", "leaves", question, (node,), Path("t.yaml"))

    config = labelling_config(taxonomy, choice="single")

    page = ET.fromstring(config)  # noqa: S314
    assert [*paths(page)] == ["c", *SPECIAL]
    for part in page.iter("HyperText"):
        value = part.attrib["value"]
        # Label Studio would fill in what stands behind a dollar sign.
        assert value == "$html" or "$" not in value
        assert not re.search(r"<(?!/?(?:p|b|i|h3|details|summary)>)", value)


def test_an_answer_with_everything() -> None:
    sent = result_of(["~new"], TREE, confidence=4, comment=" see log ", proposed="race")

    assert answer_of(sent, TREE) == Parsed(("~new",), 4.0, "see log", "race")


def test_a_name_that_was_typed_and_then_not_asked_for_is_no_proposal() -> None:
    assert answer_of(result_of(["a1"], TREE, proposed="race"), TREE) == Parsed(("a1",))


def test_several_codes_where_the_taxonomy_takes_them() -> None:
    assert answer_of(result_of(["b1", "a1"], MANY), MANY).codes == ("b1", "a1")
    assert answer_of(result_of(["b1", "~new"], MANY), MANY).problems == ()


def chosen(*path: Any) -> list[dict[str, Any]]:
    return [{"from_name": "code", "type": "taxonomy", "value": {"taxonomy": [*path]}}]


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ([], "no code was chosen"),
        (None, "it holds no list of answers"),
        (["x"], "it holds something that the page does not ask for: 'None'"),
        ([{"from_name": "label", "value": {}}], "the page does not ask for: 'label'"),
        ([{"from_name": "code", "value": {"choices": ["a1"]}}], "does not ask for: 'code'"),
        (chosen(["a", "zz"]), "'zz' is no code of tree 1.0.0"),
        (chosen(["~other"]), "'~other' is no code"),
        (chosen(["a", "~unclear"]), "'~unclear' is no code"),
        (chosen(["a"]), "a is a category of tree"),
        (chosen(["b", "a1"]), "a1 does not stand under 'b' in tree"),
        (chosen([]), "it holds a code that cannot be read"),
        (chosen([3]), "it holds a code that cannot be read"),
        (chosen(3), "it holds a code that cannot be read"),
        (chosen(["a", "a1"], ["b", "b1"]), "a1, b1: one code was asked for"),
        (
            [*chosen(["a", "a1"]), {"from_name": "confidence", "value": {"choices": ["7"]}}],
            "'7' is no confidence from 1 to 5",
        ),
        (
            [*chosen(["a", "a1"]), {"from_name": "comment", "value": {"text": [None]}}],
            "it holds a comment that is no text",
        ),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told(result: Any, problem: str) -> None:
    found = answer_of(result, TREE)

    assert len(found.problems) == 1
    assert problem in found.problems[0]


def test_unclear_beside_a_code_contradicts_itself() -> None:
    sent = result_of(["a1", "~unclear"], MANY)

    assert answer_of(sent, MANY).problems == ('"unclear" beside other codes',)

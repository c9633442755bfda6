"""Taxonomies as values: finding a code by its spelling, and walking the tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import Crosswalk, Node, Pair, Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary


def tree(*nodes: tuple[str, str, str, tuple[str, ...]], select: str = "leaves") -> Taxonomy:
    """A taxonomy of (code, parent, name, aliases)."""
    return Taxonomy(
        name="own", version="1.0.0", title="", source="", choice="single", select=select,
        question="", path=Path("own.yaml"),
        nodes=tuple(
            Node(code=code, name=name, parent=parent, definition="", not_this="", example="",
                 aliases=aliases, line=line)
            for line, (code, parent, name, aliases) in enumerate(nodes)
        ),
    )  # fmt: skip


SHAPES = tree(
    ("4", "", "Tensors & Inputs", ()),
    ("4.1", "4", "Wrong Tensor Shape", ()),
    ("4.1.L1", "4.1", "Wrong tensor shape", ("bad-shape", "Shape")),
    ("4.1.L2", "4.1", "Tensor shape mismatch", ("4.1",)),
    ("third-party", "", "Third-party library", ()),
    ("model-relevance", "", "Model relevance", ("relevance_of_model",)),
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("4.1.L1", "4.1.L1"),
        ("4.1.l1", "4.1.L1"),
        (" 4.1.L1 ", "4.1.L1"),
        ("Tensor shape mismatch", "4.1.L2"),
        ("TENSOR SHAPE MISMATCH", "4.1.L2"),
        ("tensor-shape  mismatch", "4.1.L2"),
        ("tensor_shape_mismatch", "4.1.L2"),
        ("Bad Shape", "4.1.L1"),
        ("shape", "4.1.L1"),
        ("tensors & inputs", "4"),
        ("Third Party", "third-party"),
        ("THIRD-PARTY LIBRARY", "third-party"),
        ("model-relevance", "model-relevance"),
        ("Model-Relevance", "model-relevance"),
        ("Model relevance", "model-relevance"),
        ("model_relevance", "model-relevance"),
        ("relevance of model", "model-relevance"),
        # A leaf wins over the category above it, and a code over an alias.
        ("Wrong Tensor Shape", "4.1.L1"),
        ("wrong tensor shape", "4.1.L1"),
        ("4.1", "4.1"),
        ("", None),
        ("4.1.L", None),
        ("tensor", None),
        ("tensors and inputs", None),
    ],
)
def test_a_code_is_found_by_code_name_or_alias(text: str, code: str | None) -> None:
    assert SHAPES.find(text) == code


def test_where_any_node_may_be_chosen_the_upper_of_two_equal_names_is_found() -> None:
    names = (("1", "", "Shape", ()), ("1.1", "1", "shape", ()))
    assert tree(*names, select="any").find("Shape") == "1"
    assert tree(*names).find("Shape") == "1.1"


def test_of_two_codes_that_differ_in_case_the_written_one_is_found() -> None:
    codes = tree(("A1", "", "Big", ()), ("a1", "", "Small", ()))
    assert (codes.find("A1"), codes.find("a1")) == ("A1", "a1")


FAULTS = TaxonomyLibrary().taxonomy("humbatova")


@given(
    st.sampled_from(FAULTS.leaves),
    st.sampled_from([str.upper, str.lower, str.title, str.swapcase]),
    st.sampled_from(["-", "_", "  ", " "]),
)
def test_case_and_hyphens_of_a_name_do_not_matter(
    leaf: Node, case: Callable[[str], str], gap: str
) -> None:
    assert FAULTS.find(case(leaf.name).replace(" ", gap)) == leaf.code
    assert FAULTS.find(case(leaf.code)) == leaf.code


def test_the_tree_can_be_walked() -> None:
    assert "4.1" in SHAPES
    assert "4.1.l1" not in SHAPES  # a code is a code; spellings are for `find`
    assert [node.code for node in SHAPES.children()] == ["4", "third-party", "model-relevance"]
    assert [node.code for node in SHAPES.children("4.1")] == ["4.1.L1", "4.1.L2"]
    assert SHAPES.children("4.1.L1") == ()
    leaves = [node.code for node in SHAPES.leaves]
    assert leaves == ["4.1.L1", "4.1.L2", "third-party", "model-relevance"]
    assert [node.code for node in SHAPES.categories] == ["4", "4.1"]
    assert SHAPES.ancestors("4.1.L2") == ("4.1", "4")
    assert SHAPES.ancestors("4") == ()
    assert SHAPES.leaves_of("4") == ("4.1.L1", "4.1.L2")
    assert SHAPES.leaves_of("4.1.L1") == ("4.1.L1",)
    assert SHAPES.selectable == SHAPES.leaves


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(StudyError, match="taxonomy own has no code '5'") as refused:
        SHAPES.node("5")
    assert refused.value.hint == "Its codes: annotation taxonomy show own"
    with pytest.raises(StudyError):
        SHAPES.leaves_of("5")


def test_a_word_code_wins_over_the_equal_name_of_another() -> None:
    codes = tree(("x", "", "Model relevance", ()), ("model-relevance", "", "Relevance", ()))
    assert codes.find("model-relevance") == "model-relevance"
    assert codes.find("Model relevance") == "model-relevance"
    assert codes.find("relevance") == "model-relevance"


# Crosswalks read backwards.


def walk(*pairs: tuple[str, str, str]) -> Crosswalk:
    """A crosswalk from old to new of (code, targets as letters, relation)."""
    return Crosswalk(
        name="old--new", version="1.2.0", source_taxonomy="old", source_version="1.0.0",
        target_taxonomy="new", target_version="2.0.0", source="Nobody.", path=Path("old--new.yaml"),
        pairs=tuple(
            Pair(code, tuple(targets), relation, "b", line)
            for line, (code, targets, relation) in enumerate(pairs, 9)
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("relations", "inverse"),
    [
        (["exact"], "exact"),
        (["narrower"], "broader"),
        (["broader"], "narrower"),
        (["related"], "related"),
        (["narrower", "narrower"], "broader"),
        (["broader", "broader"], "narrower"),
        (["narrower", "related"], "related"),
        (["exact", "narrower"], "related"),
        (["broader", "narrower"], "related"),
        ([], "none"),
    ],
)
def test_the_relation_of_an_inverse(relations: list[str], inverse: str) -> None:
    crosswalk = walk(*((str(i), "ab", relation) for i, relation in enumerate(relations)))
    pair = crosswalk.inverted(["a"]).pair("a")
    assert pair is not None
    assert pair.relation == inverse


def test_an_inverse_has_a_pair_for_every_code_and_says_what_it_is() -> None:
    back = walk(("2", "ba", "narrower"), ("1", "a", "narrower"), ("3", "", "none")).inverted("abc")
    assert (back.name, back.source_taxonomy, back.target_taxonomy) == ("new--old", "new", "old")
    assert (back.version, back.source_version, back.target_version) == ("1.2.0", "2.0.0", "1.0.0")
    assert back.source == "The inverse of old--new. Nobody."
    assert back.pairs == (
        Pair("a", ("2", "1"), "broader", "The inverse of old--new, which maps 2 codes here.", 9),
        Pair("b", ("2",), "broader", "The inverse of old--new, which maps 1 code here.", 9),
        Pair("c", (), "none", "The inverse of old--new, which maps no codes here.", 1),
    )


RELATIONS = st.sampled_from(["exact", "narrower", "broader", "related"])
MAPPED = st.dictionaries(
    st.sampled_from("123456"), st.tuples(st.lists(st.sampled_from("abcdef")), RELATIONS)
)


@given(MAPPED, st.sets(st.sampled_from("abcdef")))
def test_a_leads_to_b_in_the_inverse_if_and_only_if_b_leads_to_a(
    mapped: dict[str, tuple[list[str], str]], selectable: set[str]
) -> None:
    crosswalk = walk(
        *(
            (code, "".join(targets), relation if targets else "none")
            for code, (targets, relation) in mapped.items()
        )
    )
    back = crosswalk.inverted(sorted(selectable))
    forwards = {(pair.code, target) for pair in crosswalk.pairs for target in pair.targets}
    backwards = [(target, pair.code) for pair in back.pairs for target in pair.targets]
    assert sorted(backwards) == sorted(forwards)
    assert {pair.code for pair in back.pairs} >= selectable
    assert all((pair.relation == "none") == (not pair.targets) for pair in back.pairs)

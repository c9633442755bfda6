"""The contract of every shipped taxonomy and crosswalk, and their agreement with the facts."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from faultatlas.data.taxonomy import Node, Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary

LIBRARY = TaxonomyLibrary()
LONGEST = 750  # characters: a rater reads it, and it quotes nobody
# Traces of where we work; readers have neither our folders nor our line numbers.
INTERNAL = re.compile(
    r"\bseeds?\b|\bshared/|\.\./|/work\b|STUDY_FIXTURES|\blines? \d|checks\.json", re.IGNORECASE
)

each_taxonomy = pytest.mark.parametrize("name", LIBRARY.names)
each_crosswalk = pytest.mark.parametrize("name", LIBRARY.crosswalk_names)


def mentioned(text: str, taxonomy: Taxonomy) -> set[str]:
    """The codes that stand in a text as words of their own."""
    return {
        node.code
        for node in taxonomy.nodes
        if re.search(rf"(?<![\w.-]){re.escape(node.code)}(?![\w-]|\.\w)", text)
    }


def texts(node: Node) -> tuple[str, ...]:
    return (node.name, node.definition, node.not_this, node.example, *node.aliases)


def test_every_taxonomy_that_the_studies_need_is_shipped() -> None:
    assert set(LIBRARY.names) >= {
        "challenges", "debugging-techniques", "dl-bugs", "extrinsic", "hp-defects", "humbatova",
        "maintenance-themes", "paper-screening", "symptoms", "testing-properties",
    }  # fmt: skip
    assert set(LIBRARY.crosswalk_names) >= {
        "dl-bugs--dl-or-not", "hp-defects--debugging-techniques", "hp-defects--humbatova",
        "humbatova--dl-bugs",
    }  # fmt: skip


@each_taxonomy
def test_a_taxonomy_is_valid(name: str) -> None:
    taxonomy = LIBRARY.taxonomy(name)
    assert taxonomy.name == name
    assert taxonomy.leaves


@each_taxonomy
def test_every_node_says_what_it_is_and_what_it_is_not(name: str) -> None:
    for node in LIBRARY.taxonomy(name).nodes:
        assert len(node.definition) >= 20, node.code
        assert len(node.not_this) >= 20, node.code
        assert node.definition != node.not_this, node.code


@each_taxonomy
def test_a_leaf_names_the_code_it_is_confused_with(name: str) -> None:
    taxonomy = LIBRARY.taxonomy(name)
    silent = [
        leaf.code
        for leaf in taxonomy.leaves
        if not mentioned(leaf.not_this, taxonomy) - {leaf.code}
    ]
    assert silent == []


@each_taxonomy
def test_two_nodes_do_not_share_a_definition(name: str) -> None:
    definitions = [node.definition for node in LIBRARY.taxonomy(name).nodes]
    assert len(set(definitions)) == len(definitions)


@each_taxonomy
def test_a_code_that_may_be_chosen_is_found_by_its_code_name_and_aliases(name: str) -> None:
    taxonomy = LIBRARY.taxonomy(name)
    for node in taxonomy.selectable:
        found = {text: taxonomy.find(text) for text in (node.code, node.name, *node.aliases)}
        assert set(found.values()) == {node.code}, found


@each_taxonomy
def test_texts_are_short_and_tell_nothing_of_our_folders(name: str) -> None:
    taxonomy = LIBRARY.taxonomy(name)
    for text in (taxonomy.title, taxonomy.source, taxonomy.question):
        assert len(text) <= LONGEST
    for node in taxonomy.nodes:
        assert max(map(len, texts(node))) <= LONGEST, node.code
    assert INTERNAL.findall(taxonomy.path.read_text(encoding="utf-8")) == []


@each_crosswalk
def test_a_crosswalk_is_valid(name: str) -> None:
    crosswalk = LIBRARY.crosswalk_named(name)
    assert LIBRARY.crosswalk(crosswalk.source_taxonomy, crosswalk.target_taxonomy) == crosswalk
    source = LIBRARY.taxonomy(crosswalk.source_taxonomy)
    assert {pair.code for pair in crosswalk.pairs} >= {node.code for node in source.selectable}


@each_crosswalk
def test_a_crosswalk_gives_its_reasons_and_nothing_of_our_folders(name: str) -> None:
    crosswalk = LIBRARY.crosswalk_named(name)
    for pair in crosswalk.pairs:
        assert 10 <= len(pair.basis) <= LONGEST, pair.code
    assert INTERNAL.findall(crosswalk.path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "nodes", "leaves"),
    [
        ("humbatova", 24 + 92, 92),
        ("hp-defects", 7 + 21, 21),
        ("debugging-techniques", 36, 27),
        ("challenges", 16, 13),
        ("dl-bugs", 6, 6),
        ("extrinsic", 5, 4),
    ],
)
def test_a_taxonomy_is_as_large_as_its_study_says(name: str, nodes: int, leaves: int) -> None:
    taxonomy = LIBRARY.taxonomy(name)
    assert (len(taxonomy.nodes), len(taxonomy.leaves)) == (nodes, leaves)


def test_the_bug_types_and_the_heuristics_are_those_of_the_studies() -> None:
    bug_types = LIBRARY.taxonomy("dl-bugs").leaves
    assert [node.code for node in bug_types] == ["model", "training", "tensor", "api", "gpu", "ndl"]
    extrinsic = LIBRARY.taxonomy("extrinsic")
    assert [node.code for node in extrinsic.children()] == ["intrinsic", "extrinsic"]
    heuristics = [node.code for node in extrinsic.children("extrinsic")]
    assert heuristics == ["environment", "requirement", "third-party"]


def test_the_codes_of_one_level_of_faults_are_counted_as_in_the_package() -> None:
    faults = LIBRARY.taxonomy("humbatova")
    depths = [len(faults.ancestors(node.code)) for node in faults.categories]
    assert [depths.count(depth) for depth in (0, 1, 2)] == [5, 11, 8]


def test_the_bug_types_lead_to_faults_through_the_inverse() -> None:
    back = LIBRARY.crosswalk("dl-bugs", "humbatova")
    assert back is not None
    assert back.name == "dl-bugs--humbatova"
    bug_types = LIBRARY.taxonomy("dl-bugs").leaves
    assert [pair.code for pair in back.pairs] == [node.code for node in bug_types]
    found = {pair.code: pair for pair in back.pairs}
    on_devices = [f"2.L{number}" for number in range(1, 11)]
    assert found["gpu"].targets == (*on_devices, "5.7.L1", "5.7.L3")
    assert (found["ndl"].targets, found["ndl"].relation) == ((), "none")
    assert {code[0] for code in found["tensor"].targets} == {"1", "4"}
    # Where a leaf is shared with another type, the crosswalk says "related".
    assert {found[code].relation for code in ("gpu", "tensor")} == {"related"}
    assert found["gpu"].basis == "The inverse of humbatova--dl-bugs, which maps 12 codes here."


@each_crosswalk
def test_a_crosswalk_can_be_read_backwards(name: str) -> None:
    crosswalk = LIBRARY.crosswalk_named(name)
    back = LIBRARY.crosswalk(crosswalk.target_taxonomy, crosswalk.source_taxonomy)
    assert back is not None
    forwards = {(pair.code, target) for pair in crosswalk.pairs for target in pair.targets}
    assert {(target, pair.code) for pair in back.pairs for target in pair.targets} == forwards


@each_taxonomy
def test_a_parent_stands_above_its_children(name: str) -> None:
    above: set[str] = {""}
    for node in LIBRARY.taxonomy(name).nodes:
        assert node.parent in above, node.code
        above.add(node.code)


def test_a_wrong_start_state_is_told_from_a_wrong_kind_of_model() -> None:
    faults = LIBRARY.taxonomy("humbatova")
    assert {"1.1.L2", "1.1.L3", "1.1.L4"} <= mentioned(faults.node("1.1.L1").not_this, faults)


def test_framework_defects_and_faults_are_at_most_related() -> None:
    crosswalk = LIBRARY.crosswalk_named("hp-defects--humbatova")
    led = {pair.code: pair.relation for pair in crosswalk.pairs if pair.targets}
    assert led == {"B1": "related", "C2": "related", "E2": "related"}


def facts(folder: Path, name: str) -> dict[str, dict[str, str]]:
    with (folder / "facts" / name).open(encoding="utf-8", newline="") as file:
        return {row["code"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("humbatova", "humbatova.csv"),
        ("hp-defects", "hp_defects.csv"),
        ("debugging-techniques", "techniques.csv"),
    ],
)
def test_codes_parents_and_names_are_those_of_the_facts(
    name: str, file: str, study_fixtures: Path
) -> None:
    taxonomy = LIBRARY.taxonomy(name)
    rows = facts(study_fixtures, file)
    parents = {code: row["parent_code"] for code, row in rows.items()}
    assert {node.code: node.parent for node in taxonomy.nodes} == parents
    for code, row in rows.items():
        # A name whose grammar or capitals were mended is still known as it was printed.
        node = taxonomy.node(code)
        spellings = {text.casefold() for text in (node.name, *node.aliases)}
        assert row["name"].casefold() in spellings, code


def test_the_spellings_of_the_sheets_lead_to_their_leaves(study_fixtures: Path) -> None:
    faults = LIBRARY.taxonomy("humbatova")
    rows = facts(study_fixtures, "humbatova.csv").values()
    spellings = [(row["code"], text) for row in rows for text in row["aliases"].split(" | ")]
    # An arrow is a rater's change of mind, no spelling.
    known = [(code, text) for code, text in spellings if text and "->" not in text]
    assert len(known) >= 15
    assert [(code, text) for code, text in known if faults.find(text) != code] == []

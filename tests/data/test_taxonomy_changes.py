"""Changes of a taxonomy: what becomes of codes, and what a file must say of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from changed_trees import revised, tree
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data.errors import StudyError
from faultatlas.data.old.taxonomy_revisions import block, differences, proposed, revision_problems
from faultatlas.data.taxonomy import Change, Revision
from faultatlas.data.taxonomy_changes import (
    ENDED,
    Step,
    decided,
    followed,
    version_key,
    way_between,
)
from faultatlas.data.taxonomy_library import TaxonomyLibrary, load_taxonomy, taxonomy_of_text

HEAD = """\
taxonomy: {name}
version: "{version}"
title: Own
source: Nobody
choice: single
select: leaves
question: Which?
nodes:
"""


def node_line(code: str, parent: str = "", name: str = "") -> str:
    under = f'parent: "{parent}", ' if parent else ""
    return (
        f'  - {{code: "{code}", {under}name: {name or f"Name of {code}"}, definition: d, not: n}}\n'
    )


def file_text(codes: dict[str, str], version: str, steps: str = "", name: str = "own") -> str:
    text = HEAD.format(name=name, version=version)
    text += "".join(node_line(code, parent) for code, parent in codes.items())
    return f'{text}changes:\n  - from: "1.0.0"\n    steps:\n{steps}' if steps else text


GONE = "`to: CODE` carries its labels, `to: []` ends them"
OLD = {"a": "", "a1": "a", "a2": "a", "b": "", "b1": "b", "b2": "b"}

# The tree of 2.0.0, its steps, and what is complained about (file line 9 has the first node).
WRONG: dict[str, tuple[dict[str, str], str, list[str]]] = {
    "a new code": (
        {**OLD, "c": "", "b3": "b"},
        "      - {add: [c]}\n",
        ['new: b3; add the step `{add: ["b3"]}`'],
    ),
    "a rename that is none": (
        {code: parent for code, parent in OLD.items() if code != "a2"},
        "      - {rename: b1, to: b1}\n",
        ["rename b1: code and name are what they were"],
    ),
    "a code that is gone without a word": (
        {code: parent for code, parent in OLD.items() if code not in {"a2", "b2"}},
        "      - {retire: b2}\n",
        [f'code a2: gone ({GONE}); add the step `{{retire: "a2"}}`'],
    ),
    "a move that is none": (
        OLD, "      - {move: a1, under: a}\n", ["move a1: it stood under a before"],
    ),
    "a code that moved": (
        {**OLD, "a1": "b"} | {"c": ""},
        "      - {add: [c]}\n",
        ['code a1: stands under b, as it did not; add the step `{move: "a1", under: "b"}`'],
    ),
    "a move to elsewhere": (
        {**OLD, "a1": "b"},
        "      - {move: a1, under: a}\n",
        ["move a1: in 2.0.0 it stands under b"],
    ),
    "a leaf that got children": (
        {**OLD, "a2x": "a2", "a2y": "a2"},
        "      - {add: [a2x, a2y]}\n",
        ['code a2: cannot be chosen any more; add the step `{split: "a2", to: ["a2x", "a2y"]}`'],
    ),
    "a target that is a category": (
        {"a": "", "a1": "a", "b": "", "b1": "b", "b2": "b"},
        "      - {retire: a2, to: b}\n",
        ["code a2: b has codes below it and cannot be chosen"],
    ),
    "codes that are not there": (
        OLD,
        "      - {rename: z, to: y}\n",
        ["rename z: 1.0.0 has no code z", "rename z: 2.0.0 has no code y"],
    ),
    "two fates": (
        {**OLD, "c": "", "d": ""},
        "      - {split: a1, to: [c, d]}\n      - {retire: a1}\n",
        ["retire a1: a1 is spoken of twice, first on line 20"],
    ),
    "a rename onto another": (
        {code: parent for code, parent in OLD.items() if code != "a2"},
        "      - {rename: a2, to: a1}\n",
        ["rename a2: a1 leads to a1 as well; say merge"],
    ),
    "an addition that is old": (OLD, "      - {add: [a1]}\n", ["add a1: 1.0.0 has a1 already"]),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_or_unsaid_is_a_problem_that_says_what_to_write(case: str) -> None:
    codes, steps, expected = WRONG[case]
    old = taxonomy_of_text(file_text(OLD, "1.0.0"), "own")
    ordered = dict(sorted(codes.items(), key=lambda each: (each[1] != "", each[0])))
    new = taxonomy_of_text(file_text(ordered, "2.0.0", steps), "own")
    problems = revision_problems(old, new, new.revisions[0])
    assert [problem.text for problem in problems] == expected


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        ("      - {rename: a1}\n", "changes: rename a1: `to` names one code"),
        ("      - {split: a1, to: a2}\n", "changes: split a1: `to` is a list of two codes or more"),
        ("      - {retire: a1, to: [a2, b1]}\n", "`to` names one code; several are a split"),
        ("      - {move: a1, to: b}\n", "changes: move a1: it has no `to`, but `under`"),
        ("      - {add: [c], under: a}\n", "changes: add c: only move has `under`"),
        ("      - {rename: a1, to: ~new}\n", "changes: rename a1: '~new' is no code"),
        ("      - {rename: a1, move: a2}\n", "changes: every step is one of rename, move"),
        ("      - {to: a1}\n", "changes: every step is one of rename, move"),
        ("      - {rename: 1.0, to: a1}\n", "changes: rename must be text: put 1.0 in quotes"),
        ("      - {rename: a1, into: a2}\n", "changes: unknown key 'into'"),
    ],
)
def test_a_step_that_cannot_be_read_is_named_with_its_line(steps: str, complaint: str) -> None:
    with pytest.raises(StudyError) as refused:
        taxonomy_of_text(file_text(OLD, "2.0.0", steps), "own")
    assert f"own.yaml:18: {complaint}" in refused.value.message or (
        "own.yaml:18:" in refused.value.message and complaint in refused.value.message
    )


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
def test_a_version_must_be_higher_than_the_one_it_comes_from(version: str) -> None:
    with pytest.raises(StudyError, match=f"from 1.0.0: version {version} must be higher"):
        taxonomy_of_text(file_text(OLD, version, "      - {add: [a]}\n"), "own")


def test_versions_are_numbers() -> None:
    assert sorted(["10.0.0", "9.0.0", "1.2.10", "1.2.9"], key=version_key) == [
        "1.2.9", "1.2.10", "9.0.0", "10.0.0",
    ]  # fmt: skip


def test_the_difference_names_everything_that_is_another_thing() -> None:
    old = taxonomy_of_text(file_text(OLD, "1.0.0"), "own")
    text = file_text({"a": "", "a1": "", "b": "", "b1": "b", "b2": "b"}, "2.0.0")
    new = taxonomy_of_text(text.replace("Name of b1, definition: d", "Bee, definition: e"), "own")
    assert [(each.kind, each.code, each.before, each.after) for each in differences(old, new)] == [
        ("moved", "a1", "a", ""),
        ("renamed", "b1", "Name of b1", "Bee"),
        ("definition", "b1", "d", "e"),
        ("removed", "a2", "Name of a2", ""),
    ]


def test_proposed_lines_explain_everything_and_can_be_read() -> None:
    old = taxonomy_of_text(file_text(OLD, "1.0.0"), "own")
    codes = {"aa": "", "a1": "aa", "a2x": "aa", "a2y": "aa", "b": "", "1.10": ""}
    text = file_text(codes, "2.0.0").replace("Name of aa", "Name of a")
    changes = block(proposed(old, taxonomy_of_text(text, "own")))
    assert changes.splitlines()[2:] == [
        "    steps:",
        '      - {rename: "a", to: "aa"}',
        '      - {split: "a2", to: ["a2x", "a2y"]}',
        '      - {merge: ["b1", "b2"], to: "b"}',
        '      - {add: ["1.10"]}',
    ]
    written = taxonomy_of_text(text + changes, "own")
    assert revision_problems(old, written, written.revisions[0]) == []


# A study can change a shipped taxonomy, if it says so.


def own_version(folder: Path, version: str, changes: str) -> Path:
    shipped = TaxonomyLibrary().taxonomy("dl-bugs")
    text = shipped.path.read_text(encoding="utf-8")
    text = text.replace(f'version: "{shipped.version}"', f'version: "{version}"')
    path = folder / "taxonomies" / "dl-bugs.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + changes, encoding="utf-8")
    return path


def test_a_declared_later_version_stands_in_for_the_shipped_one(tmp_path: Path) -> None:
    path = own_version(tmp_path, "1.1.0", 'changes:\n  - {from: "1.0.0", steps: []}\n')
    library = TaxonomyLibrary(tmp_path)
    assert library.taxonomy("dl-bugs").path == path
    assert [each.version for each in library.versions("dl-bugs")] == ["1.0.0", "1.1.0"]
    # The crosswalk is for the shipped version, and still holds for that one.
    assert library.crosswalk_named("humbatova--dl-bugs").target_version == "1.0.0"
    back = library.crosswalk("dl-bugs", "humbatova")
    assert back is not None
    assert len(back.pairs) == 6


@pytest.mark.parametrize(
    ("version", "changes", "complaint"),
    [
        (
            "1.1.0",
            "",
            "dl-bugs 1.1.0 has no `changes`",
        ),  # says nothing of the shipped one: an accident
        # Two texts of one version.
        ("1.0.0", 'changes:\n  - {from: "0.9.0", steps: []}\n', "dl-bugs 1.0.0 is there already"),
    ],
)
def test_an_undeclared_one_does_not(
    tmp_path: Path, version: str, changes: str, complaint: str
) -> None:
    own_version(tmp_path, version, changes)
    with pytest.raises(StudyError, match=complaint) as refused:
        TaxonomyLibrary(tmp_path).taxonomy("dl-bugs")
    assert "say in `changes`" in refused.value.hint
    assert TaxonomyLibrary(tmp_path).taxonomy("hp-defects")  # the others can be used meanwhile


# Any trees, any changes.


many = settings(max_examples=150)


@many
@given(revised())
def test_every_code_is_carried_ended_or_waits_and_what_is_carried_leads_back(step: Step) -> None:
    assert revision_problems(step.old, step.new, step.revision) == []
    said = {code: change for change in step.revision.changes for code in change.old}
    for node in step.old.leaves:
        code, change = node.code, said.get(node.code)
        carried = decided(followed(code, [step.forward]))
        if change is None:
            assert carried == {code}
        elif change.kind == "split" or not change.new:
            assert carried is None
        elif change.new == (ENDED,):
            assert carried == frozenset()
        else:
            assert carried == {*change.new}
        for target in followed(code, [step.forward]) or ():
            if target and not target.startswith("~"):
                back = followed(target, [step.backward])
                assert back is not None
                assert code in back
                if change is None or change.kind in {"rename", "split"}:
                    others = [each for each, led in step.forward.items() if target in (led or ())]
                    assert (decided(back) == {code}) == (others == [code])


@many
@given(st.data())
def test_steps_compose_and_nothing_is_decided_that_one_step_leaves_open(
    data: st.DataObject,
) -> None:
    first = data.draw(revised())
    second = data.draw(revised(first.new, 2))
    steps = [second, first]
    way = way_between(steps, "1.0.0", "3.0.0")
    assert way == [(first, True), (second, True)]
    assert way_between(steps, "3.0.0", "1.0.0") == [(second, False), (first, False)]
    for node in first.old.leaves:
        after_one = followed(node.code, [first.forward])
        both = followed(node.code, [first.forward, second.forward])
        if after_one is None:
            assert both is None
            continue
        singly = [followed(code, [second.forward]) if code and not code.startswith("~")
                  else frozenset((code,)) for code in after_one]  # fmt: skip
        if None in singly:
            assert both is None
        else:
            assert both == frozenset().union(*(each for each in singly if each is not None))


def test_a_split_whose_parts_are_merged_later_is_decided() -> None:
    one, two, three = (tree(codes, f"{number}.0.0") for number, codes in enumerate(
        ({"a": "", "b": ""}, {"x": "", "y": "", "b": ""}, {"z": "", "b": ""}), 1))  # fmt: skip
    first = Step(one, two, Revision("1.0.0", "2.0.0", (Change("split", ("a",), ("x", "y")),)))
    second = Step(two, three, Revision("2.0.0", "3.0.0", (Change("merge", ("x", "y"), ("z",)),)))
    assert decided(followed("a", [first.forward])) is None
    assert decided(followed("a", [first.forward, second.forward])) == {"z"}
    assert decided(followed("z", [second.backward])) is None
    assert decided(followed("z", [second.backward, first.backward])) == {"a"}


@many
@given(revised())
def test_what_is_proposed_for_any_two_trees_explains_them(step: Step) -> None:
    revision = proposed(step.old, step.new)
    assert revision_problems(step.old, step.new, revision) == []


def test_a_file_of_the_study_is_loaded_with_its_changes(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(file_text(OLD, "2.0.0", "      - {retire: a1, to: []}\n"), encoding="utf-8")
    (revision,) = load_taxonomy(path).revisions
    assert (revision.from_version, revision.to_version, revision.line) == ("1.0.0", "2.0.0", 16)
    assert revision.changes == (Change("retire", ("a1",), (ENDED,), "", 18),)

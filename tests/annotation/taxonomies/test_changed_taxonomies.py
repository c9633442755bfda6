"""Taxonomies that change after labels were given: carried, queued, given again, counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling import SMALL, Labelled

from annotation.ratings import Ratings, ratings_of
from annotation.rounds import find_round
from annotation.taxonomies.final_labels import final_labels_under
from annotation.taxonomies.migrating import migrate, plan
from annotation.taxonomies.outcomes import OUTCOMES, current_answers, follow
from annotation.taxonomies.relabelling import relabel_queue
from annotation.taxonomies.versions import Versions, carrier
from data import provenance
from data.errors import StudyError
from data.store import Study

Command = Callable[..., CompletedProcess[str]]

SPLIT = {"a": "", "a1": "a", "a2x": "a", "a2y": "a", "b": "", "b1": "b", "b2": "b"}
SPLIT_STEPS = ("{split: a2, to: [a2x, a2y], reason: two things}",)
MERGED = {"a": "", "a1": "a", "a2": "a", "b": ""}
MERGE_STEPS = ("{merge: [b1, b2], to: b}",)

# Four items, two raters; a2 was given three times.
SAID: dict[str, dict[str, str | Sequence[str]]] = {
    "github:o/r#1": {"ann": "a1", "bob": "a1"},
    "github:o/r#2": {"ann": "a2", "bob": "a1"},
    "github:o/r#3": {"ann": "a2", "bob": "a2"},
    "github:o/r#4": {"ann": "b1", "bob": "b2"},
    "github:o/r#5": {"ann": "~unclear", "bob": "b2"},
}


def change(
    study: Labelled,
    codes: Mapping[str, str],
    steps: Sequence[str],
    version: str = "2.0.0",
    start: str = "1.0.0",
    **fields: str,
) -> None:
    """Writes the file of a later version, with what became of the codes."""
    study.taxonomy(codes, version=version, **fields)
    listed = "".join(f"      - {step}\n" for step in steps) or " []"
    gap = "\n" if steps else ""
    path = study.study.directory / "taxonomies" / "tree.yaml"
    text = f'changes:\n  - from: "{start}"\n    steps:{gap}{listed}\n'
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.fixture
def labelled(tmp_path: Path) -> Labelled:
    study = Labelled.at(tmp_path)
    study.taxonomy()
    study.round("pilot", SAID)
    return study


def migrated(study: Study, version: str | None = None) -> None:
    migrate(study, "tree", version, provenance.begin("by hand", {}))


def seen(study: Study, version: str, round_name: str = "pilot") -> Ratings:
    with study.reading() as reader:
        carry = carrier(reader, study.directory, "tree", version)
        return ratings_of(reader, find_round(reader, round_name), version=version, carry=carry)


def stored(study: Study, sql: str) -> list[tuple[object, ...]]:
    with study.reading() as reader:
        return [tuple(row.values()) for row in reader.rows(sql)]


def waiting(study: Study) -> list[tuple[str, str, str, tuple[str, ...]]]:
    with study.reading() as reader:
        queue = relabel_queue(reader, find_round(reader, "pilot"))
    return [(each.said.item_id, each.said.rater, each.code, each.choices) for each in queue]


def test_a_split_sends_exactly_its_labels_to_be_given_again(labelled: Labelled) -> None:
    study = labelled.study
    before = stored(study, "SELECT * FROM store.answer ORDER BY answer_id")
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(study)
    assert waiting(study) == [
        ("github:o/r#2", "ann", "a2", ("a2x", "a2y")),
        ("github:o/r#3", "ann", "a2", ("a2x", "a2y")),
        ("github:o/r#3", "bob", "a2", ("a2x", "a2y")),
    ]
    assert len(stored(study, "SELECT * FROM store.relabel")) == 3
    assert stored(
        study, "SELECT kind, old_codes, new_codes, reason FROM store.taxonomy_change"
    ) == [("split", ["a2"], ["a2x", "a2y"], "two things")]
    ratings = seen(study, "2.0.0")
    assert ratings.undecided == {
        ("github:o/r#2", "ann"), ("github:o/r#3", "ann"), ("github:o/r#3", "bob"),
    }  # fmt: skip
    assert len(ratings.given) == 7
    # Nothing was rewritten, and the past can be seen as it was.
    assert stored(study, "SELECT * FROM store.answer ORDER BY answer_id") == before
    assert seen(study, "1.0.0").given["github:o/r#3", "bob"] == {"a2"}
    # Given again, they are there in the new version, and lead back to the old one.
    labelled.say("pilot", {"github:o/r#3": {"ann": "a2x", "bob": "a2y"}}, version="2.0.0")
    assert waiting(study) == [("github:o/r#2", "ann", "a2", ("a2x", "a2y"))]
    assert seen(study, "2.0.0").given["github:o/r#3", "bob"] == {"a2y"}
    assert seen(study, "1.0.0").given["github:o/r#3", "bob"] == {"a2"}


def test_a_merge_carries_all(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, MERGED, MERGE_STEPS)
    migrated(study)
    assert waiting(study) == []
    ratings = seen(study, "2.0.0")
    assert not ratings.undecided
    assert len(ratings.given) == 10
    assert [ratings.given["github:o/r#4", rater] for rater in ("ann", "bob")] == [{"b"}, {"b"}]
    # A label of the merged code that was never given in the old version is open there.
    labelled.say("pilot", {"github:o/r#5": {"cem": "b"}}, version="2.0.0")
    assert seen(study, "1.0.0").undecided == {("github:o/r#5", "cem")}


def test_renamed_moved_and_retired_codes_are_carried(labelled: Labelled) -> None:
    study = labelled.study
    codes = {"a": "", "a1": "a", "b": "", "first": "b"}
    steps = ("{retire: a2, to: a1}", "{rename: b1, to: first}", "{retire: b2, to: ~unclear}")
    change(labelled, codes, steps)
    migrated(study)
    ratings = seen(study, "2.0.0")
    assert not ratings.undecided
    assert ratings.given["github:o/r#3", "ann"] == {"a1"}
    assert ratings.given["github:o/r#4", "ann"] == {"first"}
    assert ratings.given["github:o/r#4", "bob"] == {"~unclear"}


def test_migrating_again_changes_nothing(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, SPLIT, SPLIT_STEPS)
    tables = ("taxonomy_text", "taxonomy_change", "relabel", "answer", "run")
    migrated(study)
    once = [stored(study, f"SELECT * FROM store.{table} ORDER BY ALL") for table in tables]
    migrated(study)
    assert [stored(study, f"SELECT * FROM store.{table} ORDER BY ALL") for table in tables] == once
    # What a rater says in the old version meanwhile waits as well.
    labelled.say("pilot", {"github:o/r#1": {"bob": "a2"}})
    migrated(study)
    assert len(stored(study, "SELECT * FROM store.relabel")) == 4
    assert ("github:o/r#1", "bob", "a2", ("a2x", "a2y")) in waiting(study)


def test_versions_compose(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(study)
    labelled.say("pilot", {"github:o/r#2": {"ann": "a2y"}}, version="2.0.0")
    third = {"a": "", "one": "a", "a2x": "a", "a2y": "a", "b": ""}
    change(labelled, third, (*MERGE_STEPS, "{rename: a1, to: one}"), "3.0.0", "2.0.0")
    migrated(study)
    ratings = seen(study, "3.0.0")
    assert ratings.given["github:o/r#1", "ann"] == {"one"}
    assert ratings.given["github:o/r#2", "ann"] == {"a2y"}
    assert ratings.given["github:o/r#4", "bob"] == {"b"}
    assert ratings.undecided == {("github:o/r#3", "ann"), ("github:o/r#3", "bob")}
    assert [each[:2] for each in waiting(study)] == sorted(ratings.undecided)
    labelled.say("pilot", {"github:o/r#3": {"ann": "a2x"}}, version="3.0.0")
    assert seen(study, "1.0.0").given["github:o/r#3", "ann"] == {"a2"}
    assert seen(study, "2.0.0").given["github:o/r#3", "ann"] == {"a2x"}


def test_parts_that_are_merged_again_decide_what_waited(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(study)
    together = {"a": "", "a1": "a", "c": "a", "b": "", "b1": "b", "b2": "b"}
    change(labelled, together, ("{merge: [a2x, a2y], to: c}",), "3.0.0", "2.0.0")
    migrated(study)
    assert waiting(study) == []
    assert seen(study, "3.0.0").given["github:o/r#3", "ann"] == {"c"}


def test_of_several_codes_each_is_followed_by_itself(tmp_path: Path, command: Command) -> None:
    study = Labelled.at(tmp_path)
    study.taxonomy(choice="multiple")
    study.round("pilot", {"github:o/r#1": {"ann": ["a2", "b1"]}, "github:o/r#2": {"ann": ["b1"]}})
    steps = (*SPLIT_STEPS, "{rename: b1, to: first}")
    codes = {**SPLIT, "first": "b"}
    del codes["b1"]
    change(study, codes, steps, choice="multiple")
    migrated(study.study)
    counts = json.loads(command("annotation", "taxonomy", "migrate", "tree", "--json").stdout)
    assert counts["rounds"] == [
        {"round": "pilot", "labels": "raters", "carried": 2, "waiting": 1, "ended": 0,
         "answered": 0}
    ]  # fmt: skip
    sheet = tmp_path / "again.csv"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("a2y,\n", "a2y,a2x; a2y\n"))
    assert command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet).returncode == 0
    assert seen(study.study, "2.0.0").given["github:o/r#1", "ann"] == {"a2x", "a2y", "first"}


def test_final_labels_are_carried_and_what_is_open_is_listed(labelled: Labelled) -> None:
    study = labelled.study
    with study.writing() as writer:
        for number, code in enumerate(("a1", "a1", "a2", "b1"), 1):
            item = f"github:o/r#{number}"
            writer.execute(
                "INSERT INTO store.settlement VALUES (?, 'pilot', ?, ?, 'tree', '1.0.0', ?, "
                "'majority', 'r', NULL, NULL, NULL, NULL, 'x')",
                [str(number), item, item, [code]],
            )
    change(labelled, {**SPLIT, "b1": "a"}, (*SPLIT_STEPS, "{move: b1, under: a}"))
    with study.reading() as reader:
        of = find_round(reader, "pilot")
        final = final_labels_under(reader, study.directory, of, "2.0.0")
        planned = plan(reader, study.directory, "tree", None)
    assert final.codes == {
        "github:o/r#1": {"a1"}, "github:o/r#2": {"a1"}, "github:o/r#4": {"b1"},
    }  # fmt: skip
    assert final.undecided == {"github:o/r#3": ("a2",)}
    assert dict(planned.counts["pilot", "final"]) == {"carried": 3, "waiting": 1}
    assert [said.item_id for said in planned.undecided_items] == ["github:o/r#3"]


# What is refused.


def test_a_version_without_a_word_of_how_it_came_about_is_refused(labelled: Labelled) -> None:
    labelled.taxonomy(SPLIT, version="2.0.0")
    with pytest.raises(StudyError, match="nothing says how tree 1.0.0 became 2.0.0") as refused:
        migrated(labelled.study)
    assert refused.value.hint.endswith("annotation taxonomy diff tree 1.0.0 2.0.0")
    with pytest.raises(StudyError, match="nothing says how tree 1.0.0 became 2.0.0"):
        seen(labelled.study, "2.0.0")
    with pytest.raises(StudyError, match="knows no version 7.0.0 of tree"):
        seen(labelled.study, "7.0.0")
    assert len(seen(labelled.study, "1.0.0").given) == 10  # the past does not need it


def test_changes_that_leave_something_unsaid_change_nothing(labelled: Labelled) -> None:
    change(labelled, SPLIT, ("{retire: a2}",))
    with pytest.raises(StudyError, match=r"tree.yaml:\d+: new: a2x, a2y; add the step"):
        migrated(labelled.study)
    assert stored(labelled.study, "SELECT * FROM store.taxonomy_change") == []
    assert stored(labelled.study, "SELECT version FROM store.taxonomy_text") == [("1.0.0",)]


def test_what_was_migrated_by_cannot_be_rewritten_or_undone(labelled: Labelled) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    change(labelled, SPLIT, ("{retire: a2}", "{add: [a2x, a2y]}"))
    with pytest.raises(StudyError, match="not the changes from 1.0.0 that the study was migrated"):
        migrated(labelled.study)
    change(labelled, SPLIT, SPLIT_STEPS)
    with pytest.raises(StudyError, match="has gone on to tree 2.0.0 already"):
        migrated(labelled.study, "1.0.0")


def test_validate_holds_the_changes_against_the_labels_version(
    labelled: Labelled, command: Command
) -> None:
    change(labelled, SPLIT, ("{split: a2, to: [a2x, b1]}",))
    ended = command("annotation", "taxonomy", "validate", "taxonomies/tree.yaml")
    assert ended.returncode == 1
    assert 'new: a2y; add the step `{add: ["a2y"]}`' in ended.stderr
    change(labelled, SPLIT, SPLIT_STEPS)
    assert command("annotation", "taxonomy", "validate").returncode == 0


# Commands.


def test_diff_proposes_lines_that_migrate_takes(labelled: Labelled, command: Command) -> None:
    labelled.taxonomy(SPLIT, version="2.0.0")
    shown = json.loads(command("annotation", "taxonomy", "diff", "tree", "--json").stdout)
    assert not shown["declared"]
    assert shown["changes"][0] == {
        "kind": "split", "old": ["a2"], "new": ["a2x", "a2y"], "reason": "",
        "outcome": "to be given again",
        "touches": [{"round": "pilot", "labels": "raters", "count": 3}],
    }  # fmt: skip
    path = labelled.study.directory / "taxonomies" / "tree.yaml"
    path.write_text(f"{path.read_text(encoding='utf-8')}{shown['block']}\n", encoding="utf-8")
    again = command("annotation", "taxonomy", "diff", "tree", "1.0.0", "2.0.0")
    assert (again.returncode, "Changes that the file declares" in again.stdout) == (0, True)
    dry = command("annotation", "taxonomy", "migrate", "tree", "--dry-run")
    assert dry.returncode == 0
    assert waiting(labelled.study) == []
    assert command("annotation", "taxonomy", "migrate", "tree").returncode == 0
    assert len(waiting(labelled.study)) == 3


def test_diff_notices_a_file_that_was_changed_but_not_raised(
    labelled: Labelled, command: Command
) -> None:
    labelled.taxonomy(SPLIT)
    ended = command("annotation", "taxonomy", "diff", "tree")
    assert ended.returncode == 1
    assert "Raise its version, then ask again." in ended.stderr


def test_diff_of_a_first_version_says_that_there_is_none_before(command: Command) -> None:
    ended = command("annotation", "taxonomy", "diff", "dl-bugs")
    assert ended.returncode == 1
    assert "there is no earlier version of dl-bugs than 1.0.0" in ended.stderr


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_labels_are_given_again_through_a_sheet(
    labelled: Labelled, command: Command, tmp_path: Path, suffix: str
) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    sheet = tmp_path / f"ann.{suffix}"
    ended = command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet, "--rater", "ann")
    assert ended.returncode == 0
    assert command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet).returncode == 1
    rows = filled(sheet, {"github:o/r#3": "Name of a2x"})
    assert [row["item"] for row in rows] == ["github:o/r#2", "github:o/r#3"]
    assert {row["choices"] for row in rows} == {"a2x; a2y"}
    for left in (2, 2):  # the same sheet can be read again
        ended = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet, "--json")
        assert json.loads(ended.stdout)["left"] == left
    assert seen(labelled.study, "2.0.0").given["github:o/r#3", "ann"] == {"a2x"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nothing", "'nothing' is no code of tree 2.0.0"),
        ("a1", "a1 is not among the choices for a2: a2x, a2y"),
        ("a2x; a2y", "a2x; a2y: one code is wanted"),
    ],
)
def test_a_wrong_code_in_the_sheet_is_refused_with_its_row(
    labelled: Labelled, command: Command, tmp_path: Path, text: str, complaint: str
) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    sheet = tmp_path / "again.csv"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    filled(sheet, {"github:o/r#2": "a2x", "github:o/r#3": text})
    ended = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
    assert ended.returncode == 1
    assert f"{sheet}:3: {complaint}\n{sheet}:4: {complaint}\n" in ended.stderr
    assert len(waiting(labelled.study)) == 3


def filled(sheet: Path, new: Mapping[str, str]) -> list[dict[str, str]]:
    """Fills in `new` of items, as a person does; gives the rows."""
    import csv

    import openpyxl

    if sheet.suffix == ".xlsx":
        book = openpyxl.load_workbook(sheet)
        page = book.worksheets[0]
        header, *body = ([str(cell.value or "") for cell in row] for row in page.iter_rows())
    else:
        with sheet.open(encoding="utf-8", newline="") as file:
            header, *body = csv.reader(file)
    rows = [dict(zip(header, row, strict=True)) for row in body]
    for row in rows:
        row["new"] = new.get(row["item"], "")
    if sheet.suffix == ".xlsx":
        for number, row in enumerate(rows, 2):
            page.cell(number, len(header)).value = row["new"]
        book.save(sheet)
    else:
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            writer.writerows(rows)
    return rows


def test_agreement_is_printed_under_both_versions(labelled: Labelled, command: Command) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    for version, items in (("1.0.0", 5), ("2.0.0", 3)):
        ended = command("annotation", "agreement", "pilot", "--version", version)
        assert ended.returncode == 0, ended.stderr
        assert f"{items}" in ended.stdout


# A study that changes a shipped taxonomy keeps its crosswalks.


def test_labels_of_a_changed_shipped_taxonomy_go_through_its_crosswalk(
    tmp_path: Path, command: Command
) -> None:
    study = Labelled.at(tmp_path)
    items = {f"github:o/r#{number}": {"ann": code} for number, code in
             enumerate(("B1", "B1", "A1", "~unclear"), 1)}  # fmt: skip
    study.round("hp", items, taxonomy="hp-defects")
    crossed = command("annotation", "taxonomy", "crosswalk", "hp", "--to", "humbatova", "--json")
    first = json.loads(crossed.stdout)
    assert (first["labels"], first["mapped"], first["unmapped"]) == (4, 2, 2)
    assert [each["code"] for each in first["without_counterpart"]] == ["A1", "~unclear"]
    assert {kind for each in first["codes"] for kind in each["relations"]} == {"related"}
    with study.study.reading() as reader:
        shipped = reader.value("SELECT text FROM store.taxonomy_text")
    text = shipped.replace('version: "1.0.0"', 'version: "2.0.0"').replace("code: B1", "code: B9")
    own = tmp_path / "taxonomies" / "hp-defects.yaml"
    own.parent.mkdir()
    changes = 'changes:\n  - from: "1.0.0"\n    steps:\n      - {rename: B1, to: B9}\n'
    own.write_text(f"{text}\n{changes}", encoding="utf-8")
    assert command("annotation", "taxonomy", "migrate", "hp-defects").returncode == 0
    study.say("hp", {"github:o/r#1": {"bob": "B9"}}, version="2.0.0")
    crossed = command("annotation", "taxonomy", "crosswalk", "hp", "--to", "humbatova", "--json")
    second = json.loads(crossed.stdout)
    assert (second["labels"], second["mapped"]) == (5, 3)


# Nothing is lost, whatever was said and whatever changes.

CODES = st.sampled_from(("a1", "a2", "b1", "b2", "~unclear"))
SAYINGS = st.dictionaries(
    st.tuples(st.sampled_from("12345"), st.sampled_from(("ann", "bob"))),
    st.sets(CODES, min_size=1, max_size=3),
    min_size=1,
)
STEPS = {
    "split": ({"a2x": "a", "a2y": "a"}, ("a2",), "{split: a2, to: [a2x, a2y]}"),
    "merge": ({"b3": "b"}, ("b1", "b2"), "{merge: [b1, b2], to: b3}"),
    "wait": ({}, ("a1",), "{retire: a1}"),
    "end": ({}, ("a1",), "{retire: a1, to: []}"),
    "rename": ({"a0": "a"}, ("a1",), "{rename: a1, to: a0}"),
}


@settings(derandomize=True, database=None, deadline=None, max_examples=12)
@given(
    SAYINGS,
    st.sets(st.sampled_from(("split", "merge"))),
    st.sampled_from(("wait", "end", "rename")),
)
def test_every_label_has_exactly_one_outcome(
    tmp_path_factory: pytest.TempPathFactory,
    said: dict[tuple[str, str], set[str]],
    kinds: set[str],
    more: str,
) -> None:
    study = Labelled.at(tmp_path_factory.mktemp("study"))
    study.taxonomy(choice="multiple")
    sheet: dict[str, dict[str, str | Sequence[str]]] = {}
    for (number, rater), codes in sorted(said.items()):
        sheet.setdefault(f"github:o/r#{number}", {})[rater] = sorted(codes)
    study.round("pilot", sheet)
    codes = dict(SMALL)
    for kind in sorted({*kinds, more}):
        added, gone, _step = STEPS[kind]
        codes = {code: parent for code, parent in codes.items() if code not in gone} | added
    if "a" not in codes.values():
        codes["a9"] = "a"
    steps = [STEPS[kind][2] for kind in sorted({*kinds, more})]
    steps += ["{add: [a9]}"] if "a9" in codes else []
    change(study, codes, steps, choice="multiple")
    migrated(study.study)
    with study.study.reading() as reader:
        of = find_round(reader, "pilot")
        versions = Versions.known(reader, study.study.directory, "tree")
        answers = current_answers(reader, "tree")
        outcomes = [*follow(versions, answers, "2.0.0")]
        queue = relabel_queue(reader, of)
    assert sorted((each.said.item_id, each.said.rater, each.code) for each in outcomes) == sorted(
        (f"github:o/r#{number}", rater, code) for (number, rater), many in said.items() for code in many
    )  # fmt: skip
    assert {each.outcome for each in outcomes} <= {*OUTCOMES}
    open_ones = {each.said.answer_id for each in outcomes if each.outcome == "waiting"}
    assert {each.said.answer_id for each in queue} == open_ones
    places = {(each.item_id, each.rater) for each in answers if each.answer_id in open_ones}
    assert seen(study.study, "2.0.0").undecided == places
    waits = {"a2"} if "split" in kinds else set()
    waits |= {"a1"} if more == "wait" else set()
    assert {each.code for each in outcomes if each.outcome == "waiting"} <= waits
    assert {
        each.code for each in outcomes if each.code in waits and each.outcome != "waiting"
    } == set()

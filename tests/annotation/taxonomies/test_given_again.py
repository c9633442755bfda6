"""Labels that end, are given again or settled again after a taxonomy has changed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from changing import SPLIT, SPLIT_STEPS, change, migrated, seen, stored, waiting
from labelling import Labelled
from openpyxl import load_workbook

from faultatlas.annotation.settling.settlements import Decision, settle
from faultatlas.annotation.taxonomies.validation import validate
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

Command = Callable[..., CompletedProcess[str]]

ONE, TWO, THREE = (f"github:o/r#{number}" for number in (1, 2, 3))
ENDING = {"a": "", "a1": "a", "a2y": "a", "b": "", "b1": "b", "b2": "b"}


def ended(labelled: Labelled) -> None:
    """a2 is split, and later one of its parts ends."""
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    labelled.say("pilot", {TWO: {"ann": "a2x"}}, version="2.0.0")
    change(labelled, ENDING, ("{retire: a2x, to: []}",), "3.0.0", "2.0.0")
    migrated(labelled.study)


def fill(sheet: Path, new: Callable[[dict[str, str]], str]) -> None:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["new"] = new(row)
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_label_that_ended_does_not_bring_an_older_one_back(labelled: Labelled) -> None:
    ended(labelled)
    ratings = seen(labelled.study, "3.0.0")
    assert (TWO, "ann") not in ratings.given
    assert ratings.ended == {(TWO, "ann")}
    assert [each[:2] for each in waiting(labelled.study)] == [(THREE, "ann"), (THREE, "bob")]
    # Withdrawn in one version, it is not there in later ones, but it is in those before.
    labelled.say("pilot", {ONE: {"ann": "a1"}}, version="2.0.0")
    labelled.say("pilot", {ONE: {"ann": ()}}, version="2.0.0")
    assert (ONE, "ann") not in seen(labelled.study, "3.0.0").given
    assert seen(labelled.study, "1.0.0").given[ONE, "ann"] == {"a1"}


def test_that_a_label_ended_can_be_said_in_the_sheet(
    labelled: Labelled, command: Command, tmp_path: Path
) -> None:
    ended(labelled)
    with labelled.study.writing() as writer:
        writer.execute("UPDATE store.answer SET comment = 'why', confidence = 2")
    sheet = tmp_path / "again.csv"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    assert "a2y; -," in sheet.read_text(encoding="utf-8")
    fill(sheet, lambda row: "-" if row["rater"] == "ann" else "a2y")
    done = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
    assert (done.returncode, waiting(labelled.study)) == (0, []), done.stderr
    ratings = seen(labelled.study, "3.0.0")
    assert (THREE, "ann") in ratings.ended
    assert ratings.given[THREE, "bob"] == {"a2y"}
    # In the version between it still waits; what was noted stays with the answer.
    assert (THREE, "ann") in seen(labelled.study, "2.0.0").undecided
    assert stored(
        labelled.study,
        "SELECT DISTINCT comment, confidence, labelled_at IS NULL FROM store.answer "
        "WHERE taxonomy_version = '3.0.0'",
    ) == [("why", 2.0, False)]
    again = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
    assert "0 answers stored, 2 rows were answered before, 0 labels are left" in again.stderr


@pytest.mark.parametrize(
    ("column", "text", "complaint"),
    [
        ("answer", "Lnothing", "no such label to give again"),
        ("rater", "bob", "the label is of rater ann, not of bob"),
        ("item", THREE, f"the label is of item {TWO}, not of {THREE}"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    labelled: Labelled, command: Command, tmp_path: Path, column: str, text: str, complaint: str
) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    sheet = tmp_path / "again.csv"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)

    def new(row: dict[str, str]) -> str:
        if row["item"] == TWO:
            row[column] = text
        return "a2x"

    fill(sheet, new)
    done = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
    assert done.returncode == 1
    assert f"{sheet}:2: " in done.stderr
    assert complaint in done.stderr
    assert len(waiting(labelled.study)) == 3
    done = command("annotation", "taxonomy", "relabel", "pilot", "--rater", "nobody")
    assert "'nobody' is no rater of round 'pilot'" in done.stderr


def test_a_partly_filled_answer_waits_and_the_others_are_taken(
    tmp_path: Path, command: Command
) -> None:
    study = Labelled.at(tmp_path)
    study.taxonomy(choice="multiple")
    study.round("pilot", {ONE: {"ann": ["a2", "b1"]}, TWO: {"ann": ["a2"]}})
    steps = (*SPLIT_STEPS, "{split: b1, to: [b1x, b1y]}")
    codes = {**SPLIT, "b1x": "b", "b1y": "b"}
    del codes["b1"]
    change(study, codes, steps, choice="multiple")
    migrated(study.study)
    sheet = tmp_path / "again.csv"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    fill(sheet, lambda row: "a2x" if row["code"] == "a2" else "")
    done = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
    assert done.returncode == 0, done.stderr
    assert [each[:3] for each in waiting(study.study)] == [(ONE, "ann", "a2"), (ONE, "ann", "b1")]
    for new, complaint in (("~unclear; b1x", "stands alone"), ("~unclear", "is a2x as well")):
        fill(sheet, lambda row, new=new: "a2x" if row["code"] == "a2" else new)  # type: ignore[misc]
        done = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
        assert (done.returncode, complaint in done.stderr) == (1, True)


def test_a_number_that_may_be_two_codes_is_refused(
    labelled: Labelled, command: Command, tmp_path: Path
) -> None:
    """What is typed as 1.10 is 1.1 in a workbook."""
    codes = {"a": "", "a1": "a", "1.1": "a", "1.10": "a", "b": "", "b1": "b", "b2": "b"}
    change(labelled, codes, ("{split: a2, to: ['1.1', '1.10']}",))
    migrated(labelled.study)
    sheet = tmp_path / "again.xlsx"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    book = load_workbook(sheet)
    book.worksheets[0].cell(2, 9, 1.1)
    book.save(sheet)
    done = command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet)
    assert done.returncode == 1
    assert "again.xlsx:2: the cell holds the number 1.1" in " ".join(done.stderr.split())
    assert len(waiting(labelled.study)) == 3


# Final labels.


def finals(labelled: Labelled, *decisions: Decision) -> None:
    run = provenance.begin("by hand", {})
    with labelled.study.writing() as writer:
        settle(writer, "pilot", decisions, run)
        provenance.record(writer, run, "ok")


def by_hand(item: str, code: str, version: str = "1.0.0") -> Decision:
    return Decision(item, (code,), "imported", "as the sheet says", version)


def test_final_labels_that_a_split_leaves_open_can_be_settled_again(
    labelled: Labelled, command: Command, tmp_path: Path
) -> None:
    finals(labelled, by_hand(ONE, "a1"), by_hand(TWO, "a2"), by_hand(THREE, "a2"))
    change(labelled, SPLIT, (*SPLIT_STEPS, "{rename: a1, to: a1}"))
    path = labelled.study.directory / "taxonomies" / "tree.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("Name of a1", "First"))
    done = command("annotation", "taxonomy", "migrate", "tree")
    assert "annotation adjudicate pilot --version 2.0.0" in done.stderr
    labelled.say("pilot", {TWO: {"ann": ()}}, version="1.0.0")  # only bob, who said a1
    labelled.say("pilot", {THREE: {"ann": "a2x", "bob": "a2x"}}, version="2.0.0")
    settled = command("annotation", "adjudicate", "pilot", "--settle", "--version", "2.0.0")
    assert "differ from the labels" not in settled.stdout
    assert "1 to be settled again" in settled.stdout
    assert "final in 1.0.0: a2" in settled.stdout
    rows = "SELECT item_id, taxonomy_version, code FROM final_labels WHERE item_id <= ? ORDER BY 1"
    with labelled.study.reading() as reader:
        found = [tuple(row.values()) for row in reader.rows(rows, [THREE])]
    assert found == [(ONE, "1.0.0", "a1"), (TWO, "1.0.0", "a2"), (THREE, "2.0.0", "a2x")]
    sheet = tmp_path / "open.csv"
    command("annotation", "adjudicate", "pilot", "--version", "2.0.0", "--to", sheet)
    text = sheet.read_text(encoding="utf-8-sig")
    assert TWO in text
    # The first version keeps what was final in it.
    first = command("annotation", "adjudicate", "pilot", "--version", "1.0.0", "--json")
    assert json.loads(first.stdout)["settled"] == {"imported": 3}


def test_of_several_versions_the_highest_is_shown_and_each_is_kept(labelled: Labelled) -> None:
    finals(labelled, by_hand(ONE, "a1", "9.0.0"), by_hand(ONE, "a2", "10.0.0"))
    finals(labelled, by_hand(ONE, "b1", "9.0.0"))
    assert stored(labelled.study, "SELECT taxonomy_version, code FROM final_labels") == [
        ("10.0.0", "a2")
    ]
    assert stored(
        labelled.study,
        "SELECT taxonomy_version, supersedes IS NULL FROM store.settlement ORDER BY ALL",
    ) == [("10.0.0", True), ("9.0.0", False), ("9.0.0", True)]


# What the versions say.


def test_two_ways_that_contradict_each_other_are_refused(labelled: Labelled) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    third = {"a": "", "a1": "a", "c": "a", "b": "", "b1": "b", "b2": "b"}
    change(labelled, third, ("{merge: [a2x, a2y], to: c}",), "3.0.0", "2.0.0")
    path = labelled.study.directory / "taxonomies" / "tree.yaml"
    text = path.read_text(encoding="utf-8")
    direct = '  - from: "1.0.0"\n    steps:\n      - {retire: a2, to: CODE}\n'
    path.write_text(text + direct.replace("CODE", "c"), encoding="utf-8")
    validate(labelled.study.directory, [path])
    path.write_text(text + direct.replace("CODE", "a1") + "      - {add: [c]}\n", encoding="utf-8")
    for check in (
        lambda: validate(labelled.study.directory, [path]),
        lambda: migrated(labelled.study),
    ):
        with pytest.raises(StudyError, match=r"a2 of 1\.0\.0 is c in 3\.0\.0 by way of 2\.0\.0"):
            check()


def test_diff_counts_what_a_change_touches(labelled: Labelled, command: Command) -> None:
    change(labelled, {**SPLIT, "b1": "a"}, (*SPLIT_STEPS, "{move: b1, under: a}"))
    migrated(labelled.study)
    labelled.say("pilot", {THREE: {"ann": "a2x", "bob": "a2y"}}, version="2.0.0")
    shown = json.loads(
        command("annotation", "taxonomy", "diff", "tree", "1.0.0", "2.0.0", "--json").stdout
    )
    touched = {each["kind"]: [it["count"] for it in each["touches"]] for each in shown["changes"]}
    assert touched == {"split": [1], "move": [1]}


# Saturation.


def test_only_full_batches_of_items_are_quiet(tmp_path: Path, command: Command) -> None:
    study = Labelled.at(tmp_path)
    study.taxonomy()
    said = {f"github:o/r#{n}": {"ann": "a1", "bob": "a1"} for n in range(1, 4)}
    said["github:o/r#4"] = {"ann": "~unclear"}
    said["github:o/r#5"] = {"ann": "b1", "bob": "b1"}
    said["github:o/r#6"] = {"ann": "~unclear"}
    said["github:o/r#7"] = {"ann": "a1"}
    said["github:o/r#8"] = {}
    study.round("pilot", said, raters=("ann", "bob"))
    done = command("annotation", "taxonomy", "saturation", "--batch", "2", "--json")
    shown = json.loads(done.stdout)
    assert [(each["items"], each["is_full"]) for each in shown["batches"]] == [
        (2, True), (2, True), (2, True), (1, False),
    ]  # fmt: skip
    assert (shown["quiet_batches"], shown["saturated"], shown["unlabelled"]) == (0, False, 1)
    # b1 stands at one of five items with a code, though two raters gave it.
    assert shown["next_is_new"] == {"percent": 20.0, "once": 1, "draws": 5}

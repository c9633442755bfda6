"""Commands for taxonomies that change: diff, validate, relabel, crosswalk, saturation."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess

import openpyxl
import pytest
from changing import SPLIT, SPLIT_STEPS, change, migrated, seen, waiting
from labelling import Labelled

from faultatlas.annotation.settling.settlements import Decision, settle
from faultatlas.data import provenance
from faultatlas.data.taxonomy_library import TaxonomyLibrary

Command = Callable[..., CompletedProcess[str]]


def test_validate_holds_the_changes_against_the_labels_version(
    labelled: Labelled, command: Command
) -> None:
    change(labelled, SPLIT, ("{split: a2, to: [a2x, b1]}",))
    ended = command("annotation", "taxonomy", "validate", "taxonomies/tree.yaml")
    assert ended.returncode == 1
    assert 'new: a2y; add the step `{add: ["a2y"]}`' in ended.stderr
    change(labelled, SPLIT, SPLIT_STEPS)
    assert command("annotation", "taxonomy", "validate").returncode == 0


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
    dry = command("annotation", "taxonomy", "migrate", "tree", "--plan")
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


def test_diff_proposes_what_a_changed_copy_of_a_shipped_taxonomy_must_say(
    tmp_path: Path, command: Command
) -> None:
    shipped = TaxonomyLibrary().taxonomy("dl-bugs").path.read_text(encoding="utf-8")
    own = tmp_path / "taxonomies" / "dl-bugs.yaml"
    own.parent.mkdir()
    own.write_text(shipped.replace("code: gpu", "code: device"), encoding="utf-8")
    same = command("annotation", "taxonomy", "diff", "dl-bugs")
    assert "dl-bugs 1.0.0 is there already, and this file is not the same" in same.stderr
    assert "Raise its `version` above 1.0.0" in same.stderr
    text = own.read_text(encoding="utf-8").replace('version: "1.0.0"', 'version: "2.0.0"')
    own.write_text(text, encoding="utf-8")
    shown = json.loads(command("annotation", "taxonomy", "diff", "dl-bugs", "--json").stdout)
    assert '      - {rename: "gpu", to: "device"}' in shown["block"].splitlines()
    assert command("annotation", "taxonomy", "show", "dl-bugs").returncode == 1
    own.write_text(f"{text}\n{shown['block']}\n", encoding="utf-8")
    assert "device" in command("annotation", "taxonomy", "show", "dl-bugs").stdout


def test_a_copy_is_harmless_until_it_is_changed_and_then_says_the_next_step(
    tmp_path: Path, command: Command
) -> None:
    def taxonomy(*words: str) -> CompletedProcess[str]:
        return command("annotation", "taxonomy", *words)

    before = taxonomy("list").stdout
    copied = taxonomy("copy", "hp-defects")
    assert (copied.returncode, "raise its `version`" in copied.stdout) == (0, True)
    own = tmp_path / "taxonomies" / "hp-defects.yaml"
    text = own.read_text(encoding="utf-8")
    own.write_text(f"# ours\n{text}", encoding="utf-8")
    again = taxonomy("copy", "hp-defects")
    assert (again.returncode, own.read_text(encoding="utf-8")) == (1, f"# ours\n{text}")
    listed = taxonomy("list")
    assert (listed.returncode, listed.stdout) == (0, before)
    assert taxonomy("validate").returncode == 0
    raised = text.replace('version: "1.0.0"', 'version: "1.1.0"')
    for wrong, step in (
        (text.replace("code: B2", "code: B9"), "Raise its `version` above 1.0.0"),
        (text.replace("definition: >-", "definition: >-\n      Well.", 1), "Raise its `version`"),
        (raised, "annotation taxonomy diff hp-defects proposes"),
    ):
        own.write_text(wrong, encoding="utf-8")
        for words in (("list",), ("validate",), ("validate", str(own)), ("show", "hp-defects")):
            ended = taxonomy(*words)
            assert ended.returncode == 1, words
            assert "taxonomies/hp-defects.yaml: hp-defects 1." in ended.stderr
            assert step in ended.stderr
        listed = json.loads(taxonomy("list", "--json").stdout)
        assert len(listed["problems"]) == 1
        assert len(listed["taxonomies"]) == len(TaxonomyLibrary().names) - 1
        assert len(listed["crosswalks"]) == len(TaxonomyLibrary().crosswalk_names)


def test_validate_refuses_a_file_whose_codes_are_not_those_of_the_labels(
    labelled: Labelled, command: Command
) -> None:
    labelled.taxonomy(SPLIT)
    ended = command("annotation", "taxonomy", "validate")
    assert ended.returncode == 1
    assert "its codes are not those of tree 1.0.0 that the study has labels of" in ended.stderr


def test_texts_that_speak_of_a_code_that_is_gone_are_noted(
    labelled: Labelled, command: Command
) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    path = labelled.study.directory / "taxonomies" / "tree.yaml"
    assert "note:" not in command("annotation", "taxonomy", "validate").stderr
    text = path.read_text(encoding="utf-8")
    changed = re.sub(r"(?m)^(\s+not:).*$", r"\1 If it is slow (a2y), it is a2.", text, count=1)
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    for words in (("validate",), ("diff", "tree")):
        ended = command("annotation", "taxonomy", *words)
        assert ended.returncode == 0
        assert "code a: its `not` still speaks of a2, which 2.0.0 does not have" in ended.stderr
        assert ended.stderr.count("note:") == 1


def test_diff_of_a_first_version_says_that_there_is_none_before(command: Command) -> None:
    ended = command("annotation", "taxonomy", "diff", "dl-bugs")
    assert ended.returncode == 1
    assert "there is no earlier version of dl-bugs than 1.0.0" in ended.stderr
    assert "annotation taxonomy copy dl-bugs" in ended.stderr


def test_a_sheet_is_written_only_where_it_can_be_read(
    labelled: Labelled, command: Command, tmp_path: Path
) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    sheet = tmp_path / "again.ods"
    refused = command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    assert (refused.returncode, sheet.exists()) == (1, False)
    assert "neither .csv nor .xlsx" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_labels_are_given_again_through_a_sheet(
    labelled: Labelled, command: Command, tmp_path: Path, suffix: str
) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    sheet = tmp_path / "sheets" / f"ann.{suffix}"
    ended = command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet, "--rater", "ann")
    assert ended.returncode == 0
    refused = command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    assert (refused.returncode, "--replace" in refused.stderr) == (1, False)
    if suffix == "csv":  # else Excel takes its letters for others
        assert sheet.read_bytes().startswith(codecs.BOM_UTF8)
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
    for version, compared, undecided in (("1.0.0", 5, 0), ("2.0.0", 3, 3)):
        ended = command("annotation", "agreement", "pilot", "--version", version, "--json")
        assert ended.returncode == 0, ended.stderr
        counts = json.loads(ended.stdout)["data"]["rounds"]["pilot"]["counts"]
        assert (counts["compared"], counts["undecided"]) == (compared, undecided)


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
    # The coverage gap is about the shipped version, and so are labels that are carried there.
    with study.study.writing() as writer:
        writer.execute(
            "INSERT INTO store.settlement SELECT answer_id, round, item_id, artifact_id, taxonomy, "
            "taxonomy_version, codes, 'single', 'r', NULL, NULL, NULL, NULL, run_id, false "
            "FROM store.answer WHERE rater = 'bob'"
        )
    gap = command("analysis", "coverage-gap", "--evidence", "study", "--json")
    assert gap.returncode == 0, gap.stderr
    assert [row["code"] for row in json.loads(gap.stdout)["tables"]["codes"]] == ["B1"]


def test_final_labels_of_a_merged_code_are_left_out_of_the_coverage_gap_and_told(
    tmp_path: Path, command: Command
) -> None:
    study = Labelled.at(tmp_path)
    study.round(
        "hp", {f"github:o/r#{n}": {"ann": "B1"} for n in range(1, 4)}, taxonomy="hp-defects"
    )
    text = TaxonomyLibrary().taxonomy("hp-defects").path.read_text(encoding="utf-8")
    nodes = [each for each in text.split("  - code: ") if not each.startswith("B2\n")]
    own = tmp_path / "taxonomies" / "hp-defects.yaml"
    own.parent.mkdir()
    changes = 'changes:\n  - from: "1.0.0"\n    steps:\n      - {merge: [B1, B2], to: B1}\n'
    text = "  - code: ".join(nodes).replace('version: "1.0.0"', 'version: "9.0.0"')
    own.write_text(f"{text}\n{changes}", encoding="utf-8")
    assert command("annotation", "taxonomy", "migrate", "hp-defects").returncode == 0
    run = provenance.begin("by hand", {})
    with study.study.writing() as writer:
        said = (("1", "B1", "1.0.0"), ("1", "B1", "9.0.0"), ("2", "B1", "9.0.0"))
        decisions = [
            Decision(f"github:o/r#{item}", (code,), "negotiated", "r", version)
            for item, code, version in (*said, ("3", "A1", "9.0.0"))
        ]
        settle(writer, "hp", decisions, run)
    gap = command("analysis", "coverage-gap", "--evidence", "study", "--json")
    assert gap.returncode == 0, gap.stderr
    shown = json.loads(gap.stdout)
    # Where the version that is asked for was settled as well, that counts.
    assert {row["code"]: row["count"] for row in shown["tables"]["codes"]} == {"A1": 1, "B1": 1}
    assert any(
        "1 of B1 (hp-defects 9.0.0, not decided in 1.0.0)" in note for note in shown["notes"]
    )


# Saturation.


def test_new_codes_are_counted_batch_by_batch(tmp_path: Path, command: Command) -> None:
    study = Labelled.at(tmp_path)
    study.taxonomy()
    study.round("one", {f"github:o/r#{n}": {"ann": "a1", "bob": "a2"} for n in range(1, 4)})
    study.round("two", {f"github:o/r#{n}": {"ann": "a1", "bob": "b1"} for n in range(4, 7)})
    study.round("three", {f"github:o/r#{n}": {"ann": "b1", "bob": "a2"} for n in range(7, 10)})
    ended = command("annotation", "taxonomy", "saturation", "--enough", "1", "--json")
    shown = json.loads(ended.stdout)
    assert [batch["new_codes"] for batch in shown["batches"]] == [["a1", "a2"], ["b1"], []]
    assert [batch["codes"] for batch in shown["batches"]] == [2, 3, 3]
    assert shown["codes"] == {"seen": 3, "possible": 4}
    assert (shown["quiet_batches"], shown["saturated"]) == (1, True)
    assert [claim["value"] for claim in shown["claims"]] == [3.0, 1.0, 0.0]
    by_items = command("annotation", "taxonomy", "saturation", "--batch", "4", "--json")
    batches = json.loads(by_items.stdout)["batches"]
    assert [(batch["name"], batch["items"], batch["codes"]) for batch in batches] == [
        ("1-4", 4, 3), ("5-8", 4, 3), ("9-9", 1, 3),
    ]  # fmt: skip
    plain = command("annotation", "taxonomy", "saturation", "one")
    assert "Saturation is not reached: the last batch brought 2 new" in plain.stdout
    assert Path("out/saturation-one/report.html").is_file()


def test_any_rounds_can_be_asked_for_saturation(tmp_path: Path, command: Command) -> None:
    """Names of rounds are no names of folders, and two rounds may be called as one is."""
    study = Labelled.at(tmp_path)
    study.taxonomy()
    long = [f"a-rather-long-name-of-round-{number}" for number in range(4)]
    for at, name in enumerate(["a", "b", "a-b", "a-50", "Round 1", "pr\u00fcfung", *long]):
        study.round(name, {f"github:o/r#{at + 1}": {"ann": "a1"}})
    folders = []
    for words in (
        ["a"], ["a", "b"], ["a-b"], ["a", "--batch", "50"], ["a-50"], ["Round 1"], ["pr\u00fcfung"],
        long,
    ):  # fmt: skip
        ended = command("annotation", "taxonomy", "saturation", *words, "--json")
        assert ended.returncode == 0, ended.stderr
        folders.append(Path(json.loads(ended.stdout)["report"]).parent.name)
    assert len(set(folders)) == len(folders)
    assert {"saturation-a", "saturation-a-b", "saturation-a-50"} <= {*folders}


def test_proposed_codes_are_new_codes(labelled: Labelled, command: Command) -> None:
    with labelled.study.writing() as writer:
        writer.execute(
            "UPDATE store.answer SET codes = ['~new'], proposed = 'Race  condition' "
            "WHERE item_id = 'github:o/r#5'"
        )
    ended = command("annotation", "taxonomy", "saturation", "pilot", "--batch", "1", "--json")
    shown = json.loads(ended.stdout)
    assert shown["batches"][-1]["new_proposals"] == ["Race condition"]
    assert (shown["proposals"], shown["quiet_batches"]) == (1, 0)


def test_saturation_needs_rounds_of_one_taxonomy(labelled: Labelled, command: Command) -> None:
    labelled.round("hp", {"github:o/r#1": {"ann": "A1"}}, taxonomy="hp-defects")
    ended = command("annotation", "taxonomy", "saturation")
    assert ended.returncode == 1
    assert "the rounds have several taxonomies: hp-defects, tree" in ended.stderr

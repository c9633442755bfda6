"""`annotation adjudicate`: the queue, and what settles an item."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from changing import MERGE_STEPS, MERGED, SPLIT, SPLIT_STEPS, change, migrated
from changing import SAID as CHANGING
from labelling import SMALL, Labelled
from openpyxl import Workbook, load_workbook

Command = Callable[..., CompletedProcess[str]]
SAME, MOST, TIE, ONE, NEW, NONE = (f"github:o/r#{number}" for number in range(1, 7))
SAID = {
    SAME: {"ann": "a1", "bob": "a1", "cyd": "a1"},
    MOST: {"ann": "a1", "bob": "a1", "cyd": "b1"},
    TIE: {"ann": "a1", "bob": "a2", "cyd": "b2"},
    ONE: {"bob": "a2"},
    NEW: {"ann": "~new", "bob": "~new", "cyd": "a1"},
    NONE: {},
}


@pytest.fixture
def labelled(tmp_path: Path) -> Labelled:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    labelled.round("pilot", SAID)
    return labelled


@pytest.fixture
def adjudicate(command: Command) -> Callable[..., dict[str, Any]]:
    """Runs the command on the round; gives its document."""

    def run(*options: Any) -> dict[str, Any]:
        done = command("annotation", "adjudicate", "pilot", "--json", *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    return run


Adjudicate = Callable[..., dict[str, Any]]


def finals(at: Labelled) -> dict[str, tuple[str, str]]:
    with at.study.reading() as reader:
        rows = reader.rows(
            "SELECT item_id, string_agg(code, '+' ORDER BY code) AS codes, "
            "any_value(settled_by) AS settled_by FROM final_labels GROUP BY ALL"
        )
    return {row["item_id"]: (row["codes"], row["settled_by"]) for row in rows}


def stored(at: Labelled) -> list[Any]:
    tables = ("settlement", "answer", "run", "rater")
    with at.study.reading() as reader:
        return [reader.rows(f"FROM store.{table} ORDER BY ALL") for table in tables]


# The queue


def test_the_queue_is_shown_hardest_first_and_changes_nothing(
    labelled: Labelled, adjudicate: Adjudicate
) -> None:
    before = stored(labelled)
    found = adjudicate()
    assert [case["item"] for case in found["queue"]] == [NEW, TIE, MOST]
    assert found["open"] == {"disagreement": 3, "one rating": 1, "unlabelled": 1}
    assert found["ready"] == 1
    assert stored(labelled) == before
    assert [case["item"] for case in adjudicate("--limit", "1")["queue"]] == [NEW]


def test_codes_far_apart_in_the_tree_are_harder(labelled: Labelled, adjudicate: Adjudicate) -> None:
    near, far = "github:o/r#1", "github:o/r#2"
    said = {near: {"ann": "a1", "bob": "a2"}, far: {"ann": "a1", "bob": "b1"}}
    labelled.round("two", said)
    found = adjudicate("--limit", "0")  # of another round
    assert found["queue"] == []
    document = _run(labelled, "two")
    assert [case["item"] for case in document["queue"]] == [far, near]
    parts = [case["difficulty"] for case in document["queue"]]
    assert [part["distance"] for part in parts] == [1.0, 0.5]
    assert {part["entropy"] for part in parts} == {1.0}


def _run(at: Labelled, round_name: str) -> dict[str, Any]:
    from faultatlas.annotation.settling.queue import queue_document, queue_of
    from faultatlas.annotation.settling.situation import read_situation

    with at.study.reading() as reader:
        situation = read_situation(reader, at.study.directory, round_name)
    return {"queue": queue_document(queue_of(situation), situation.taxonomy, 9)}


def test_names_of_raters_are_not_shown_and_no_place_is_always_the_same_rater(
    labelled: Labelled, command: Command
) -> None:
    items = {f"github:o/r#{n}": {"ann": "a1", "bob": "a2", "cyd": "b1"} for n in range(1, 41)}
    labelled.round("long", items)
    done = command("annotation", "adjudicate", "long", "--limit", "40")
    again = command("annotation", "adjudicate", "long", "--limit", "40")
    assert done.stdout == again.stdout
    assert "Rater A  a1 Name of a1" in done.stdout
    for name in ("ann", "bob", "cyd"):
        assert name not in done.stdout
    first = [line.split()[2] for line in done.stdout.splitlines() if "Rater A" in line]
    assert set(first) == {"a1", "a2", "b1"}


# Rules


def test_what_all_say_is_settled_and_the_rest_waits(
    labelled: Labelled, adjudicate: Adjudicate
) -> None:
    for options in (["--settle"], ["--rule", "unanimous"]):
        adjudicate(*options)
        assert finals(labelled) == {SAME: ("a1", "unanimous")}


def test_a_majority_settles_and_a_tie_and_a_missing_code_do_not(
    labelled: Labelled, adjudicate: Adjudicate
) -> None:
    found = adjudicate("--rule", "majority")
    assert finals(labelled) == {SAME: ("a1", "unanimous"), MOST: ("a1", "majority")}
    assert found["now"]["new"] == 2
    assert found["settled"] == {"majority": 1, "unanimous": 1}
    assert [case["item"] for case in found["queue"]] == [NEW, TIE]
    with labelled.study.reading() as reader:
        rule = reader.value("SELECT rule FROM final_labels WHERE item_id = ?", [MOST])
    assert rule == "more than half of the raters said so (2 of 3)"


def test_half_of_the_raters_are_no_majority(tmp_path: Path, adjudicate: Adjudicate) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    said = {"ann": "a1", "bob": "b1", "cyd": "a1", "dan": "b2"}
    labelled.round("pilot", {SAME: {"ann": "a1", "bob": "b1"}, MOST: said})
    assert adjudicate("--rule", "majority")["open"] == {"disagreement": 2}
    assert finals(labelled) == {}


def test_running_again_changes_nothing(labelled: Labelled, adjudicate: Adjudicate) -> None:
    adjudicate("--rule", "majority", "--single")
    before = stored(labelled)
    found = adjudicate("--rule", "majority", "--single")
    assert found["now"] == {"new": 0, "changed": 0, "known": 3, "reopened": 0, "kept_by_hand": 0}
    adjudicate("--settle")
    assert stored(labelled) == before


def test_one_rating_is_final_only_if_asked_for(labelled: Labelled, adjudicate: Adjudicate) -> None:
    adjudicate("--settle")
    assert ONE not in finals(labelled)
    adjudicate("--single")
    assert finals(labelled)[ONE] == ("a2", "single")


def test_one_rating_and_no_label_are_not_called_done(tmp_path: Path, command: Command) -> None:
    study = Labelled.at(tmp_path)
    study.taxonomy()
    study.round("pilot", {ONE: {"bob": "a2"}, NONE: {}})
    shown = " ".join(command("annotation", "adjudicate", "pilot").stdout.split())
    assert "annotation adjudicate pilot --single" in shown
    assert "Nothing waits for people" not in shown
    assert "1 unlabelled" in shown


def test_of_several_codes_sets_must_be_equal_and_majority_is_for_each_code(
    tmp_path: Path, adjudicate: Adjudicate
) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy(choice="multiple")
    said = {
        SAME: {"ann": ["a1", "b1"], "bob": ["b1", "a1"], "cyd": ["a1", "b1"]},
        MOST: {"ann": ["a1", "b1"], "bob": ["a1", "b1"], "cyd": ["a1"]},
        TIE: {"ann": ["a1"], "bob": ["a2"], "cyd": ["b1"]},
    }
    labelled.round("pilot", said)
    adjudicate("--rule", "majority")
    assert finals(labelled) == {SAME: ("a1+b1", "unanimous"), MOST: ("a1+b1", "majority")}


def test_unclear_and_not_a_fault_are_answers_like_others(
    tmp_path: Path, adjudicate: Adjudicate
) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    said = {
        SAME: {"ann": "~not-a-fault", "bob": "~not-a-fault"},
        TIE: {"ann": "~new", "bob": "~new"},
    }
    labelled.round("pilot", said)
    found = adjudicate("--settle")
    assert finals(labelled) == {SAME: ("~not-a-fault", "unanimous")}
    assert found["open"] == {"new code needed": 1}


# Discussion and a third rater


def test_after_discussion_the_later_labels_count_and_both_are_kept(
    labelled: Labelled, adjudicate: Adjudicate
) -> None:
    labelled.say(
        "pilot", {TIE: {"bob": "a1", "cyd": "a1"}, MOST: {"cyd": "a2"}}, stage="negotiated"
    )
    adjudicate("--settle")
    assert finals(labelled) == {SAME: ("a1", "unanimous"), TIE: ("a1", "negotiated")}
    adjudicate("--rule", "majority")
    assert finals(labelled)[MOST] == ("a1", "majority")
    with labelled.study.reading() as reader:
        assert reader.rows(
            "SELECT stage, code FROM labels WHERE item_id = ? AND rater = 'bob' ORDER BY stage",
            [TIE],
        ) == [{"stage": "independent", "code": "a2"}, {"stage": "negotiated", "code": "a1"}]


@pytest.mark.parametrize("name", ["open.csv", "open.xlsx"])
def test_a_sheet_goes_out_without_names_and_comes_back_filled_in(
    labelled: Labelled, adjudicate: Adjudicate, tmp_path: Path, name: str
) -> None:
    sheet = tmp_path / name
    adjudicate("--to", sheet)
    rows = _read(sheet)
    assert [row["item"] for row in rows] == [NEW, TIE, MOST]
    assert rows[1]["url"] == "https://github.com/o/r/issues/3"
    assert {rows[1][each] for each in "ABC"} == {
        "a1 Name of a1", "a2 Name of a2", "b2 Name of b2",
    }  # fmt: skip
    assert not {"ann", "bob", "cyd"} & {word for row in rows for word in row.values()}
    _fill(sheet, {TIE: ("b2 Name of b2", "we read it again"), NEW: ("~new", "")})
    found = adjudicate("--from", sheet)
    assert found["sheet"] == {"settled": 1, "without_code": 1, "new_code_needed": 1}
    assert finals(labelled)[TIE] == ("b2", "negotiated")
    before = stored(labelled)
    adjudicate("--from", sheet)
    adjudicate("--rule", "majority", "--limit", "0")
    assert finals(labelled)[TIE] == ("b2", "negotiated")
    assert stored(labelled)[1] == before[1]  # a discussion gives no labels
    with labelled.study.reading() as reader:
        assert reader.rows(
            "SELECT rule, comment FROM store.settlement WHERE item_id = ?", [TIE]
        ) == [{"rule": "agreed in discussion", "comment": "we read it again"}]


def test_a_whole_sheet_settles_only_what_it_changes(
    labelled: Labelled, adjudicate: Adjudicate, command: Command, tmp_path: Path
) -> None:
    given = tmp_path / "given.csv"
    given.write_text(f"item,f\n{SAME},b2\n{MOST},b1\n{TIE},a2\n", encoding="utf-8")
    done = command("annotation", "import", "pilot", given, "--item", "item", "--final", "f")
    assert done.returncode == 0, done.stderr
    sheet = tmp_path / "all.csv"
    assert command("annotation", "export", "pilot", sheet).returncode == 0
    rows = _read(sheet)
    _fill(sheet, {row["item"]: (row["final"], "") for row in rows} | {MOST: ("a1", "")})
    found = adjudicate("--from", sheet)
    assert (found["now"]["changed"], found["now"]["known"]) == (1, 2)
    assert finals(labelled) == {
        SAME: ("b2", "imported"), MOST: ("a1", "negotiated"), TIE: ("a2", "imported"),
    }  # fmt: skip
    before = stored(labelled)
    _fill(sheet, {SAME: ("b2", "so be it"), MOST: ("a1", "")})
    done = command("annotation", "adjudicate", "pilot", "--from", sheet)
    assert "1 comment not kept" in done.stdout
    assert stored(labelled) == before


def test_a_discussion_keeps_a_label_that_the_raters_have_left(
    labelled: Labelled, adjudicate: Adjudicate, tmp_path: Path
) -> None:
    adjudicate("--settle")
    labelled.say("pilot", {SAME: {"cyd": "b1"}})
    sheet = tmp_path / "open.csv"
    sheet.write_text(f"item,final\n{SAME},a1\n", encoding="utf-8")
    now = adjudicate("--from", sheet)["now"]
    assert (now["changed"], now["reopened"]) == (1, 0)
    assert finals(labelled)[SAME] == ("a1", "negotiated")


def test_a_sheet_with_unknown_codes_and_items_is_refused_with_rows(
    labelled: Labelled, adjudicate: Adjudicate, command: Command, tmp_path: Path
) -> None:
    sheet = tmp_path / "open.csv"
    adjudicate("--to", sheet)
    _fill(sheet, {NEW: ("a9", ""), TIE: ("a", "")})
    with sheet.open("a", encoding="utf-8") as file:
        file.write("github:o/r#99,,,,,,,a1,\n")
    before = stored(labelled)
    done = command("annotation", "adjudicate", "pilot", "--from", sheet)
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "open.csv:2: 'a9' is no code of tree" in said
    assert "open.csv:3: 'a' is a category of tree" in said
    assert "open.csv:5: 'github:o/r#99' is no item of round pilot" in said
    assert "Nothing was stored" in said
    assert stored(labelled) == before


def test_numbers_that_may_be_two_codes_and_formulas_are_refused_with_rows(
    tmp_path: Path, command: Command
) -> None:
    """What is typed as 1.10 is 1.1 in a workbook."""
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy({"1.1": "", "1.10": "", "2": ""})
    labelled.round("pilot", {item: {"ann": "1.1", "bob": "1.10"} for item in (SAME, MOST, TIE)})
    book = Workbook()
    for row in (
        ("item", "final", "comment"), (SAME, 1.1, ""), (MOST, "=A1", ""), (TIE, 2, "=A1"),
    ):  # fmt: skip
        book.worksheets[0].append(row)
    book.save(tmp_path / "open.xlsx")
    done = command("annotation", "adjudicate", "pilot", "--from", tmp_path / "open.xlsx")
    assert (done.returncode, finals(labelled)) == (1, {})
    said = " ".join(done.stderr.split())
    assert "open.xlsx:2: the cell holds the number 1.1, which may be 1.1 or 1.10" in said
    assert "open.xlsx:3: the formula in 'final' has no value" in said
    assert "open.xlsx:4: the formula in 'comment' has no value" in said
    assert "Nothing was stored" in said


def test_a_third_rater_decides_by_a_sheet(
    labelled: Labelled, adjudicate: Adjudicate, tmp_path: Path
) -> None:
    adjudicate("--rule", "majority")
    sheet = tmp_path / "open.csv"
    sheet.write_text(f"item,final\n{TIE},a2\n{MOST},b1\n", encoding="utf-8")
    adjudicate("--third", "zoe", "--from", sheet)
    assert finals(labelled)[TIE] == ("a2", "adjudicated")
    assert finals(labelled)[MOST] == ("b1", "adjudicated")
    with labelled.study.reading() as reader:
        rows = reader.rows(
            "SELECT rater, stage, code, origin FROM labels WHERE rater = 'zoe' AND item_id = ?",
            [TIE],
        )
        chain = reader.rows(
            "SELECT settled_by, adjudicator, supersedes IS NULL AS is_first FROM store.settlement "
            "WHERE item_id = ? ORDER BY is_first DESC", [MOST],
        )  # fmt: skip
        raters = reader.value("SELECT raters FROM rounds")
    assert rows == [
        {"rater": "zoe", "stage": "adjudicated", "code": "a2", "origin": "open.csv row 2"}
    ]
    assert [tuple(row.values()) for row in chain] == [
        ("majority", None, True),
        ("adjudicated", "zoe", False),
    ]
    assert raters == ["ann", "bob", "cyd"]  # the third is none of those whose agreement counts
    before = stored(labelled)
    adjudicate("--third", "zoe", "--from", sheet)
    adjudicate("--rule", "majority")
    assert stored(labelled) == before


def test_pulled_decisions_of_a_third_rater_or_a_discussion_are_used(
    labelled: Labelled, adjudicate: Adjudicate, command: Command
) -> None:
    refused = command("annotation", "adjudicate", "pilot", "--third", "zoe")
    assert refused.returncode == 1
    assert "zoe has decided nothing in round pilot" in refused.stderr
    labelled.say("pilot", {TIE: {"zoe": "a2"}}, stage="adjudicated")
    labelled.say("pilot", {MOST: {"discussion": "b1"}}, stage="negotiated")
    adjudicate("--settle")
    assert finals(labelled)[TIE] == ("a2", "adjudicated")
    assert finals(labelled)[MOST] == ("b1", "negotiated")


def test_open_items_are_pushed_without_names(
    labelled: Labelled, adjudicate: Adjudicate, monkeypatch: pytest.MonkeyPatch
) -> None:
    import faultatlas.annotation.bridge.commands as bridge

    sent: dict[str, Any] = {}

    def push_stage(_study: Any, round_name: str, _output: Any, **more: Any) -> dict[str, Any]:
        sent.update(more, round=round_name)
        return {"round": round_name, "projects": [], "complete": True}

    monkeypatch.setattr(bridge, "push_stage", push_stage)
    adjudicate("--push")
    assert (sent["stage"], sent["rater"]) == ("negotiated", "discussion")
    assert list(sent["said"]) == [NEW, TIE, MOST]
    assert sorted(each.codes for each in sent["said"][TIE]) == [("a1",), ("a2",), ("b2",)]
    adjudicate("--push", "--third", "zoe", "--url", "https://labels.example.org")
    assert (sent["stage"], sent["rater"]) == ("adjudicated", "zoe")
    assert sent["url"] == "https://labels.example.org"
    assert finals(labelled) == {}


# Later


def test_a_changed_label_opens_an_item_again_and_nothing_is_lost(
    labelled: Labelled, adjudicate: Adjudicate
) -> None:
    adjudicate("--rule", "majority")
    labelled.say("pilot", {SAME: {"cyd": "b1", "bob": "b2"}, MOST: {"cyd": "a1"}})
    found = adjudicate("--settle")
    assert found["now"] == {"new": 0, "changed": 1, "known": 0, "reopened": 1, "kept_by_hand": 0}
    assert finals(labelled) == {MOST: ("a1", "unanimous")}
    assert SAME in {case["item"] for case in found["queue"]}
    before = stored(labelled)
    adjudicate("--settle")
    assert stored(labelled) == before
    labelled.say("pilot", {SAME: {"cyd": "a1", "bob": "a1"}})
    assert adjudicate("--settle")["now"]["new"] == 1
    with labelled.study.reading() as reader:
        codes = reader.rows("SELECT codes FROM store.settlement WHERE item_id = ?", [SAME])
    assert [row["codes"] for row in codes] == [["a1"], [], ["a1"]]


def test_what_does_not_go_together_is_refused(labelled: Labelled, command: Command) -> None:
    for options, said in (
        (("--to", "x.csv", "--settle"), "--to only writes"),
        (("--push", "--from", "x.csv"), "exclude each other"),
        (("--url", "https://labels.example.org"), "--url names the server"),
        (("--from", "missing.csv"), "missing.csv"),
        (("--version", "9.9.9"), "9.9.9"),
    ):
        done = command("annotation", "adjudicate", "pilot", *options)
        assert done.returncode == 1, options
        assert said in done.stderr
    done = command("annotation", "adjudicate", "nothing")
    assert done.returncode == 1
    assert "there is no round 'nothing'" in done.stderr
    assert finals(labelled) == {}


def _read(sheet: Path) -> list[dict[str, str]]:
    if sheet.suffix == ".csv":
        return list(csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    first, *rows = load_workbook(sheet).active.iter_rows(values_only=True)
    return [dict(zip(first, (cell or "" for cell in row), strict=True)) for row in rows]


def _fill(sheet: Path, said: dict[str, tuple[str, str]]) -> None:
    rows = _read(sheet)
    for row in rows:
        row["final"], row["comment"] = said.get(row["item"], ("", ""))
    if sheet.suffix == ".csv":
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return
    book = load_workbook(sheet)
    for at, row in enumerate(rows, 2):
        for column, name in enumerate(row, 1):
            book.active.cell(at, column, row[name])
    book.save(sheet)


# Under another version of the taxonomy


def test_a_split_code_waits_and_its_final_label_stays(
    tmp_path: Path, adjudicate: Adjudicate
) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    labelled.round("pilot", CHANGING)
    adjudicate("--settle")
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    found = adjudicate("--settle", "--version", "2.0.0")
    assert (found["taxonomy_version"], found["now"]["changed"]) == ("2.0.0", 1)
    with labelled.study.reading() as reader:
        rows = reader.rows("SELECT item_id, taxonomy_version, code FROM final_labels ORDER BY ALL")
    assert [tuple(row.values()) for row in rows] == [
        ("github:o/r#1", "2.0.0", "a1"),
        ("github:o/r#3", "1.0.0", "a2"),
    ]


def test_raters_who_meant_what_was_merged_agree_afterwards(
    tmp_path: Path, adjudicate: Adjudicate
) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    labelled.round("pilot", CHANGING)
    change(labelled, MERGED, MERGE_STEPS)
    adjudicate("--settle", "--version", "2.0.0")
    assert finals(labelled)["github:o/r#4"] == ("b", "unanimous")


def test_what_was_noted_last_is_that_of_the_highest_version(
    tmp_path: Path, adjudicate: Adjudicate
) -> None:
    """10.0.0 comes after 9.0.0, though not as text."""
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy(version="9.0.0")
    labelled.round("pilot", {TIE: {"ann": "a1", "bob": "b1"}})
    change(labelled, SMALL, (), "10.0.0", "9.0.0")
    migrated(labelled.study)
    labelled.say("pilot", {TIE: {"ann": "a2", "bob": "b1"}}, version="10.0.0")
    change(labelled, SMALL, (), "11.0.0", "10.0.0")
    migrated(labelled.study)
    with labelled.study.writing() as writer:
        writer.execute("UPDATE store.answer SET comment = taxonomy_version")
    [case] = adjudicate("--version", "11.0.0")["queue"]
    assert [label["comment"] for label in case["labels"]] == ["10.0.0", "10.0.0"]

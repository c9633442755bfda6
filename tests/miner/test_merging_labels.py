"""Two raters label in two copies of a study; the team merges them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from forgetful import everything
from labelling import SMALL, Labelled

Command = Callable[..., CompletedProcess[str]]
FIRST, SECOND = "github:o/r#1", "github:o/r#2"


@pytest.fixture
def ours(tmp_path: Path) -> Labelled:
    """A round of two items that nobody has labelled."""
    ours = Labelled.at(tmp_path / "ours")
    ours.taxonomy()
    ours.round("pilot", {FIRST: {}, SECOND: {}}, raters=["ann", "bob"])
    return ours


@pytest.fixture
def theirs(ours: Labelled, tmp_path: Path) -> Labelled:
    """A copy of the study on another machine."""
    shutil.copytree(ours.study.directory, tmp_path / "theirs")
    return Labelled.at(tmp_path / "theirs")


@pytest.fixture
def merge(command: Command) -> Callable[..., Any]:
    """Merges, and gives the rows that were taken or what was said."""

    def run(into: Labelled, other: Labelled) -> Any:
        study = into.study.directory
        done = command("miner", "merge", other.study.directory, "--study", study, "--json")
        return json.loads(done.stdout)["rows"] if done.returncode == 0 else done.stderr

    return run


Merge = Callable[[Labelled, Labelled], Any]


def _labels(at: Labelled) -> list[tuple[Any, ...]]:
    query = "SELECT item_id, rater, code FROM labels WHERE is_current ORDER BY ALL"
    return [tuple(row.values()) for row in _rows(at, query)]


def _rows(at: Labelled, query: str) -> list[dict[str, Any]]:
    with at.study.reading() as reader:
        return reader.rows(query)


def test_answers_of_two_copies_are_united(ours: Labelled, theirs: Labelled, merge: Merge) -> None:
    ours.say("pilot", {FIRST: {"ann": "a1"}, SECOND: {"ann": "b1"}})
    theirs.say("pilot", {FIRST: {"bob": "a2"}, SECOND: {"bob": "b1"}})
    assert merge(ours, theirs)["answer"] == 2
    assert _labels(ours) == [
        (FIRST, "ann", "a1"),
        (FIRST, "bob", "a2"),
        (SECOND, "ann", "b1"),
        (SECOND, "bob", "b1"),
    ]
    before = everything(ours.study)
    assert merge(ours, theirs) == {}
    assert everything(ours.study) == before


def test_who_went_on_is_followed(ours: Labelled, theirs: Labelled, merge: Merge) -> None:
    for at in (ours, theirs):
        at.say("pilot", {FIRST: {"ann": "a1"}})
    theirs.say("pilot", {FIRST: {"ann": "a2"}})
    assert merge(ours, theirs)["answer"] == 1
    assert _labels(ours) == [(FIRST, "ann", "a2")]
    merge(theirs, ours)
    assert _labels(theirs) == [(FIRST, "ann", "a2")]


def test_a_rater_who_says_two_things_is_refused(
    ours: Labelled, theirs: Labelled, merge: Merge
) -> None:
    for at in (ours, theirs):
        at.say("pilot", {FIRST: {"ann": "a1"}})
    ours.say("pilot", {FIRST: {"ann": "b1"}})
    theirs.say("pilot", {FIRST: {"ann": "b2"}, SECOND: {"bob": "a1"}})
    before = everything(ours.study)
    said = merge(ours, theirs)
    assert "both studies have a round pilot, with different labels" in said
    assert f"{FIRST} by ann: b1 here, b2 there" in said
    assert everything(ours.study) == before


def test_other_rules_of_a_round_are_refused(ours: Labelled, theirs: Labelled, merge: Merge) -> None:
    with theirs.study.writing() as writer:
        writer.execute("UPDATE store.round SET threshold = 0.2")
    assert "different rules of the round pilot" in merge(ours, theirs)


def test_other_codes_under_one_version_are_refused(
    ours: Labelled, tmp_path: Path, merge: Merge
) -> None:
    theirs = Labelled.at(tmp_path / "others")
    theirs.taxonomy({**SMALL, "c": ""})
    theirs.round("theirs", {FIRST: {"zoe": "c"}})
    assert "different codes of tree 1.0.0" in merge(ours, theirs)


def test_a_round_and_its_items_that_only_they_have_arrive(
    ours: Labelled, theirs: Labelled, merge: Merge
) -> None:
    theirs.round("second", {"github:o/r#3": {"zoe": "a1"}})
    with theirs.study.writing() as writer:
        writer.execute("INSERT INTO store.item VALUES ('pilot', 'x', 'x', 7, '', NULL, 'r')")
        writer.execute("INSERT INTO store.assignment VALUES ('second', 'gone', 'zoe', 1, 'r')")
    taken = merge(ours, theirs)
    assert (taken["round"], taken["item"], taken["rater"], taken["answer"]) == (1, 2, 1, 1)
    assert "assignment" not in taken  # of no item
    rows = _rows(ours, "SELECT round, item_id, position FROM items ORDER BY ALL")
    assert [tuple(row.values()) for row in rows] == [
        ("pilot", FIRST, 1),
        ("pilot", SECOND, 2),
        ("pilot", "x", 3),
        ("second", "github:o/r#3", 1),
    ]


def test_what_one_has_forgotten_does_not_come_back(
    ours: Labelled, theirs: Labelled, merge: Merge, command: Command
) -> None:
    theirs.say("pilot", {FIRST: {"bob": "a2"}, SECOND: {"bob": "b1"}})
    with theirs.study.writing() as writer:
        writer.execute(
            "INSERT INTO store.suggestion VALUES ('pilot', ?, 'a1', 1, 1, 'm', 'r')", [FIRST]
        )
        writer.execute("INSERT INTO store.frame_member VALUES ('f', ?, '', NULL, 'r')", [FIRST])
    done = command("miner", "forget", FIRST, "--study", ours.study.directory)
    assert done.returncode == 0, done.stderr
    merge(ours, theirs)
    assert _labels(ours) == [(SECOND, "bob", "b1")]
    named = [name for name, rows in everything(ours.study).items() if f"'{FIRST}'" in str(rows)]
    assert named == ["forgotten"]


def test_samples_are_taken_if_they_are_the_same(
    ours: Labelled, theirs: Labelled, merge: Merge
) -> None:
    for at, size in ((ours, 2), (theirs, 2)):
        with at.study.writing() as writer:
            writer.execute(
                "INSERT INTO store.sample "
                "VALUES ('s', '', 'simple', '', [], '', 1, 'r', NULL, NULL)"
            )
            writer.execute(
                "INSERT INTO store.sample_draw (sample, draw, frame_query, frame_count, "
                "frame_hash, size, size_rule, drawn_at, run_id) "
                "VALUES ('s', 1, 'q', 9, 'f', ?, 'given', now(), 'r')",
                [size],
            )
    with theirs.study.writing() as writer:
        writer.execute("INSERT INTO store.sampled VALUES ('s', 1, ?, '', 1, 'r')", [FIRST])
    assert merge(ours, theirs)["sampled"] == 1
    with theirs.study.writing() as writer:
        writer.execute("UPDATE store.sample_draw SET size = 3")
    assert "different draws of the sample s" in merge(ours, theirs)


@pytest.mark.parametrize("local", ["http://127.0.0.1:8080", "own", "own/bob"])
def test_a_server_of_another_machine_is_not_taken_for_ours(
    ours: Labelled, theirs: Labelled, merge: Merge, local: str
) -> None:
    shared = "https://labels.example.org"
    with ours.study.writing() as writer:
        writer.execute(_PROJECT, [local, 1, "ann", "r1"])
    with theirs.study.writing() as writer:
        writer.execute(_PROJECT, [local, 1, "bob", "r2"])
        writer.execute(_PROJECT, [shared, 1, "bob", "r3"])
        for server in (local, shared):
            writer.execute("INSERT INTO store.account VALUES (?, 'bob', 1, 'bob', 'r2')", [server])
    taken = merge(ours, theirs)
    assert (taken["project"], taken["account"]) == (2, 1)
    assert merge(ours, theirs) == {}
    rows = _rows(ours, "SELECT server, rater FROM store.project")
    assert {tuple(row.values()) for row in rows} == {
        (f"elsewhere {local} r2", "bob"),
        (local, "ann"),
        (shared, "bob"),
    }
    (row,) = _rows(ours, "SELECT blindness FROM rounds")
    assert row["blindness"] == "own project"


_PROJECT = (
    "INSERT INTO store.project "
    "VALUES (?, ?, 'pilot', ?, 'independent', '1', 'own project', ?, NULL)"
)

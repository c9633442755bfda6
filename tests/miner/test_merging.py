"""Two studies of a team become one: the newest word wins, and nobody has two names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import TOKEN, World
from mining import Mining

from data import provenance
from data.errors import StudyError
from data.store import Study
from miner.merging import merge

Start = Callable[..., Mining]
NAME = "example/tensors"


def joined(ours: Mining, theirs: Mining) -> dict[str, Any]:
    ended = ours.command("miner", "merge", theirs.study, "--study", ours.study, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)  # type: ignore[no-any-return]


@pytest.fixture
def ours(mining: Start) -> Mining:
    return mining(World.small(), "ours")


@pytest.fixture
def theirs(ours: Mining) -> Mining:
    return replace(ours, study=ours.study.with_name("theirs"))


def mined(at: Mining) -> dict[str, Any]:
    return {
        view: at.rows(f"SELECT * FROM {view} ORDER BY ALL")
        for view in ("issues", "comments", "artifact_aliases")
    }


def test_what_only_the_other_has_arrives_with_our_pseudonyms(ours: Mining, theirs: Mining) -> None:
    theirs.fetch(NAME, token=TOKEN)
    ours.fetch(NAME, "--state", "open", token=TOKEN)
    before = set(ours.column("SELECT author FROM issues"))
    found = joined(ours, theirs)
    assert found["responses"] > 0
    assert ours.numbers() == theirs.numbers()
    assert before <= set(ours.column("SELECT author FROM issues"))
    assert not set(theirs.column("SELECT author FROM issues")) & set(
        ours.column("SELECT author FROM issues WHERE author <> 'person_unknown'")
    )


def test_the_newest_word_wins_whoever_heard_it(ours: Mining, theirs: Mining) -> None:
    theirs.fetch(NAME, token=TOKEN)
    number = min(theirs.numbers())
    ours.world.touch(number, title="newer")
    ours.fetch(NAME, token=TOKEN)
    joined(ours, theirs)
    assert ours.column("SELECT title FROM issues WHERE number = ?", str(number)) == ["newer"]
    joined(theirs, ours)
    assert theirs.column("SELECT title FROM issues WHERE number = ?", str(number)) == ["newer"]


def test_merging_again_changes_nothing(ours: Mining, theirs: Mining) -> None:
    theirs.fetch(NAME, token=TOKEN)
    ours.fetch(NAME, "--no-comments", token=TOKEN)
    joined(ours, theirs)
    before = mined(ours)
    again = joined(ours, theirs)
    assert (again["responses"], again["rows"]) == (0, {})
    assert mined(ours) == before
    rebuilt = ours.command("miner", "rebuild", "--study", ours.study)
    assert rebuilt.returncode == 0
    assert mined(ours) == before


def test_the_next_fetch_goes_on_from_both(ours: Mining, theirs: Mining) -> None:
    theirs.fetch(NAME, token=TOKEN)
    joined(ours, theirs)
    found = ours.fetch(NAME, token=TOKEN)
    assert (found["requests"], found["not_modified"]) == (1, 1)


def test_what_one_side_forgot_stays_forgotten(ours: Mining, theirs: Mining) -> None:
    theirs.fetch(NAME, token=TOKEN)
    ours.fetch(NAME, token=TOKEN)
    first, second = sorted(ours.numbers())[:2]
    for at, number in ((ours, first), (theirs, second)):
        ended = at.command("miner", "forget", f"github:{NAME}#{number}", "--study", at.study)
        assert ended.returncode == 0, ended.stderr
    joined(ours, theirs)
    assert ours.numbers() & {first, second} == set()


def test_rounds_that_differ_are_refused(ours: Mining, theirs: Mining) -> None:
    for at, code in ((ours, "A1"), (theirs, "B1")):
        with Study(at.study).writing() as writer:
            run = provenance.begin("annotation import", {})
            provenance.record(writer, run, "ok")
            writer.execute(
                "INSERT INTO store.final_label VALUES "
                "('pilot', 'x', 'x', 'hp-defects', '1', ?, 'imported', ?)",
                [code, run.run_id],
            )
    ended = ours.command("miner", "merge", theirs.study, "--study", ours.study)
    assert ended.returncode == 1
    assert "both studies have a round pilot" in ended.stderr
    assert ours.column("SELECT code FROM final_labels") == ["A1"]


def test_what_cannot_be_merged_is_refused(ours: Mining, tmp_path: Path) -> None:
    ours.fetch(NAME, "--no-comments", token=TOKEN)
    run = provenance.begin("miner merge", {})
    with pytest.raises(StudyError, match="there is no study"):
        merge(Study(ours.study), Study(tmp_path / "nothing"), run)
    with pytest.raises(StudyError, match="into itself"):
        merge(Study(ours.study), Study(ours.study), run)

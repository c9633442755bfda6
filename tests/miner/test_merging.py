"""Two studies of a team become one: the newest word wins, and nobody has two names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from forgetful import LOGIN, WORDS, everything, she_says, study_of
from loopback import TOKEN, World
from mining import Mining
from settled import put_final

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner import archive
from faultatlas.miner.keeping.merging import merge

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
    with study_of(at).reading() as reader:
        return {
            view: reader.rows(f"SELECT * FROM {view} ORDER BY ALL")
            for view in ("issues", "comments", "artifact_aliases")
        }


def tables(at: Mining) -> dict[str, list[dict[str, Any]]]:
    return everything(study_of(at))


def files(at: Mining) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in at.study.iterdir()}


def forgets(at: Mining, subject: str) -> str:
    ended = at.command("miner", "forget", subject, "--study", at.study, "--json")
    assert ended.returncode == 0, ended.stderr
    return str(json.loads(ended.stdout)["subject"])


def label(at: Mining, artifact: str, round_name: str, code: str = "A1") -> None:
    with Study(at.study).writing() as writer:
        run = provenance.begin("annotation import", {})
        provenance.record(writer, run, "ok")
        put_final(writer, artifact, code, round_name=round_name, run_id=run.run_id)


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
    stored = tables(ours)
    again = joined(ours, theirs)
    assert (again["responses"], again["rows"]) == (0, {})
    assert tables(ours) == stored
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


# People and artifacts that one of them has forgotten


@pytest.mark.parametrize("key", ["the same", "the same, but not with it", "another"])
def test_whom_the_other_forgot_is_forgotten_here(ours: Mining, theirs: Mining, key: str) -> None:
    she_says(ours.world, WORDS)
    ours.fetch(NAME, token=TOKEN)
    assert any(WORDS.encode() in content for content in files(ours).values())
    if key != "another":
        theirs.study.mkdir()
        (theirs.study / "study.key").write_bytes((ours.study / "study.key").read_bytes())
    theirs.fetch(NAME, token=TOKEN)
    there = forgets(theirs, LOGIN)
    if key == "the same, but not with it":
        (theirs.study / "study.key").unlink()
    found = joined(ours, theirs)
    assert found["forgotten_people_unknown_here"] == 0
    here = ours.column("SELECT subject FROM store.forgotten WHERE kind = 'person' ORDER BY 1")
    assert there in here
    assert len(here) == (2 if key == "another" else 1)
    assert ours.numbers() == theirs.numbers()
    with Study(ours.study).reading() as reader:
        assert not [1 for _, each in archive.replay(reader) if LOGIN.encode() in each.body]
    for content in files(ours).values():
        assert LOGIN.encode() not in content
        assert WORDS.encode() not in content
    she_says(ours.world, "again")
    ours.fetch(NAME, token=TOKEN)
    assert ours.column("SELECT count(*) FROM comments WHERE body = 'again'") == [0]
    stored = tables(ours)
    assert joined(ours, theirs)["rows"] == {}
    assert tables(ours) == stored


@pytest.mark.parametrize("has_key", [True, False])
def test_who_cannot_be_found_is_counted_once(
    ours: Mining, theirs: Mining, *, has_key: bool
) -> None:
    theirs.fetch(NAME, token=TOKEN)
    forgets(theirs, LOGIN)
    if not has_key:
        (theirs.study / "study.key").unlink()
    if not has_key:
        ours.fetch(NAME, token=TOKEN)
    before = files(theirs)
    assert joined(ours, theirs)["forgotten_people_unknown_here"] == 1
    assert joined(ours, theirs)["forgotten_people_unknown_here"] == 0
    assert files(theirs) == before  # no key is made for it


def test_what_we_forgot_does_not_come_back_by_labels_or_marks(ours: Mining, theirs: Mining) -> None:
    ours.fetch(NAME, token=TOKEN)
    theirs.fetch(NAME, token=TOKEN)
    artifact = f"github:{NAME}#{min(ours.numbers())}"
    forgets(ours, artifact)
    label(theirs, artifact, "pilot")
    found = joined(ours, theirs)
    assert "settlement" not in found["rows"]
    named = [name for name, rows in tables(ours).items() if f"'{artifact}'" in str(rows)]
    assert named == ["forgotten"]
    stored = tables(ours)
    joined(ours, theirs)
    assert tables(ours) == stored


# Labels


def test_final_labels_are_united_or_refused(ours: Mining, theirs: Mining) -> None:
    ours.fetch(NAME, "--no-comments", token=TOKEN)
    for at in (ours, theirs):
        label(at, "stackoverflow:1", "both")
    label(theirs, "stackoverflow:2", "theirs")
    label(theirs, "stackoverflow:3", "both")
    assert joined(ours, theirs)["rows"]["settlement"] == 2
    assert ours.rows("SELECT round, artifact_id FROM final_labels ORDER BY ALL") == [
        ("both", "stackoverflow:1"),
        ("both", "stackoverflow:3"),
        ("theirs", "stackoverflow:2"),
    ]
    label(ours, "stackoverflow:4", "both", "B1")
    label(theirs, "stackoverflow:4", "both", "B2")
    before = tables(ours)
    ended = ours.command("miner", "merge", theirs.study, "--study", ours.study)
    assert ended.returncode == 1
    assert "both studies have a round both, with different final labels" in ended.stderr
    assert "stackoverflow:4: B1 here, B2 there" in ended.stderr
    assert tables(ours) == before


def test_a_label_of_what_is_forgotten_makes_no_difference(ours: Mining, theirs: Mining) -> None:
    for at in (ours, theirs):
        label(at, "stackoverflow:1", "both")
    label(ours, "stackoverflow:2", "both")
    label(theirs, "stackoverflow:2", "both", "B1")
    forgets(theirs, "stackoverflow:2")
    assert joined(ours, theirs)["rows"]["forgotten"] == 1
    assert ours.column("SELECT artifact_id FROM final_labels") == ["stackoverflow:1"]


# Order, and what goes wrong


def test_it_does_not_matter_who_merges_whom(ours: Mining, theirs: Mining) -> None:
    ours.fetch(NAME, "--timeline", token=TOKEN)
    theirs.study.mkdir()
    (theirs.study / "study.key").write_bytes((ours.study / "study.key").read_bytes())
    first, second, third = sorted(ours.numbers())[:3]
    ours.world.touch(first, title="newer", comment="more")
    theirs.fetch(NAME)
    ours.world.delete(second)
    ours.world.touch(third, labels=["bug"])
    ours.fetch(NAME, "--verify", token=TOKEN)
    copy = replace(theirs, study=theirs.study.with_name("copy"))
    shutil.copytree(theirs.study, copy.study)
    joined(copy, ours)
    joined(ours, theirs)
    assert mined(ours) == mined(copy)
    gone = "SELECT number FROM issues WHERE gone_at IS NOT NULL"
    assert ours.column(gone) == [str(second)]  # their older list does not bring it back
    assert ours.rows("SELECT response_id, fetched_at FROM responses ORDER BY number") == copy.rows(
        "SELECT response_id, fetched_at FROM responses ORDER BY number"
    )


def test_the_other_study_is_not_touched(ours: Mining, theirs: Mining) -> None:
    theirs.fetch(NAME, token=TOKEN)
    with Study(theirs.study).writing(keep_log=True) as writer:
        writer.execute("INSERT INTO store.wanted VALUES ('github:example/tensors#1', 'r')")
        writer.execute(
            "INSERT INTO store.result (run_id, result, analysis, parameters, content) "
            "VALUES ('r', 'mine', 'a', '{}', '{}')"
        )
    before = files(theirs)
    assert "study.duckdb.wal" in before
    found = joined(ours, theirs)
    assert files(theirs) == before
    assert found["rows"]["wanted"] == 1  # what stands in the log is taken as well
    assert found["left_out"] == {"result": 1}


_KILLED = """
import os, signal, sys
from pathlib import Path
from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner.keeping import merging
merging.erase_in = merging.rebuild_in = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
ours, theirs = (Study(Path(path)) for path in sys.argv[1:])
merging.merge(ours, theirs, provenance.begin("miner merge", {}))
"""


def test_killed_in_between_nothing_has_changed(
    ours: Mining, theirs: Mining, start: Callable[..., Popen[str]]
) -> None:
    ours.fetch(NAME, "--state", "open", token=TOKEN)
    theirs.fetch(NAME, token=TOKEN)
    before = tables(ours)
    assert start("merge.py", _KILLED, ours.study, theirs.study).wait() == -9
    assert tables(ours) == before
    joined(ours, theirs)
    assert ours.numbers() == theirs.numbers()


def test_what_cannot_be_merged_is_refused(ours: Mining, tmp_path: Path) -> None:
    ours.fetch(NAME, "--no-comments", token=TOKEN)
    run = provenance.begin("miner merge", {})
    with pytest.raises(StudyError, match="there is no study"):
        merge(Study(ours.study), Study(tmp_path / "nothing"), run)
    with pytest.raises(StudyError, match="into itself"):
        merge(Study(ours.study), Study(ours.study), run)

"""A second reading brings what is new, also after history was rewritten, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository, linear

TABLES = ("commit", "commit_diff", "commit_file", "commit_hunk", "commit_function", "keyword_hit",
          "git_walk", "run")  # fmt: skip


def everything(reading: Reading) -> dict[str, list[Any]]:
    return {name: reading.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in TABLES}


def contents(reading: Reading) -> dict[str, list[Any]]:
    """Without runs and times."""
    return {name: reading.without_runs(f"store.{name}") for name in TABLES[:-2]}


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return linear(tmp_path / "history.git", 8)


def tip(made: Repository, name: str = "main") -> str:
    return made.git("rev-parse", name).decode()


def test_an_unchanged_repository_changes_no_row(made: Repository, reading: Reading) -> None:
    first = reading.read(made.folder)
    before = everything(reading)
    again = reading.read(made.folder)
    assert (first["changed"], again["changed"]) == (True, False)
    assert again["stored"] == first["stored"]
    assert everything(reading) == before


def test_the_default_words_and_what_they_select(made: Repository, reading: Reading) -> None:
    ended = reading.run(made.folder)
    assert ended.stderr == ""
    assert "matching bugfix" in ended.stdout
    assert "--keywords names other words" in " ".join(ended.stdout.split())
    # `prefix` is not `fix`.
    assert reading.one("SELECT count(*), count(diff) FROM commits") == (8, 4)
    assert (
        reading.one("SELECT count(*) FROM commits WHERE diff IS NULL AND keyword_hits = MAP {}")
        == 4
    )


def test_only_new_commits_are_read(made: Repository, reading: Reading) -> None:
    reading.read(made.folder)
    old = tip(made)
    made.commit({"a.py": b"x = 1\n"}, b"fix it", [old])
    found = reading.read(made.folder)
    assert (found["rows"]["commits_new"], found["rows"]["diffs_read"]) == (1, 1)
    assert reading.rows("SELECT seen FROM git_walks ORDER BY number") == [([],), ([old],)]


def test_other_words_read_only_the_changes_that_are_missing(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    found = reading.read(made.folder, "--keywords", "bugfix", "--keywords", "ml")
    both = found["rows"]["diffs_read"]
    assert (both, found["rows"]["commits_matching"]) == (4, 4)
    more = reading.read(made.folder, "--all")
    assert (more["rows"]["commits_new"], more["rows"]["diffs_read"]) == (0, 8 - both)
    other = Reading(reading.command, tmp_path / "other")
    other.study.mkdir()
    shutil.copy(reading.study / "study.key", other.study / "study.key")
    other.read(made.folder, "--all", "--keywords", "bugfix", "--keywords", "ml")
    assert contents(reading) == contents(other)


def test_a_study_s_own_words(made: Repository, reading: Reading) -> None:
    folder = reading.study / "lexicons"
    folder.mkdir(parents=True)
    (folder / "own.txt").write_text("page\n")
    assert reading.read(made.folder, "--keywords", "own")["rows"]["diffs_read"] == 2
    (folder / "own.txt").write_text("page\nprefix\n")
    found = reading.read(made.folder, "--keywords", "own")
    assert (found["rows"]["diffs_read"], found["stored"]["matching"]) == (2, 4)
    assert reading.one("SELECT count(DISTINCT reading) FROM keyword_hits") == 1


def test_functions_can_be_asked_for_later(made: Repository, reading: Reading) -> None:
    reading.read(made.folder, "--no-functions")
    assert reading.one("SELECT count(*) FROM commit_functions") == 0
    reading.read(made.folder)
    late = contents(reading)
    assert late["commit_function"]
    assert reading.one("SELECT count(*) FROM store.commit_diff") == 4
    assert reading.one(
        "SELECT count(DISTINCT (artifact_id, position)), count(*) FROM store.commit_file"
    ) == (4, 4)


def test_after_a_force_push_commits_are_gone_and_may_come_back(
    made: Repository, reading: Reading
) -> None:
    reading.read(made.folder)
    old = tip(made)
    parent = made.git("rev-parse", "main~2").decode()
    new = made.commit({"a": b"1\n"}, b"fix anew", [parent])
    found = reading.read(made.folder)
    assert (found["rows"]["gone"], found["rows"]["commits_new"]) == (2, 1)
    gone = (
        "SELECT sha FROM artifacts JOIN commits USING (artifact_id) "
        "WHERE artifacts.gone_reason = 'unreachable'"
    )
    assert len(reading.rows(gone)) == 2
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "--quiet", "--prune=now")
    assert reading.read(made.folder)["changed"] is False
    made.commit({"a": b"2\n"}, b"fix more", [new])
    assert reading.read(made.folder)["rows"]["gone"] == 0
    assert len(reading.rows(gone)) == 2
    assert old in {sha for (sha,) in reading.rows(gone)}


def test_what_comes_back_is_not_gone(made: Repository, reading: Reading) -> None:
    reading.read(made.folder)
    old, parent = tip(made), made.git("rev-parse", "main~1").decode()
    made.point("main", parent)
    assert reading.read(made.folder)["rows"]["gone"] == 1
    made.point("main", old)
    assert reading.read(made.folder)["rows"]["came_back"] == 1
    assert reading.one("SELECT count(gone_at) FROM commits") == 0


def test_branches(made: Repository, reading: Reading) -> None:
    side = made.commit({"s": b"1\n"}, b"fix aside", [tip(made)], branch="side")
    assert reading.read(made.folder)["stored"]["commits"] == 8
    assert reading.read(made.folder, "--all-branches")["stored"]["commits"] == 9
    # HEAD's branch does not lead to it, another one does.
    assert reading.read(made.folder)["rows"]["gone"] == 0
    made.git("update-ref", "-d", "refs/heads/side")
    assert reading.read(made.folder)["rows"]["gone"] == 1
    assert reading.one("SELECT sha FROM commits WHERE gone_at IS NOT NULL") == side


def test_since(made: Repository, reading: Reading) -> None:
    made.commit({"a": b"1\n"}, b"fix late", [tip(made)], committer=b"A <a> 1700000000 +0000")
    assert reading.read(made.folder, "--since", "2023-01-01")["stored"]["commits"] == 1
    found = reading.read(made.folder)
    assert (found["stored"]["commits"], found["rows"]["commits_new"]) == (9, 8)


def test_another_clone_of_the_project_that_is_behind_makes_nothing_gone(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    made.git("config", "remote.origin.url", "https://github.com/Own/History.git")
    shutil.copytree(made.folder, tmp_path / "behind.git")
    made.commit({"a": b"1\n"}, b"fix", [tip(made)])
    reading.read(made.folder)
    found = reading.read(tmp_path / "behind.git")
    assert found["project"] == "git:own/history"
    assert (found["rows"]["commits_new"], found["rows"]["gone"]) == (0, 0)


@pytest.mark.parametrize("words", [("--any-keyword",), ("--keywords", "no-such"), ("--since", "x")])
def test_wrong_words_are_refused(
    made: Repository, reading: Reading, words: tuple[str, ...]
) -> None:
    ended = reading.run(made.folder, *words)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error:")

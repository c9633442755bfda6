"""A second reading brings what is new, also after history was rewritten, and nothing else."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository, linear

from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner.commits import clones, git, mining
from faultatlas.miner.commits.walks import Wishes

TABLES = ("commit", "commit_diff", "commit_file", "commit_hunk", "commit_function", "keyword_hit",
          "git_walk", "run")  # fmt: skip


def everything(reading: Reading) -> dict[str, list[Any]]:
    with Study(reading.study).reading() as reader:
        return {name: reader.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in TABLES}


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


def copied(made: Repository, to: Path) -> Repository:
    """The same history and project in another place."""
    made.git("config", "remote.origin.url", "https://github.com/Own/History.git")
    shutil.copytree(made.folder, to)
    other = Repository(to)
    other.made = 100  # so that its commits are others
    return other


GONE = "SELECT sha FROM commits WHERE gone_at IS NOT NULL"


def test_a_branch_that_another_place_has_is_not_gone(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    other = copied(made, tmp_path / "other.git")
    side = made.commit({"s": b"1\n"}, b"fix aside", [tip(made)], branch="side")
    reading.read(made.folder, "--all-branches")
    made.commit({"t": b"1\n"}, b"fix on", [tip(made)])
    reading.read(made.folder)  # HEAD only, though the branch is still there
    late = other.commit({"q": b"1\n"}, b"fix q", [tip(other)])
    reading.read(other.folder)
    other.point("main", f"{late}~1")
    assert reading.read(other.folder)["rows"]["gone"] == 1
    assert reading.one(GONE) == late != side


@pytest.mark.parametrize("is_there", [True, False])
def test_what_the_study_does_not_have_does_not_hide_what_is_behind_it(
    made: Repository, reading: Reading, tmp_path: Path, *, is_there: bool
) -> None:
    """As after `miner forget`: the chain of stored commits has a gap."""
    other = copied(made, tmp_path / "other.git")
    made.commit({"s": b"1\n"}, b"fix here", [tip(made)])
    late = other.commit({"q": b"1\n"}, b"fix there", [other.git("rev-parse", "main~7").decode()])
    reading.read(made.folder)
    reading.read(other.folder)
    gap = made.git("rev-parse", "main~3").decode()
    with Study(reading.study).writing() as writer:
        writer.execute("DELETE FROM store.commit WHERE sha = ?", [gap])
    if not is_there:
        made.folder.rename(tmp_path / "moved.git")
    other.point("main", f"{late}~1")
    reading.read(other.folder)
    # Without the other place it is not known what leads to it, so nothing is marked.
    assert reading.rows(GONE) == ([(late,)] if is_there else [])


def test_one_clone_by_two_addresses(
    made: Repository, reading: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(made.folder, tmp_path / "served" / "own" / "layers.git")
    served = Repository(tmp_path / "served" / "own" / "layers.git")
    settings = tmp_path / "settings"
    settings.write_text(
        f'[url "file://{tmp_path}/served/"]\n'
        "\tinsteadOf = https://github.com/\n\tinsteadOf = git@github.com:\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    names = ("own/layers", "git@github.com:own/layers.git")
    for name in names:
        reading.read(name)
    old = tip(served)
    served.point("main", "main~2")
    assert reading.read(names[0])["rows"]["gone"] == 2
    served.point("main", old)
    assert reading.read(names[1])["rows"]["came_back"] == 2
    assert reading.one("SELECT count(DISTINCT place) FROM git_walks") == 2


def test_a_walk_that_was_broken_off_elsewhere_is_not_read_again_for_ever(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    other = copied(made, tmp_path / "other.git")
    reading.read(made.folder)
    with Study(reading.study).writing() as writer:
        writer.execute("UPDATE store.git_walk SET is_complete = false")
    shutil.rmtree(made.folder)
    assert reading.read(other.folder)["changed"] is True
    assert reading.read(other.folder)["changed"] is False


def test_what_was_stored_is_kept_until_the_new_rows_come(
    made: Repository, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading.read(made.folder, "--no-functions")
    before = reading.without_runs("store.commit_file")

    def fail(*_words: Any) -> None:
        raise StudyError("the power went", "Try again.")

    with monkeypatch.context() as patched:
        patched.setattr("faultatlas.miner.commits.diffs._optimistic", fail)
        assert reading.run(made.folder).returncode == 1
    assert reading.without_runs("store.commit_file") == before
    reading.read(made.folder)
    assert reading.without_runs("store.commit_file") == before


LONGEST_S = 100  # then something is wrong

# A git that stops before it prints changes: it tells the test, and waits for its word.
STOPPING = """\
#!/bin/sh
case "$*" in *diff-tree*--stdin*-p*) echo here > {folder}/here; read word < {folder}/go;; esac
exec {git} "$@"
"""


def started(study: Path, place: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    words = [
        "-c",
        "from faultatlas.report.start import miner; miner()",
        "commits",
        str(place),
        "--all",
    ]
    return subprocess.Popen(
        [sys.executable, *words, "--study", str(study)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_two_readings_at_once_take_turns(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    reading.read(made.folder)
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "git"
    program.write_text(STOPPING.format(folder=folder, git=shutil.which("git")))
    program.chmod(0o755)
    for name in ("here", "go"):
        os.mkfifo(folder / name)
    # Opened for both, so that nobody waits for the other to open it.
    here, go = (os.open(folder / name, os.O_RDWR) for name in ("here", "go"))
    root = str(Path(mining.__file__).parents[2])
    usual = {**os.environ, "PYTHONPATH": root}
    slow = {**usual, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    with started(reading.study, made.folder, slow) as first:
        assert select.select([here], [], [], LONGEST_S)[0]
        with started(reading.study, made.folder, usual) as second:
            assert second.stderr is not None
            said = second.stderr.readline()
            os.write(go, b"go\n")
            first.communicate(timeout=LONGEST_S)
            second.communicate(timeout=LONGEST_S)
    os.close(here)
    os.close(go)
    assert f"waiting for process {first.pid} " in said
    assert "reads local/history into this study" in said
    assert (first.returncode, second.returncode) == (0, 0)
    assert reading.one("SELECT count(*), count(DISTINCT artifact_id) FROM store.commit_diff") == (
        8,
        8,
    )
    assert reading.one("SELECT count(*) FROM git_walks") == 2
    assert not list(reading.study.glob(".commits-*"))


def test_a_reading_whose_place_was_taken_stops(made: Repository, reading: Reading) -> None:
    """Where there are no locks, such as on another machine with the same disk."""
    study = Study(reading.study)
    wishes = Wishes(everything=True)

    def disturb(_done: int, _total: int, what: str) -> None:
        if what == "messages":
            with study.writing() as writer:
                writer.execute("DELETE FROM store.git_walk")

    with git.viewing(clones.open_place(clones.at(str(made.folder)))) as view:
        ours = mining.Reading(
            directory=reading.study,
            opened=study.writing,
            view=view,
            project="local/history",
            place=str(made.folder),
            tips={"HEAD": tip(made)},
            wishes=wishes,
            run_id="run",
            started_at=datetime(2024, 1, 1),  # noqa: DTZ001  (UTC)
            options=wishes.options(),
            earlier=[],
            progress=disturb,
        )
        with pytest.raises(StudyError, match="another reading of local/history has begun"):
            ours.run()
    assert reading.one("SELECT count(*) FROM store.commit_diff") == 0


def test_two_repositories_of_one_name_are_told(reading: Reading, tmp_path: Path) -> None:
    one = linear(tmp_path / "one" / "model.git", 2)
    two = Repository(tmp_path / "two" / "model.git")
    two.commit({"z": b"1\n"}, b"fix another thing")
    three = Path(shutil.copytree(one.folder, tmp_path / "three" / "model.git"))
    assert reading.read(one.folder)["unrelated_places"] == []
    assert reading.read(three)["unrelated_places"] == []
    found = reading.read(two.folder)
    assert found["unrelated_places"] == [str(one.folder), str(three)]
    said = reading.run(two.folder).stderr
    assert str(one.folder) in said
    assert str(two.folder) in said
    assert "--study" in said


@pytest.mark.parametrize("words", [("--any-keyword",), ("--keywords", "no-such"), ("--since", "x")])
def test_wrong_words_are_refused(
    made: Repository, reading: Reading, words: tuple[str, ...]
) -> None:
    ended = reading.run(made.folder, *words)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error:")

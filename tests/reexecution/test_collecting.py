"""Bugs come into a study: nothing that a person did there is lost, and no bug stops the others."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from bug_making import make_bug
from executed import new_study
from population import Population

from faultatlas.analysis.reexecution import collecting
from faultatlas.analysis.reexecution.artifacts import reading
from faultatlas.analysis.reexecution.importing.versions_by_date import python_on
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study

CRASH, WORKS = "raise ValueError('shape')", "print('done')"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return new_study(tmp_path / "study")


@pytest.fixture
def bugs(tmp_path: Path) -> Path:
    home = tmp_path / "set"
    for name in ("a", "b"):
        make_bug(home / name, buggy=CRASH, fixed=WORKS)
    return home


def test_what_a_person_mended_is_not_overwritten(study: Study, bugs: Path) -> None:
    collecting.import_bugs(study, bugs)
    mine = study.directory / "bugs" / "made" / "a"
    text = (mine / "bug.toml").read_text() + "\n# my oracle"
    (mine / "bug.toml").write_text(text)
    (mine / "data").mkdir()
    (mine / "data" / "fetched.csv").write_text("1,2")
    again = collecting.import_bugs(study, bugs)
    assert (again.unchanged, again.kept) == (("made/b",), ("made/a",))
    for name in ("a", "b"):
        (bugs / name / "buggy" / "main.py").write_text("raise KeyError(1)")
    changed = collecting.import_bugs(study, bugs)
    assert (changed.changed, changed.kept) == (("made/b",), ("made/a",))
    assert (mine / "bug.toml").read_text() == text
    assert (mine / "data" / "fetched.csv").read_text() == "1,2"
    assert (mine / "buggy" / "main.py").read_text() == CRASH
    assert changed.count == 2
    (mine / "bug.toml").write_text("[bug")  # in the middle of mending it
    broken = collecting.import_bugs(study, bugs)
    assert "as it is here, made/a" in broken.problems[0]
    assert (mine / "bug.toml").read_text() == "[bug"


def test_what_was_put_there_by_hand_is_not_overwritten(study: Study, bugs: Path) -> None:
    hand = make_bug(study.directory / "bugs" / "made" / "a", buggy="mine", fixed=WORKS)
    found = collecting.import_bugs(study, bugs)
    assert (found.new, found.kept) == (("made/b",), ("made/a",))
    assert (hand / "buggy" / "main.py").read_text() == "mine"


def test_a_killed_import_of_the_same_process_number_is_swept(study: Study, bugs: Path) -> None:
    home = study.directory / "bugs"
    dead = home / f".importing-{os.getpid()}"
    (dead / "0").mkdir(parents=True)
    alive = home / ".importing-other"
    alive.mkdir()
    lock = os.open(alive, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert collecting.import_bugs(study, bugs).count == 2
        assert [each.name for each in home.glob(".importing-*")] == [alive.name]
    finally:
        os.close(lock)


def test_links_that_would_not_stay_inside_are_left_out(study: Study, bugs: Path) -> None:
    side = bugs / "a" / "buggy"
    (side / "whole.py").symlink_to(side / "main.py")  # an absolute one
    (side / "round.py").symlink_to("../../a/buggy/main.py")  # out and in again
    (side / "near.py").symlink_to("main.py")
    found = collecting.import_bugs(study, bugs)
    assert found.new == ("made/a", "made/b")
    assert [note.split()[1] for note in found.notes] == ["buggy/round.py", "buggy/whole.py"]
    kept = study.directory / "bugs" / "made" / "a" / "buggy"
    assert sorted(each.name for each in kept.iterdir()) == ["main.py", "near.py"]


def test_files_that_cannot_be_hashed_are_one_bugs_problem(study: Study, bugs: Path) -> None:
    (bugs / "a" / "buggy" / "other.py").symlink_to("../fixed/main.py")  # into the other side
    found = collecting.import_bugs(study, bugs)
    assert found.new == ("made/b",)
    assert "made/a" in found.problems[0]
    assert not (study.directory / "bugs" / "made" / "a").exists()
    # By hand, before it is known and after: the others can be run.
    by_hand = make_bug(study.directory / "bugs" / "made" / "c", buggy=CRASH, fixed=WORKS)
    os.mkfifo(by_hand / "buggy" / "pipe")
    assert [each.bug_id for each in collecting.known(study)] == ["made/b"]
    (by_hand / "buggy" / "pipe").unlink()
    known = collecting.known(study)
    os.mkfifo(by_hand / "buggy" / "pipe")
    read, unread = collecting.read_all(known)
    assert [each.bug_id for each in read] == ["made/b"]
    assert "no plain file" in unread["made/c"]


def test_two_of_a_name_are_told_and_neither_is_lost(study: Study, tmp_path: Path) -> None:
    home = tmp_path / "pairs"
    for name in ("one two", "one-two", "größe"):
        for side, text in (("buggy", CRASH), ("fixed", WORKS)):
            (home / name / side).mkdir(parents=True)
            (home / name / side / "main.py").write_text(text)
    for _ in range(2):
        found = collecting.import_bugs(study, home)
        assert found.count == 2
        (told,) = found.problems
        assert told.startswith("a second one-two (in one-two)")
        assert "rename" in told
        assert (study.directory / "bugs" / "pairs" / "one-two" / "bug.toml").is_file()
        assert (study.directory / "bugs" / "pairs" / "gr-e" / "bug.toml").is_file()


def test_a_bug_that_is_left_out_is_a_line_without_paths_of_this_machine(
    study: Study, bugs: Path
) -> None:
    (bugs / "c").mkdir()
    (bugs / "c" / "bug.toml").write_text("[bug]\ntitel = 'x'\n")
    found = collecting.import_bugs(study, bugs)
    (told,) = found.problems
    assert told.startswith("c/bug.toml: [bug] ")
    assert ", and 2 more" in told
    assert "\n" not in told
    assert str(bugs) not in told


def test_a_wrong_importer_is_told_which_one_is_right(study: Study, bugs: Path) -> None:
    with pytest.raises(StudyError, match="as bugsinpy") as caught:
        collecting.import_bugs(study, bugs, "bugsinpy")
    assert "It looks like bugs" in caught.value.hint
    assert "--as bugs" in caught.value.hint


def test_a_bug_that_is_too_large_is_left_out(
    study: Study, bugs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faultatlas.analysis.reexecution.importing.copying.MOST_MB", 0.5)
    (bugs / "a" / "buggy" / "large").write_bytes(bytes(1 << 20))
    found = collecting.import_bugs(study, bugs)
    assert found.new == ("made/b",)
    assert "left out" in found.problems[0]


def test_the_study_says_the_day_of_a_commit_or_post(study: Study, tmp_path: Path) -> None:
    url = "https://github.com/who/what"
    folder = tmp_path / "projects" / "what" / "bugs" / "1"
    folder.mkdir(parents=True)
    (folder.parents[1] / "project.info").write_text(f'github_url="{url}"\n')
    (folder / "run_test.sh").write_text("python -m unittest t\n")

    def python(sha: str) -> str:
        commits = f'buggy_commit_id="{"b" * 40}"\nfixed_commit_id="{sha}"\n'
        (folder / "bug.info").write_text(commits)
        collecting.import_bugs(study, tmp_path, "bugsinpy")
        bug = reading.read(study.directory / "bugs" / "bugsinpy" / "what-1")
        return bug.environment.python

    unknown = python("c" * 40)
    (known,) = Population(study).commits("a fix", project="who/what")
    with study.writing() as writer:
        writer.execute("UPDATE store.commit SET created_at = TIMESTAMP '2014-03-01 23:00:00'")
    assert python(known.partition("@")[2]) == python_on("2014-03-01") != unknown

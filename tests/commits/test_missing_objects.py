"""Repositories that lack something: the rest is read, and what is missing is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository

KEPT = {"kept.py": b"def f():\n    return 1\n"}
DIFFS = "SELECT diff, count(*) FROM commits GROUP BY ALL ORDER BY ALL"


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "odd.git")


@pytest.fixture
def shas(made: Repository) -> list[str]:
    """A commit, one that changes two files, and one behind it."""
    text = b"".join(b"line %d\n" % number for number in range(9))
    first = made.commit({"kept.py": b"def f():\n    pass\n", "lost": text})
    second = made.commit({**KEPT, "lost": text + b"more\n"}, b"fix", [first])
    third = made.commit({**KEPT, "lost": text + b"more\n", "new": b"1\n"}, b"fix", [second])
    return [first, second, third]


def lost_blob(made: Repository, sha: str) -> str:
    return made.git("rev-parse", f"{sha}:lost").decode()


@pytest.mark.parametrize("how", ["remove", "damage"])
def test_of_a_commit_that_lacks_a_blob_the_other_files_are_read(
    made: Repository, shas: list[str], reading: Reading, how: str
) -> None:
    blob = lost_blob(made, shas[1])
    getattr(made, how)(blob)
    found = reading.read(made.folder, "--all", "--functions", code=1)
    assert found["complete"] is False
    assert [each["diff"] for each in found["unreadable"]] == ["part"]
    assert blob in found["unreadable"][0]["problem"]
    assert reading.rows(
        "SELECT path, change, added, deleted, hunks, problem IS NULL FROM commit_files "
        "WHERE sha = ? ORDER BY position", shas[1],
    ) == [
        ("kept.py", "modified", 1, 1, 1, True),
        ("lost", "modified", None, None, None, False),
    ]  # fmt: skip
    assert blob in reading.one("SELECT problem FROM commit_files WHERE problem IS NOT NULL")
    assert reading.rows(DIFFS) == [("part", 1), ("read", 2)]
    functions = "SELECT change, count(*) FROM commit_functions GROUP BY ALL ORDER BY ALL"
    assert reading.rows(functions) == [("added", 1), ("modified", 1)]
    assert reading.one("SELECT outcome FROM runs") == "partial"


def test_what_comes_back_is_read_then(made: Repository, shas: list[str], reading: Reading) -> None:
    blob = lost_blob(made, shas[1])
    content = made.object_file(blob).read_bytes()
    made.remove(blob)
    reading.read(made.folder, "--all", code=1)
    assert reading.read(made.folder, "--all", code=1)["changed"] is False
    made.object_file(blob).write_bytes(content)
    found = reading.read(made.folder, "--all")
    assert found["rows"]["diffs_read"] == 1
    assert reading.rows(DIFFS) == [("read", 3)]
    assert reading.one("SELECT count(*) FROM commit_files") == 5
    assert reading.one("SELECT count(problem) FROM commits") == 0


def test_a_missing_tree_or_commit(made: Repository, shas: list[str], reading: Reading) -> None:
    tree = made.git("rev-parse", f"{shas[1]}^{{tree}}").decode()
    made.remove(tree)
    found = reading.read(made.folder, "--all", code=1)
    assert found["stored"]["commits"] == 3
    assert all(tree in each["problem"] for each in found["unreadable"])
    assert reading.rows(DIFFS) == [("read", 1), ("unreadable", 2)]


def test_a_tree_inside_is_missing(made: Repository, reading: Reading) -> None:
    first = made.commit({"a/b/c": b"1\n", "top": b"1\n"})
    second = made.commit({"a/b/c": b"2\n", "top": b"1\n"}, b"fix", [first])
    third = made.commit({"a/b/c": b"2\n", "top": b"2\n"}, b"fix", [second])
    made.remove(made.git("rev-parse", f"{first}:a/b").decode())
    reading.read(made.folder, "--all", code=1)
    rows = dict(reading.rows("SELECT sha, diff FROM commits"))
    assert rows == {first: "unreadable", second: "unreadable", third: "read"}


def test_a_commit_in_between_is_missing(
    made: Repository, shas: list[str], reading: Reading
) -> None:
    made.remove(shas[1])
    found = reading.read(made.folder, "--all", code=1)
    assert found["missing_commits"] == [shas[1]]
    assert reading.rows("SELECT sha, diff FROM commits") == [(shas[2], "unreadable")]
    assert shas[1] in reading.one("SELECT problem FROM commits")


def clone(made: Repository, to: Path, *words: str) -> None:
    made.git("config", "uploadpack.allowFilter", "true")
    made.git("config", "uploadpack.allowAnySHA1InWant", "true")
    url = f"file://{made.folder}"
    subprocess.run(["git", "clone", "--quiet", "--bare", *words, url, str(to)], check=True)


def test_a_shallow_clone(
    made: Repository, shas: list[str], tmp_path: Path, reading: Reading
) -> None:
    clone(made, tmp_path / "shallow.git", "--depth=2")
    reading.read(tmp_path / "shallow.git", "--all", code=1)
    assert dict(reading.rows("SELECT sha, diff FROM commits")) == {
        shas[1]: "unreadable", shas[2]: "read",
    }  # fmt: skip
    assert "shallow" in reading.one("SELECT problem FROM commits WHERE problem IS NOT NULL")
    subprocess.run(
        ["git", "--git-dir", str(tmp_path / "shallow.git"), "fetch", "--quiet", "--unshallow"],
        check=True,
    )
    reading.read(tmp_path / "shallow.git", "--all")
    assert reading.rows(DIFFS) == [("read", 3)]


def test_a_partial_clone_is_not_fetched_into(
    made: Repository, shas: list[str], tmp_path: Path, reading: Reading
) -> None:
    place = tmp_path / "partial.git"
    clone(made, place, "--filter=blob:none")
    before = sorted(path.name for path in place.rglob("*"))
    found = reading.read(place, "--all", code=1)
    assert found["stored"]["commits"] == len(shas)
    assert reading.rows(DIFFS) == [("part", 3)]
    assert reading.one("SELECT count(*), count(problem), count(old_blob) FROM commit_files") == (
        5,
        5,
        2,
    )
    assert sorted(path.name for path in place.rglob("*")) == before

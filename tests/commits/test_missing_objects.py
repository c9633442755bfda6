"""Repositories that lack something: the rest is read, and what is missing is named."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository, linear

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


@pytest.mark.parametrize("how", ["remove", "damage"])
def test_a_commit_that_comes_back_is_read_with_all_behind_it(
    tmp_path: Path, reading: Reading, how: str
) -> None:
    made = linear(tmp_path / "history.git", 8)
    lost = made.git("rev-parse", "main~4").decode()
    content = made.object_file(lost).read_bytes()
    getattr(made, how)(lost)
    ended = reading.run(made.folder)
    assert ended.returncode == 1
    assert f"git -C {made.folder} fetch --refetch" in ended.stderr
    assert reading.read(made.folder, code=1)["changed"] is False
    made.object_file(lost).write_bytes(content)
    found = reading.read(made.folder)
    assert (found["changed"], found["stored"]["commits"]) == (True, 8)
    assert reading.read(made.folder)["changed"] is False


def test_every_blob_that_is_missing_may_come_back(made: Repository, reading: Reading) -> None:
    sha = made.commit({"p": b"1\n", "q": b"2\n"}, b"fix")
    blobs = [made.git("rev-parse", f"{sha}:{name}").decode() for name in ("p", "q")]
    content = made.object_file(blobs[1]).read_bytes()
    for blob in blobs:
        made.remove(blob)
    reading.read(made.folder, code=1)
    made.object_file(blobs[1]).write_bytes(content)
    reading.read(made.folder, code=1)
    assert reading.rows("SELECT path, added FROM commit_files ORDER BY path") == [
        ("p", None),
        ("q", 1),
    ]
    assert reading.read(made.folder, code=1)["changed"] is False


def test_what_is_damaged_in_the_middle_has_not_come_back(
    made: Repository, reading: Reading
) -> None:
    sha = made.commit({"a": bytes(range(65, 91)) * 900, "b": b"1\n"}, b"fix")
    path = made.object_file(made.git("rev-parse", f"{sha}:a").decode())
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-20])
    assert reading.read(made.folder, code=1)["unreadable"][0]["diff"] == "part"
    assert reading.read(made.folder, code=1)["changed"] is False


def test_what_another_place_does_not_have_keeps_its_record(
    tmp_path: Path, reading: Reading
) -> None:
    """A commit at the edge of a shallow clone, read there, and lost in the repository itself."""
    made = linear(tmp_path / "history.git", 6)
    made.git("config", "remote.origin.url", "https://github.com/o/m.git")
    shallow = tmp_path / "shallow.git"
    clone(made, shallow, "--depth=1")
    url = ("config", "remote.origin.url", "https://github.com/o/m.git")
    subprocess.run(["git", "--git-dir", str(shallow), *url], check=True)
    lost = made.git("rev-parse", "main").decode()
    made.point("main", "main~2")
    made.remove(lost)
    ended = reading.run(shallow, "--all")
    assert f"git -C {shallow} fetch --unshallow" in ended.stderr
    problem = "SELECT diff, problem FROM commits WHERE sha = ?"
    before = reading.one(problem, lost)
    assert before[0] == "unreadable"
    reading.read(made.folder, "--all", code=1)
    assert reading.one(problem, lost) == before


KILLED = """\
#!/bin/sh
case "$*" in *diff-tree*--stdin*-p*) if [ ! -e {folder}/once ]; then
    touch {folder}/once; {git} "$@" | head -c {bytes}; exit 137
fi;; esac
exec {git} "$@"
"""


@pytest.mark.parametrize("last", [b"\n@@ -0", b"\n:000000 100644 0000"])
def test_a_git_that_is_killed_in_the_middle_of_a_line(
    tmp_path: Path, reading: Reading, monkeypatch: pytest.MonkeyPatch, last: bytes
) -> None:
    made = linear(tmp_path / "history.git", 12)
    reading.read(made.folder, "--all")
    whole = {name: reading.without_runs(f"store.{name}") for name in ("commit_file", "commit_hunk")}
    shutil.rmtree(reading.study)
    printed = made.git(
        "diff-tree", "--stdin", "--always", "--format=%x01%H", "--raw", "--no-abbrev", "-r",
        "--root", "-p", "-M", "--full-index", given=made.git("rev-list", "main") + b"\n",
    )  # fmt: skip
    folder = tmp_path / "bin"
    folder.mkdir()
    words = {"folder": folder, "git": shutil.which("git")}
    (folder / "git").write_text(
        KILLED.format(**words, bytes=printed.index(last, len(printed) // 2) + len(last))
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    reading.read(made.folder, "--all")
    assert (folder / "once").exists()
    assert whole == {name: reading.without_runs(f"store.{name}") for name in whole}


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

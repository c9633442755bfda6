"""A file as it was before a commit, byte for byte."""

from __future__ import annotations

import hashlib
import json
import shutil
from itertools import count
from pathlib import Path

import pytest
from commits_reading import Reading
from repositories_on_disk import PERSON, Repository, linear

from faultatlas.data.errors import StudyError
from faultatlas.miner.commits.before import file_before

OLD = b"caf\xe9\r\n\0 no end"
TEXT = b"".join(b"line %d\n" % number for number in range(20))


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "before.git")


@pytest.fixture
def sha(made: Repository, reading: Reading) -> str:
    same: dict[str | bytes, bytes | tuple[str, str]] = {"same": b"1\n", "folder/x": b"4\n"}
    first = made.commit({"a.bin": OLD, "was": TEXT, "gone": b"2\n", **same})
    second = made.commit(
        {"a.bin": b"new", "is": TEXT + b"x\n", "added": b"3\n", **same}, b"fix", [first]
    )
    reading.read(made.folder)
    return second


@pytest.mark.parametrize(
    ("path", "content"), [("a.bin", OLD), ("is", TEXT), ("gone", b"2\n"), ("same", b"1\n")]
)
def test_the_bytes_are_those_of_the_parent(
    sha: str, path: str, content: bytes, reading: Reading
) -> None:
    found = file_before(reading.study, None, sha[:8], path, lambda _message: None)
    assert found.content == content
    assert (found.sha, found.old_path) == (sha, "was" if path == "is" else path)


def test_the_command_prints_them_and_nothing_else(
    sha: str, made: Repository, reading: Reading
) -> None:
    assert reading.run("--show-before", sha, "is").stdout == TEXT.decode()
    assert reading.run(made.folder, "--show-before", sha, "is").stdout == TEXT.decode()
    document = json.loads(reading.run("--show-before", sha, "is", "--json").stdout)
    assert (document["old_path"], document["text"]) == ("was", TEXT.decode())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("SHA", "added"), "was added by"),
        (("SHA", "nowhere"), "there is no file"),
        (("ROOT", "was"), "is the first commit"),
        (("0000000", "was"), "this study has no commit"),
        (("--upload-pack=x", "was"), "is no hash"),
        (("HEAD", "was"), "is no hash"),
        (("SHA" + "0" * 24, "was"), "this study has no commit"),
        (("SHA", ""), "is no path in a repository"),
        (("SHA", "/etc/passwd"), "is no path in a repository"),
        (("SHA", "folder"), "there is no file"),
        (("SHA", "folder/"), "there is no file"),
        (("SHA", "../x"), "is no path in a repository"),
    ],
)
def test_what_is_not_there_is_said(
    sha: str, made: Repository, reading: Reading, words: tuple[str, str], said: str
) -> None:
    root = made.git("rev-parse", f"{sha}~1").decode()
    ended = reading.run(
        "--show-before", words[0].replace("SHA", sha).replace("ROOT", root), words[1]
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("error:")
    assert said in " ".join(ended.stderr.split())
    assert ended.stdout == ""


def test_a_repository_that_is_gone_is_named(sha: str, made: Repository, reading: Reading) -> None:
    made.folder.rename(made.folder.with_name("elsewhere.git"))
    ended = reading.run("--show-before", sha, "is")
    assert ended.returncode == 1
    assert "before.git is not there any more" in " ".join(ended.stderr.split())


@pytest.mark.parametrize("lost", ["{0}^{{tree}}", "{0}~1^{{tree}}", "{0}~1"])
def test_what_is_missing_in_the_repository_is_said(
    sha: str, made: Repository, reading: Reading, lost: str
) -> None:
    made.remove(made.git("rev-parse", lost.format(sha)).decode())
    with pytest.raises(StudyError, match="cannot be compared with its parent") as error:
        shown(reading, sha, "is")
    assert "git fetch --refetch" in error.value.hint


def shown(reading: Reading, sha: str, path: str, repository: Path | None = None) -> bytes:
    named = None if repository is None else str(repository)
    return file_before(reading.study, named, sha, path, lambda _message: None).content


def twins(tree: str) -> tuple[int, int]:
    """Two times that make commits whose hashes begin alike."""
    seen: dict[str, int] = {}
    for time in count(1_600_000_000):
        who = PERSON.decode() + f" {time} +0000"
        content = f"tree {tree}\nauthor {who}\ncommitter {who}\n\nfix".encode()
        head = hashlib.sha1(b"commit %d\0" % len(content) + content).hexdigest()[:4]  # noqa: S324
        if head in seen:
            return seen[head], time
        seen[head] = time
    raise AssertionError


def test_a_short_hash_of_several_commits_lists_them(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    tree = made.tree({"a": b"1\n"})
    whos = [PERSON + f" {time} +0000".encode() for time in twins(tree)]
    shas = sorted(
        made.commit(tree, b"fix", author=who, committer=who, branch=f"b{who[-8:-6].decode()}")
        for who in whos
    )
    assert shas[0][:4] == shas[1][:4]
    other = Repository(tmp_path / "other.git")
    for each, who in ((made, whos[0]), (other, whos[1])):  # one in each project
        tree = each.tree({"a": b"1\n"})
        each.commit(tree, b"fix", author=who, committer=who)
        reading.read(each.folder)
    with pytest.raises(StudyError, match="is ambiguous") as inside:
        shown(reading, shas[0][:4], "a", made.folder)
    assert all(sha in inside.value.message for sha in shas)
    with pytest.raises(StudyError, match="is ambiguous") as over:
        shown(reading, shas[0][:4], "a")
    assert all(f"{sha} (local/" in over.value.message for sha in shas)
    assert "local/before" in over.value.message
    assert "local/other" in over.value.message


def test_a_commit_that_only_an_older_place_has(reading: Reading, tmp_path: Path) -> None:
    older = linear(tmp_path / "older" / "app.git", 2)
    newer = shutil.copytree(older.folder, tmp_path / "newer" / "app.git")
    sha = older.commit(
        {"layers/layer_0.py": b"1\n"}, b"fix", [older.git("rev-parse", "main").decode()]
    )
    reading.read(older.folder)
    reading.read(newer)
    assert b"return x + 0" in shown(reading, sha, "layers/layer_0.py")
    older.folder.rename(tmp_path / "gone.git")
    with pytest.raises(StudyError, match="there is no commit"):
        shown(reading, sha, "layers/layer_0.py")

"""A file as it was before a commit, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository

from miner.commits.before import file_before

OLD = b"caf\xe9\r\n\0 no end"
TEXT = b"".join(b"line %d\n" % number for number in range(20))


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "before.git")


@pytest.fixture
def sha(made: Repository, reading: Reading) -> str:
    first = made.commit({"a.bin": OLD, "was": TEXT, "same": b"1\n", "gone": b"2\n"})
    second = made.commit(
        {"a.bin": b"new", "is": TEXT + b"x\n", "same": b"1\n", "added": b"3\n"}, b"fix", [first]
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
    assert said in " ".join(ended.stderr.split())
    assert ended.stdout == ""


def test_a_repository_that_is_gone_is_named(sha: str, made: Repository, reading: Reading) -> None:
    made.folder.rename(made.folder.with_name("elsewhere.git"))
    ended = reading.run("--show-before", sha, "is")
    assert ended.returncode == 1
    assert "before.git is not there any more" in " ".join(ended.stderr.split())

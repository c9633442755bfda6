"""Commits that break miners: nothing of them is lost, and what cannot be read is named."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commits_reading import Reading
from repositories_on_disk import PERSON, Repository

from faultatlas.miner.commits import patches
from faultatlas.miner.commits.messages import GUESSED
from faultatlas.miner.commits.patches import End, Hunk, Whole


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "odd.git")


FILES = "SELECT path, old_path, change, added, deleted, hunks FROM commit_files ORDER BY ALL"


def test_a_time_beyond_the_calendar_is_kept_as_a_number(made: Repository, reading: Reading) -> None:
    far = 100_000_000_000_000  # in the year 3170843
    made.commit({"a": b"1\n"}, author=PERSON + f" {far} +051800".encode())
    found = reading.read(made.folder, "--all")
    assert found["rows"]["commits_new"] == 1
    row = reading.one("SELECT author_epoch, author_zone, created_at, committer_zone FROM commits")
    assert row == (far, "+051800", None, "+0000")
    assert reading.one("SELECT title FROM artifacts") == "a message"


SIGNATURES = [
    (b"Nobody", None, None),
    (b"Ada <ada@example.org>", None, None),
    (b"Ada <ada@example.org> never", None, None),
    (b"Ada <ada@example.org> 99999999999999999999999 +0000", None, "+0000"),
    (b"Ada <ada@example.org> -5 -0000", -5, "-0000"),
    (b"A > B <ada@example.org> 7 utc", 7, None),
    (b" <> 0 +0100", 0, "+0100"),
]


def test_half_a_signature_is_read_as_far_as_it_goes(made: Repository, reading: Reading) -> None:
    for number, (author, _epoch, _zone) in enumerate(SIGNATURES):
        made.commit({"a": b"1\n"}, b"%d" % number, author=author, branch=f"b{number}")
    reading.read(made.folder, "--all", "--all-branches")
    found = reading.rows("SELECT author_epoch, author_zone FROM commits ORDER BY message::INT")
    assert found == [(epoch, zone) for _author, epoch, zone in SIGNATURES]


MESSAGES = [
    (b"encoding ISO-8859-1\n", b"r\xe9sum\xe9\n", "résumé", "ISO-8859-1"),
    (b"", b"r\xe9sum\xe9\n", "résumé", GUESSED),
    (b"encoding windows-1251\n", b"\xe4\xe0\n", "да", "windows-1251"),
    (b"encoding ISO-2022-JP\n", "修正 fix".encode("iso-2022-jp"), "修正 fix", "ISO-2022-JP"),
    (b"encoding ISO-2022-JP\n", b"plain fix", "plain fix", None),
    (b"encoding HZ-GB-2312\n", "修正".encode("hz"), "修正", "HZ-GB-2312"),
    (b"encoding no-such-thing\n", "ja é".encode(), "ja é", None),
    (b"encoding zlib_codec\n", b"\xff\xfe", "ÿþ", GUESSED),
    (b"encoding UTF-8\n", "résumé".encode(), "résumé", None),
    (b"gpgsig -----BEGIN\n \n author X <x> 1 +0\n -----END\n", b"signed", "signed", None),
    (b"", b"", "", None),
    (b"", b"before\x00behind\n", "before\ufffdbehind", None),
    (b"", b"\n\n  body\r\n\x01mark\n\n", "  body\r\n\x01mark", None),
    (b"", b"long " * 300_000, ("long " * 300_000)[: 1 << 20], None),
]


def test_messages_are_whole_in_every_encoding(made: Repository, reading: Reading) -> None:
    shas = [
        made.commit({"a": b"1\n"}, message, headers=headers, branch=f"b{number}")
        for number, (headers, message, _text, _encoding) in enumerate(MESSAGES)
    ]
    reading.read(made.folder, "--all", "--all-branches")
    found = {row[0]: row[1:] for row in reading.rows("SELECT sha, message, encoding FROM commits")}
    assert [found[sha] for sha in shas] == [(text, name) for _, _, text, name in MESSAGES]
    assert "message cut" in reading.one("SELECT problem FROM commits WHERE problem IS NOT NULL")


def test_names_with_tabs_line_feeds_quotes_and_other_bytes(
    made: Repository, reading: Reading
) -> None:
    names = [b"tab\there", b"line\nfeed", b'quo"te', b"back\\slash", b" blank ", "ü.txt".encode()]
    first = made.commit(dict.fromkeys([*names, b"latin\xe9"], b"1\n"))
    made.commit(dict.fromkeys(names, b"2\n") | {b"\xe9new": b"1\n"}, parents=[first])
    reading.read(made.folder, "--all")
    changed = "SELECT path FROM commit_files WHERE change = 'modified' ORDER BY ALL"
    assert [path for (path,) in reading.rows(changed)] == sorted(name.decode() for name in names)
    odd = "SELECT path, old_path, path_bytes FROM commit_files WHERE path_bytes IS NOT NULL"
    assert sorted(reading.rows(odd)) == [
        ("latin\ufffd", None, b"\0latin\xe9"),
        ("\ufffdnew", "latin\ufffd", b"latin\xe9\0\xe9new"),
    ]


def test_lines_that_look_like_a_patch_are_content(made: Repository, reading: Reading) -> None:
    old = b"- a\n-- b\n+++ c\ndiff --git a/x b/x\n@@ -1 +1 @@\n\x01" + b"0" * 40 + b"\n:100644\n"
    new = old.replace(b"-- b\n", b"++ b\n--- a/x\n") + b"no end"
    first = made.commit({"a.py": old, "crlf": b"1\r\n2\r\n"})
    second = made.commit({"a.py": new, "crlf": b"1\r\n3\r\n"}, parents=[first])
    reading.read(made.folder, "--all")
    of = "SELECT path, added, deleted, hunks FROM commit_files WHERE sha = ? ORDER BY path"
    assert reading.rows(of, first) == [("a.py", 7, 0, 1), ("crlf", 2, 0, 1)]
    assert reading.rows(of, second) == [("a.py", 3, 1, 1), ("crlf", 1, 1, 1)]
    text = "SELECT text FROM commit_hunks WHERE path = ? AND old_lines > 0"
    assert reading.one(text, "crlf") == " 1\r\n-2\r\n+3\r"
    assert reading.one(text, "a.py").endswith("+no end\n\\ No newline at end of file")


def test_what_is_not_text(made: Repository, reading: Reading) -> None:
    first = made.commit(
        {"b": b"\0\1\2", "late": b"x\n" * 5000 + b"\0y\n", "l": ("120000", made.blob(b"b"))}
    )
    made.commit(
        {"b": b"\0\1\3", "late": b"x\n" * 5000 + b"\0z\n", "l": b"a file\n"}, parents=[first]
    )
    reading.read(made.folder, "--all")
    later = f"SELECT path, change, added, deleted, hunks FROM commit_files WHERE sha <> '{first}'"
    assert sorted(reading.rows(later)) == [
        ("b", "modified", None, None, None),
        ("l", "type", 1, 1, 2),
        ("late", "modified", 1, 1, 1),
    ]


def test_renames_modes_submodules_and_commits_that_change_nothing(
    made: Repository, reading: Reading
) -> None:
    text = b"".join(b"line %d\n" % number for number in range(20))
    link = ("160000", "1" * 40)
    one = made.commit({"moved": text, "edited": text + b"x\n", "run": b"#!\n", "gone": b"1\n"})
    two = made.commit(
        {
            "to/moved": text,
            "to/edited": text + b"y\n",
            "run": ("100755", made.blob(b"#!\n")),
            "sub": link,
        },
        parents=[one],
    )
    tree = made.git("rev-parse", f"{two}^{{tree}}").decode()
    three = made.commit(tree, b"empty", [two])
    made.commit(
        {
            "to/moved": text,
            "to/edited": text + b"y\n",
            "run": ("100755", made.blob(b"#!\n")),
            "sub": ("160000", "2" * 40),
        },
        parents=[three],
    )
    reading.read(made.folder, "--all")
    of = (
        "SELECT path, old_path, change, added, deleted, hunks, similarity FROM commit_files "
        "WHERE sha = ? ORDER BY path"
    )
    assert reading.rows(of, two) == [
        ("gone", "gone", "deleted", 0, 1, 1, None),
        ("run", "run", "modified", 0, 0, 0, None),
        ("sub", None, "submodule", 1, 0, 1, None),
        ("to/edited", "edited", "renamed", 1, 1, 1, 98),
        ("to/moved", "moved", "renamed", 0, 0, 0, 100),
    ]
    assert reading.one("SELECT diff, files FROM commits WHERE sha = ?", three) == ("read", None)
    bumped = (
        "SELECT old_blob, new_blob, new_mode FROM commit_files "
        "WHERE change = 'submodule' AND old_blob IS NOT NULL"
    )
    assert reading.one(bumped) == ("1" * 40, "2" * 40, "160000")


def test_merges_have_parents_and_no_files(made: Repository, reading: Reading) -> None:
    root = made.commit({"a": b"1\n"})
    sides = [
        made.commit({"a": b"1\n", f"{n}": b"1\n"}, b"fix", [root], branch=None) for n in range(9)
    ]
    merge = made.commit({"a": b"1\n"}, b"fix: merge all", sides)
    found = reading.read(made.folder, "--all")
    assert (found["stored"]["commits"], found["stored"]["merges"]) == (11, 1)
    of = "SELECT parents, diff, files, is_merge FROM commits WHERE sha = ?"
    assert reading.one(of, merge) == (sides, None, None, True)
    assert reading.one("SELECT count(*) FROM commit_files") == 10


def test_five_thousand_files_in_one_commit(made: Repository, reading: Reading) -> None:
    one = ("100644", made.blob(b"x = 1\ny = 2\n"))
    two = ("100644", made.blob(b"x = 1\ny = 3\n"))
    first = made.commit({f"d{n % 50}/f{n}.py": one for n in range(5000)})
    second = made.commit({f"d{n % 50}/f{n}.py": two for n in range(5000)}, b"fix", [first])
    reading.read(made.folder, "--all")
    assert reading.one(
        "SELECT count(*), sum(added), sum(deleted), sum(hunks), max(position), "
        "count(DISTINCT position) FROM commit_files WHERE sha = ?",
        second,
    ) == (5000, 5000, 5000, 5000, 5000, 5000)


def test_a_hunk_that_is_too_large_is_counted_and_cut(made: Repository, reading: Reading) -> None:
    lines = 200_000
    made.commit({"large": b"".join(b"line %07d\n" % n for n in range(lines)), "wide": b"w" * 10**7})
    reading.read(made.folder, "--all")
    rows = reading.rows("SELECT path, added, hunks, problem FROM commit_files ORDER BY path")
    assert rows[0][:3] == ("large", lines, 1)
    assert rows[1][:3] == ("wide", 1, 1)
    assert all("cut" in row[3] for row in rows)
    text = reading.one("SELECT text FROM commit_hunks WHERE path = 'large'")
    assert 60_000 < len(text) <= 65_536
    assert text.startswith("+line 0000000\n")
    assert text.endswith(tuple("0123456789"))


def test_a_line_of_thirty_megabytes(made: Repository, reading: Reading) -> None:
    made.commit({"wide": b"w" * (30 << 20)})
    reading.read(made.folder, "--all")
    assert reading.one(
        "SELECT text[:3], added FROM commit_hunks JOIN commit_files USING (path)"
    ) == (
        "+ww",
        1,
    )


def events(stream: bytes) -> list[Any]:
    """Commits with their files and hunks, however they come."""
    found: list[Any] = []
    hunks: list[Hunk] = []
    for event in patches.read(io.BytesIO(stream)):
        if isinstance(event, Hunk):
            hunks.append(event)
        elif isinstance(event, Whole | End):
            hunks = event.hunks if isinstance(event, Whole) else hunks
            texts = [replace(hunk, text=hunk.text.rstrip(b"\n")) for hunk in hunks]
            found.append((event.commit, event.is_whole, texts))
            hunks = []
    return found


@pytest.mark.parametrize("large", [5000, 9000])
def test_what_is_read_in_pieces_is_the_same(
    made: Repository, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    text = b"".join(b"line %d of a file\n" % number for number in range(2000))
    parts = text.replace(b"line 5 ", b"").replace(b"line 70 ", b"x\ny ").replace(b"line 999 ", b"+")
    first = made.commit(
        {"a": text, "l": ("120000", made.blob(b"x")), "bin": b"\0\1", "m": b"1", "e": b""}
        | {f"d/{number}": b"%d\n" % number for number in range(200)}
    )
    second = made.commit(
        {"b": parts, "l": b"q\n" * 9000, "bin": b"\0\2", "m": ("100755", made.blob(b"1\n")),
         "e": b"z", "w": b"w" * 30_000, "-": b"-- a\n++ b\n" * 900},
        b"f", [first],
    )  # fmt: skip
    third = made.commit({}, b"g", [second])
    given = f"{first}\n{second}\n{third}\n".encode()
    stream = made.git(*patches.WORDS, given=given)
    expected = events(stream)
    assert [len(commit.files) for commit, _is_whole, _hunks in expected] == [205, 207, 7]
    for chunk in (333, 1000, 4096):
        with monkeypatch.context() as patched:
            patched.setattr(patches, "_CHUNK", chunk)
            patched.setattr(patches, "_LARGE", large)
            assert any(isinstance(each, End) for each in patches.read(io.BytesIO(stream)))
            assert events(stream) == expected


def test_a_repository_without_commits(made: Repository, reading: Reading) -> None:
    found = reading.read(made.folder)
    assert (found["complete"], found["rows"]["commits_new"]) == (True, 0)


def test_a_repository_with_longer_hashes(tmp_path: Path, reading: Reading) -> None:
    made = Repository(tmp_path / "long.git", "--object-format=sha256")
    first = made.commit({"a.py": b"def f():\n    pass\n"})
    made.commit({"a.py": b"def f():\n    return 1\n"}, b"fix", [first])
    reading.read(made.folder)
    assert reading.one(
        "SELECT length(sha), name FROM commits JOIN commit_functions USING (artifact_id)"
    ) == (64, "f")


def test_a_mailmap_joins_the_names_of_a_person(made: Repository, reading: Reading) -> None:
    mailmap = b"Ada Lovelace <ada@example.org> <ada@old.example>\n"
    first = made.commit({"a": b"1\n"}, author=b"A <ADA@old.example> 1 +0000")
    made.commit({"a": b"2\n", ".mailmap": mailmap}, parents=[first])
    reading.read(made.folder, "--all")
    assert reading.one("SELECT count(DISTINCT author) FROM commits") == 1

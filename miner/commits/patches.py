"""Reads what `git diff-tree --stdin --raw -p` prints: commits, files and hunks, in one pass.

Every line of a patch begins with a blank, `+`, `-` or a backslash, so that what else stands at
the beginning of a line is git's own: our mark before a commit, `diff --git` before a file, `@@`
before a hunk. Nothing inside a file can pass for one of these. Names are quoted in C's way.

Memory holds one hunk at most, and of a large one only its beginning: the rest is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

MARK = "%x01"
WORDS = (
    "diff-tree", "--stdin", "--always", f"--format={MARK}%H", "--raw", "--no-abbrev", "-r", "--root", "-p",
    "-U3", "-M", "-l1000", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color",
    "--diff-algorithm=myers", "--indent-heuristic", "--inter-hunk-context=0",
    "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
    "--no-relative",
)  # fmt: skip
LONGEST_TEXT = 64 * 1024  # of a hunk, in bytes
_CHUNK = 1 << 20
_LARGE = 8 << 20  # a piece of the stream without a boundary
_BOUNDARY = re.compile(rb"\n(?=\x01|diff --git |@@ -)")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_CONTROL = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f",
            b"r": b"\r"}  # fmt: skip
_NOTHING = b"0" * 6
SUBMODULE = b"160000"
CHANGES = {
    b"A": "added", b"M": "modified", b"D": "deleted", b"R": "renamed", b"C": "copied",
    b"T": "type",
}  # fmt: skip


@dataclass(slots=True)
class File:
    """A file that a commit changes, and what was seen of its patch."""

    position: int
    old_mode: bytes
    new_mode: bytes
    old_blob: bytes
    new_blob: bytes
    status: bytes
    similarity: int | None
    old_path: bytes | None
    path: bytes
    added: int = 0
    deleted: int = 0
    hunks: int = 0
    is_binary: bool = False
    cut: int = 0  # hunks of which only the beginning is kept
    problem: str | None = None

    @property
    def change(self) -> str:
        """In a word."""
        modes = (self.old_mode, self.new_mode)
        if SUBMODULE in modes and self.status != b"T":
            return "submodule"
        return CHANGES.get(self.status, "modified")

    @property
    def sections(self) -> int:
        """How many patches git prints: a changed type is a deletion and an addition."""
        return 2 if self.status == b"T" else 1


@dataclass(slots=True)
class Hunk:
    """Lines that change together. The text of a large one is cut."""

    file: File
    position: int
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    section: bytes
    text: bytes


@dataclass(slots=True)
class Commit:
    """That a commit begins: what comes is its own. `files` is all of it, before any hunk."""

    sha: str
    files: list[File] = field(default_factory=list)


@dataclass(slots=True)
class End:
    """That a commit has come to its end, and whether there was a patch for every file."""

    commit: Commit
    is_whole: bool


Event = Commit | Hunk | End


def read(stream: IO[bytes]) -> Iterator[Event]:
    """Commits, each followed by its hunks and its end; without an end where git stopped."""
    reader = _Reader()
    for piece, goes_on in _pieces(stream):
        yield from reader.take(piece, goes_on=goes_on)
    yield from reader.end()


def _pieces(stream: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The stream cut at its boundaries; True for a piece that goes on from the one before."""
    rest, goes_on = b"", False
    while chunk := stream.read(_CHUNK):
        parts = _BOUNDARY.split(rest + chunk)
        rest = parts.pop()
        for part in parts:
            yield part, goes_on
            goes_on = False
        if len(rest) > _LARGE:
            # Never behind a line feed: what follows it decides what the next line is.
            at = rest.rfind(b"\n")
            at = at if at > 0 else len(rest)
            yield rest[:at], goes_on
            rest, goes_on = rest[at:], True
    if rest:
        yield rest, goes_on


class _Reader:
    """Where the reading stands."""

    def __init__(self) -> None:
        self._commit: Commit | None = None
        self._listing: list[bytes] = []  # of the commit at hand, while it is incomplete
        self._sections = 0  # patches seen
        self._owners: list[File] = []  # the file of each patch
        self._file: File | None = None
        self._hunk: Hunk | None = None

    def take(self, piece: bytes, *, goes_on: bool) -> Iterator[Event]:
        if goes_on:
            self._continue(piece)
            return
        first = piece[:1]
        if first == b"@":
            yield from self._end_hunk()
            self._begin_hunk(piece)
            return
        yield from self._end_hunk()
        if first == b"\x01":
            yield from self._end_listing()
            yield from self._end_commit()
            self._listing = [piece]
        else:
            yield from self._end_listing()
            self._begin_file(piece)

    def end(self) -> Iterator[Event]:
        yield from self._end_hunk()
        yield from self._end_listing()
        yield from self._end_commit()

    def _continue(self, piece: bytes) -> None:
        if self._hunk is not None:
            self._count(piece)
        elif self._listing:
            self._listing.append(piece)

    def _end_listing(self) -> Iterator[Event]:
        if self._listing:
            self._commit = listed(b"".join(self._listing))
            self._listing = []
            self._owners = [
                file for file in self._commit.files for _section in range(file.sections)
            ]
            self._sections = 0
            self._file = None
            yield self._commit

    def _end_commit(self) -> Iterator[Event]:
        if self._commit is not None:
            yield End(self._commit, self._sections == len(self._owners))
            self._commit = None

    def _begin_file(self, piece: bytes) -> None:
        self._file = self._owners[self._sections] if self._sections < len(self._owners) else None
        self._sections += 1
        if self._file is not None and (
            b"\nBinary files " in piece or b"\nGIT binary patch" in piece
        ):
            self._file.is_binary = True

    def _begin_hunk(self, piece: bytes) -> None:
        head, _, text = piece.partition(b"\n")
        numbers = _HUNK.match(head)
        file = self._file
        if numbers is None or file is None:
            return
        old_start, old_lines, new_start, new_lines = numbers.groups()
        file.hunks += 1
        self._hunk = Hunk(
            file, file.hunks, int(old_start), int(old_lines or 1), int(new_start),
            int(new_lines or 1), head[numbers.end() :], text,
        )  # fmt: skip
        added = text.count(b"\n+") + (text[:1] == b"+")
        file.added += added
        file.deleted += added - self._hunk.new_lines + self._hunk.old_lines

    def _count(self, piece: bytes) -> None:
        """The lines of a hunk that goes on, of which no more is kept."""
        assert self._hunk is not None  # noqa: S101  (the caller looked)
        added = piece.count(b"\n+")
        self._hunk.file.added += added
        self._hunk.file.deleted += added

    def _end_hunk(self) -> Iterator[Event]:
        hunk = self._hunk
        if hunk is not None:
            self._hunk = None
            yield hunk


def listed(listing: bytes) -> Commit:
    """A commit with its files, as the raw format has them."""
    lines = listing.split(b"\n")
    commit = Commit(lines[0][1:].decode())
    for line in lines[1:]:
        if line[:1] == b":":
            commit.files.append(_file(len(commit.files) + 1, line))
    return commit


def _file(position: int, line: bytes) -> File:
    about, _, names = line.partition(b"\t")
    old_mode, new_mode, old_blob, new_blob, status = about[1:].split(b" ")
    first, has_two, second = names.partition(b"\t")
    old, new = unquoted(first), unquoted(second if has_two else first)
    kind = status[:1]
    similarity = int(status[1:]) if kind in b"RC" and status[1:].isdigit() else None
    return File(
        position, old_mode, new_mode, old_blob, new_blob, kind, similarity,
        None if kind == b"A" else old, new,
    )  # fmt: skip


def unquoted(name: bytes) -> bytes:
    """A file's name as it is; git puts quotes around odd ones."""
    if not name.startswith(b'"'):
        return name
    return _ESCAPE.sub(_character, name[1:-1])


def _character(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _CONTROL.get(code, code)

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

from faultatlas.miner.commits.git import GitFailed

MARK = "%x01"
WORDS = (
    "diff-tree", "--stdin", "--always", f"--format={MARK}%H", "--raw", "--no-abbrev", "-r",
    "--root", "-p", "-U3", "-M", "-l1000", "--full-index", "--no-ext-diff", "--no-textconv",
    "--no-color",
    "--diff-algorithm=myers", "--indent-heuristic", "--inter-hunk-context=0",
    "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
    "--no-relative",
)  # fmt: skip
LONGEST_TEXT = 64 * 1024  # of a hunk, in bytes
_CHUNK = 2 << 20
_LARGE = 8 << 20  # a piece of the stream without a boundary
_BOUNDARY = re.compile(rb"\n(?=diff --git |@@ -)")
_NEXT, _FILE, _HUNKS = b"\n\x01", b"\ndiff --git ", b"\n@@ -"
_NUMBERS = re.compile(rb"(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?([^\n]*)\n?")
_WORDS_OF_FILE = 5
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_CONTROL = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f",
            b"r": b"\r"}  # fmt: skip
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
    def is_counted(self) -> bool:
        """Whether its lines are known."""
        return not self.is_binary and self.problem is None

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
class Whole:
    """A commit with all its hunks, and whether there was a patch for every file."""

    commit: Commit
    hunks: list[Hunk]
    is_whole: bool


@dataclass(slots=True)
class End:
    """That a commit has come to its end, and whether there was a patch for every file."""

    commit: Commit
    is_whole: bool


Event = Whole | Commit | Hunk | End


def read(stream: IO[bytes]) -> Iterator[Event]:
    """Commits with their hunks; a large one comes in parts: itself, its hunks, its end.

    The last one may be half of what it should be, where git stopped.
    """
    rest = b""
    large: _Reader | None = None
    while chunk := stream.read(_CHUNK):
        blocks = (rest + chunk).split(_NEXT)
        rest = blocks.pop()
        for block in blocks:
            if large is None:
                yield whole(block)
            else:
                yield from large.take(block)
                yield from large.end()
                large = None
        if len(rest) > _LARGE or large is not None:
            # A line feed may belong to the next mark.
            at = len(rest) - rest.endswith(b"\n")
            large = large or _Reader()
            yield from large.take(rest[:at])
            rest = rest[at:]
    if large is not None:
        yield from large.take(rest)
        yield from large.end()
    elif rest:
        yield whole(rest)


def whole(block: bytes) -> Whole:
    """A commit that is in memory, up to the mark of the next one."""
    listing, *sections = block.split(_FILE)
    commit = listed(listing)
    owners = commit.files
    if len(sections) != len(owners):
        owners = _owners(commit)
    hunks: list[Hunk] = []
    for file, section in zip(owners, sections, strict=False):
        head, *texts = section.split(_HUNKS)
        if texts:
            hunks += [_hunk(file, text) for text in texts]
        elif _is_binary(head):
            file.is_binary = True
    return Whole(commit, hunks, len(sections) == len(owners))


def _owners(commit: Commit) -> list[File]:
    """The file of each patch."""
    return [file for file in commit.files for _section in range(file.sections)]


def _is_binary(head: bytes) -> bool:
    return b"\nBinary files " in head or b"\nGIT binary patch" in head


def _hunk(file: File, piece: bytes) -> Hunk:
    """A hunk from its numbers on; counts its lines for the file."""
    numbers = _NUMBERS.match(piece)
    if numbers is None:  # git itself wrote it: it was ended in the middle of a line
        raise GitFailed("git was ended while it printed a hunk")
    first, second, third, fourth, section = numbers.groups()
    old_lines = int(second) if second else 1
    new_lines = int(fourth) if fourth else 1
    text = piece[numbers.end() :]
    added = text.count(b"\n+") + (text[:1] == b"+")
    file.hunks += 1
    file.added += added
    file.deleted += added - new_lines + old_lines
    return Hunk(file, file.hunks, int(first), old_lines, int(third), new_lines, section, text)


class _Reader:
    """Reads a large commit piece by piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._goes_on = False  # the rest belongs to what was handed over before
        self._commit: Commit | None = None
        self._listing: list[bytes] = []  # while it is incomplete
        self._is_listing = True  # the first piece of a commit
        self._sections = 0  # patches seen
        self._owners: list[File] = []
        self._file: File | None = None
        self._hunk: Hunk | None = None

    def take(self, chunk: bytes) -> Iterator[Event]:
        """What is complete by now."""
        parts = _BOUNDARY.split(self._rest + chunk)
        self._rest = parts.pop()
        for part in parts:
            yield from self._piece(part)
        if len(self._rest) > _LARGE:
            # Never behind a line feed: what follows it decides what the next line is.
            at = self._rest.rfind(b"\n")
            at = at if at > 0 else len(self._rest)
            yield from self._piece(self._rest[:at])
            self._rest, self._goes_on = self._rest[at:], True

    def end(self) -> Iterator[Event]:
        """The rest, and the end of the commit."""
        yield from self._piece(self._rest)
        yield from self._end_hunk()
        yield from self._end_listing()
        if self._commit is not None:
            yield End(self._commit, self._sections == len(self._owners))

    def _piece(self, piece: bytes) -> Iterator[Event]:
        if self._goes_on:
            self._goes_on = False
            self._continue(piece)
            return
        yield from self._end_hunk()
        if self._is_listing:
            self._is_listing = False
            self._listing = [piece]
            return
        yield from self._end_listing()
        if piece[:1] == b"@":
            if self._file is not None:
                self._hunk = _hunk(self._file, piece[4:])
        else:
            self._begin_file(piece)

    def _continue(self, piece: bytes) -> None:
        if self._hunk is not None:  # its beginning is kept, the rest is counted
            added = piece.count(b"\n+")
            self._hunk.file.added += added
            self._hunk.file.deleted += added
            if len(self._hunk.text) <= LONGEST_TEXT:
                # A first line as long as that was cut off right behind the numbers.
                more = piece if self._hunk.text else piece.removeprefix(b"\n")
                self._hunk.text += more[: 2 * LONGEST_TEXT]
        elif self._listing:
            self._listing.append(piece)

    def _end_listing(self) -> Iterator[Event]:
        if self._listing:
            self._commit = listed(b"".join(self._listing))
            self._listing = []
            self._owners = _owners(self._commit)
            yield self._commit

    def _begin_file(self, piece: bytes) -> None:
        self._file = self._owners[self._sections] if self._sections < len(self._owners) else None
        self._sections += 1
        if self._file is not None and _is_binary(piece):
            self._file.is_binary = True

    def _end_hunk(self) -> Iterator[Event]:
        hunk = self._hunk
        if hunk is not None:
            self._hunk = None
            yield hunk


def listed(listing: bytes) -> Commit:
    """A commit with its files, as the raw format has them."""
    lines = listing.split(b"\n")
    commit = Commit(lines[0].lstrip(b"\x01").decode(errors="replace"))
    for line in lines[1:]:
        if line[:1] == b":":
            commit.files.append(_file(len(commit.files) + 1, line))
    return commit


def _file(position: int, line: bytes) -> File:
    about, _, names = line.partition(b"\t")
    words = about[1:].split(b" ")
    if len(words) != _WORDS_OF_FILE or not names:
        raise GitFailed("git was ended while it printed a list of files")
    old_mode, new_mode, old_blob, new_blob, status = words
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

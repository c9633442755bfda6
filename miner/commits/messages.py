"""Commits as they are stored: hash, parents, people, times and message, from the raw objects.

Read from the objects and not from `git log`, which corrects what it shows: a year of 3170843 or
a zone of +051800 is kept as the commit has it. Everything in them is hostile.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from faultatlas.miner.commits.git import GitFailed, View, one_object

LONGEST_MESSAGE = 1 << 20
GUESSED = "ISO-8859-1 (assumed)"
_MOST_PARENTS = 10_000
# Nearly all of them, in one step; the others are read line by line, with the same result.
_PERSON = rb" ([^<>\n]*?) ?<([^<>\n]*)> ([0-9]{1,18}) ([+-][0-9]{4})\n"
_USUAL = re.compile(
    rb"tree [0-9a-f]{40,64}\n((?:parent [0-9a-f]{40,64}\n)*)"
    rb"author" + _PERSON + rb"committer" + _PERSON + rb"\n"
)
_NUMBER = re.compile(rb"-?[0-9]{1,18}")
_ZONE = re.compile(rb"[+-]?[0-9]{1,12}")
# What the headers say of themselves decides which codec Python runs over hostile bytes: only
# those that turn bytes into text, and none that unpack.
_TEXT_CODEC = re.compile(
    r"(?i)(?:iso[-_]?8859|latin|windows|cp|koi8|euc|shift|sjis|big5|gb|utf|mac|us-ascii|ascii|tis"
    r"|(?:cs)?iso[-_]?2022|hz)"
)
_SEVEN_BITS = re.compile(r"(?i)(?:cs)?iso[-_]?2022|hz|utf[-_]?7")  # all bytes look like ASCII


@dataclass(frozen=True, slots=True)
class Signature:
    """Who and when, as a commit has it."""

    name: bytes
    address: bytes
    epoch: int | None
    zone: str | None

    @property
    def person(self) -> bytes:
        """As `git check-mailmap` takes it."""
        return b"%s <%s>" % (self.name, self.address)


@dataclass(frozen=True, slots=True)
class Message:
    """A commit without its changes."""

    sha: str
    parents: tuple[str, ...]
    author: Signature | None
    committer: Signature | None
    text: str
    encoding: str | None
    problem: str | None


def reachable(
    view: View, tips: Iterable[str], seen: Iterable[str] = ()
) -> tuple[list[str], set[str]]:
    """Commits that the tips lead to and the seen ones do not; and those that are missing."""
    lines = [*(tip.encode() for tip in tips), *(b"^" + tip.encode() for tip in seen)]
    if not lines:
        return [], set()
    try:
        listed = view.run("rev-list", "--stdin", lines=lines)
    except GitFailed:  # a commit in between is missing or damaged
        return _by_hand(view, tips, seen)
    return listed.decode().split(), set()


def _by_hand(view: View, tips: Iterable[str], seen: Iterable[str]) -> tuple[list[str], set[str]]:
    """The same around what is missing: every readable commit, and what is not there."""
    left = set(_closure(view, seen)[0]) if seen else set()
    found, missing = _closure(view, tips)
    return [sha for sha in found if sha not in left], missing


def _closure(view: View, tips: Iterable[str]) -> tuple[list[str], set[str]]:
    known: dict[str, None] = dict.fromkeys(tips)
    missing: set[str] = set()
    waiting = list(known)
    with view.asking() as content_of:
        while waiting:
            sha = waiting.pop()
            content = content_of(sha)
            if content is None:
                missing.add(sha)
            elif sha not in view.shallow:
                fresh = [each for each in _parents(content) if each not in known]
                known.update(dict.fromkeys(fresh))
                waiting += fresh
    return [sha for sha in known if sha not in missing], missing


def objects(view: View, shas: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """The contents of commits; None for one that is missing, damaged or something else."""
    waiting = list(shas)
    while waiting:
        done = 0
        try:
            lines = (sha.encode() for sha in waiting)
            with view.streaming("cat-file", "--batch", "--buffer", lines=lines) as stream:
                for sha, content in _contents(stream, waiting):
                    done += 1
                    yield sha, content
        except GitFailed:  # it stops at a damaged one
            yield waiting[done], None
            done += 1
        else:
            return
        waiting = waiting[done:]


def _contents(stream: IO[bytes], shas: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    for sha in shas:
        kind, content = one_object(stream)
        if kind == "":
            return
        yield sha, content if kind == "commit" else None


def parsed(sha: str, content: bytes) -> Message:
    """A commit object, however odd."""
    usual = _USUAL.match(content)
    if usual is None:
        return _parsed_oddly(sha, content)
    parents, a_name, a_mail, a_time, a_zone, name, mail, time, zone = usual.groups()
    author = Signature(a_name, a_mail, int(a_time), a_zone.decode())
    committer = Signature(name, mail, int(time), zone.decode())
    above = tuple(parents.decode().split()[1::2]) if parents else ()
    body = content[usual.end() :]
    return _with_body(sha, above, (author, committer), body, None)


def _parsed_oddly(sha: str, content: bytes) -> Message:
    head, _, body = content.partition(b"\n\n")
    author = committer = None
    encoding = None
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name == b"author" and author is None:
            author = signature(value)
        elif name == b"committer" and committer is None:
            committer = signature(value)
        elif name == b"encoding" and encoding is None:
            encoding = value.decode("ascii", "replace").strip()[:100] or None
    return _with_body(sha, _parents(content), (author, committer), body, encoding)


def _with_body(
    sha: str,
    parents: tuple[str, ...],
    people: tuple[Signature | None, Signature | None],
    body: bytes,
    encoding: str | None,
) -> Message:
    problem = None
    if len(body) > LONGEST_MESSAGE:
        problem = f"message cut after {LONGEST_MESSAGE:,} of {len(body):,} bytes"
        body = body[:LONGEST_MESSAGE]
    text, used = decoded(body, encoding)
    return Message(sha, parents, *people, text, used, problem)


def _parents(content: bytes) -> tuple[str, ...]:
    head = content.partition(b"\n\n")[0]
    lines = (line for line in head.split(b"\n") if line.startswith(b"parent "))
    found = [line[7:].decode("ascii", "replace") for line in lines]
    return tuple(found[:_MOST_PARENTS])


def signature(value: bytes) -> Signature:
    """`Name <address> seconds zone`; what is not there or no number is None."""
    who, _, when = value.rpartition(b">")
    if not who:  # no address at all
        who, when = value, b""
    name, _, address = who.rpartition(b"<")
    first, _, rest = when.strip().partition(b" ")
    epoch = int(first) if _NUMBER.fullmatch(first) else None
    zone = rest.strip()
    return Signature(
        name.strip(),
        address.strip(),
        epoch,
        zone.decode() if _ZONE.fullmatch(zone) else None,
    )


def decoded(body: bytes, named: str | None) -> tuple[str, str | None]:
    """A message as text, and the encoding that it was in if that is not UTF-8."""
    body = body.strip(b"\n")
    if body.isascii() and not (named and _SEVEN_BITS.match(named)):
        return _storable(body.decode()), None
    if named and _TEXT_CODEC.match(named):
        try:
            codec = codecs.lookup(named).name
            if codec != "utf-8":
                text = body.decode(codec)
                is_plain = body.isascii() and text == body.decode()
                return _storable(text), None if is_plain else named
        except (LookupError, UnicodeError, ValueError):
            pass  # it lies, or nobody knows it
    try:
        return _storable(body.decode()), None
    except UnicodeDecodeError:
        # Old repositories are full of it, and every byte is a character of it.
        return _storable(body.decode("iso-8859-1")), GUESSED


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text

"""The tutorial as a list of steps, in the order of the page.

A step is a command with the output that the page shows (in ```console blocks), a file that the
reader writes (a block after `<!-- file: NAME -->`), or something that people do by hand (where
`<!-- by hand: NAME -->` stands). Everything else is text for the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

CUT = "..."  # a line that stands for any lines
_REMARK = re.compile(r"<!-- (file|by hand): (.+?) -->")


@dataclass(frozen=True)
class Command:
    """A command, what the page shows of its output, and where: after this line, before that."""

    text: str
    shown: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True)
class File:
    """What the reader writes into a file."""

    name: str
    text: str


@dataclass(frozen=True)
class ByHand:
    """What people do; `walkthrough.people` knows how."""

    name: str


Step = Command | File | ByHand


def steps(page: str) -> list[Step]:
    """The steps of a page."""
    return list(_steps(page.splitlines()))


def commands(page: str) -> list[Command]:
    """Its commands alone."""
    return [step for step in steps(page) if isinstance(step, Command)]


def _steps(lines: Sequence[str]) -> Iterator[Step]:
    name, start = "", 0  # of a file whose block is to come; of the block, 0 outside of one
    for at, line in enumerate(lines):
        if start:
            if line == "```":
                block = lines[start:at]
                if lines[start - 1] == "```console":
                    yield from _commands(block, start)
                elif name:
                    yield File(name, "".join(f"{each}\n" for each in block))
                name, start = "", 0
        elif line.startswith("```"):
            start = at + 1
        elif found := _REMARK.fullmatch(line):
            if found[1] == "file":
                name = found[2]
            else:
                yield ByHand(found[2])


def _commands(block: Sequence[str], start: int) -> Iterator[Command]:
    begins = [at for at, line in enumerate(block) if line.startswith("$ ")]
    assert begins[:1] == [0], f"line {start + 1}: a console block begins with a command"
    for begin, end in pairwise([*begins, len(block)]):
        said = tuple(block[begin + 1 : end])
        yield Command(block[begin][2:], said, start + begin + 1, start + end)


# What is another thing for the reader: the page shows these, whatever a test's machine has.
_ELSEWHERE = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8080"),
    (re.compile(r"\bport \d+\b"), "port 8080"),
    (re.compile(r"\b[a-z2-9]{5}(?:-[a-z2-9]{5}){3}\b"), "abcde-fghjk-mnpqr-stuvw"),  # a password
)
# What differs from one walk to the next: the page shows what was printed when it was written.
_VARIES = (
    re.compile(r"\bfaultatlas \d+\.\d+\.\d+\S*"),
    re.compile(r"\b\d{8}T\d{6}"),  # the name of a run, which a table may break here
    re.compile(r"\b\d{6}Z-(?:[0-9a-f]{6}\b|$|(?=\s))"),
    re.compile(r"^\s+[0-9a-f]{6}$"),  # its end, alone
    re.compile(r"\b[\d,]+ bytes\b"),  # compressed, with pseudonyms of a new key
)


# What a slow machine is told while it waits, and a terminal shows in a bar that goes away.
_PASSING = re.compile(r"[\w -]+: .*, \d+:\d\d(?:, [\d:]+ left)?")


def is_passing(line: str) -> bool:
    """Whether a line only tells how far a command is."""
    return _PASSING.fullmatch(line) is not None


def as_shown(line: str) -> str:
    """A printed line as the page shows it."""
    for pattern, instead in _ELSEWHERE:
        line = pattern.sub(instead, line)
    return line.rstrip()


def _fixed(lines: Sequence[str]) -> list[str]:
    """Lines without what differs from one walk to the next, and only that."""
    found = []
    for each in lines:
        line = each
        for pattern in _VARIES:
            line = pattern.sub("?", line)
        found.append(line)
    return found


def matches(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the printed lines are the shown ones; a line `...` stands for any of them."""
    return _matches(_fixed(shown), _fixed(printed))


def _matches(shown: Sequence[str], printed: Sequence[str]) -> bool:
    if not shown:
        return not printed
    if shown[0] == CUT:
        return any(_matches(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and _matches(shown[1:], printed[1:])


def cut_like(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The printed lines, cut where the shown ones are: as many of the beginning, of the end,
    and between two cuts from the line on that is most like the one that stood there.
    """
    parts: list[list[str]] = [[]]
    for line in shown:
        if line == CUT:
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return list(printed)
    head, *middle, tail = parts
    kept = [*printed[: len(head)], CUT]
    for part in middle:
        if part:
            at = max(range(len(printed)), key=lambda n: _likeness(printed[n], part[0]))
            kept += [*printed[at : at + len(part)], CUT]
    return kept + (list(printed[-len(tail) :]) if tail else [])


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def rewritten(page: str, printed: Callable[[Command], Sequence[str]]) -> str:
    """The page with the outputs that commands printed; what still holds stays as it is."""
    lines = page.splitlines()
    for command in reversed(commands(page)):
        now = printed(command)
        if not matches(command.shown, now):
            lines[command.first : command.last] = cut_like(command.shown, now)
    return "\n".join(lines) + "\n"

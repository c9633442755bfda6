"""What stays of a message when the same thing happens again: no addresses, numbers, places.

Numbers are taken out even where they are shapes: for identity (4, 5) is (#, #), so that another
seed or another batch is no other crash. What people are shown keeps them.
"""

from __future__ import annotations

import re

LONGEST = 300  # characters of a message that are looked at, for identity and for people

_COLOURS = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")
_RULES = (
    # temporary files have a new name each time; of other files the name stays
    (re.compile(r"(?:/private)?/(?:var/tmp|tmp|dev/shm)/[^\s'\",;:)\]]+"), "<temporary>"),
    (re.compile(r"(?<![\w.])(?:/[^\s/'\",;:()\[\]]+)+/([^\s/'\",;:()\[\]]+)"), r"<folder>/\1"),
    (re.compile(r"\b0[xX][0-9a-fA-F]+\b"), "<address>"),
    (
        re.compile(
            r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
        ),
        "<id>",
    ),
    (re.compile(r"\b(?=[a-f]{0,32}\d)(?=\d{0,32}[a-f])[0-9a-f]{12,128}\b"), "<id>"),
    (re.compile(r"(?<![A-Za-z0-9])\d+(?:\.\d+)?(?=(?:ms|us|s|KB|MB|GB|KiB|MiB|GiB|B)\b)"), "#"),
    # digits that belong to a word (float32, conv2d) tell things apart; counters (dense_3) do not
    (re.compile(r"(?<![A-Za-z0-9])\d+(?:\.\d+)*\.?(?:[eE][-+]?\d+)?(?![A-Za-z0-9])"), "#"),
    (re.compile(r"[-+]#"), "#"),
    (re.compile(r"\s+"), " "),
)


def normalised(message: str) -> str:
    """The first line of a message without what changes from run to run."""
    line = first_line(message)
    for pattern, instead in _RULES:
        line = pattern.sub(instead, line)
    return line.strip()


def first_line(message: str) -> str:
    """The first line that says something, cut to what is looked at."""
    for line in message[: 8 * LONGEST].splitlines():
        if stripped := _COLOURS.sub("", line).strip():
            return stripped[:LONGEST]
    return ""


def without_colours(text: str) -> str:
    """The text without what colours a terminal."""
    return _COLOURS.sub("", text)


def plain(text: str, longest: int = LONGEST) -> str:
    """On one line, without what could deceive a reader or a terminal."""
    line = " ".join(_COLOURS.sub("", text).split())
    shown = line
    if not line.isprintable():
        shown = "".join(each if each.isprintable() else "\ufffd" for each in line)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."

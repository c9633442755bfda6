"""Text on a terminal whose lines end where a reader would end them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.containers import Lines
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

_GLUE = "\ue000"  # as wide as a space; rich breaks a line at every kind of space
_WORD = re.compile(r"\S+")
_BREAK = re.compile(r"(?<=[-/])")
_BEFORE_SIGN = re.compile(r"(?<=\d) (?=%)")


class Unbroken(Text):
    """A text in which a number and its percent sign stay on one line.

    A word that is longer than a line is broken behind a hyphen or a slash, if it has any.
    """

    def wrap(self, console: Console, width: int, *args: Any, **options: Any) -> Lines:
        """The lines, as rich makes them."""
        glued = self.copy()
        words = _BEFORE_SIGN.sub(_GLUE, self.plain)
        glued.plain = _WORD.sub(lambda found: _broken(found[0], width), words)
        lines = Text.wrap(glued, console, width, *args, **options)
        for line in lines:
            line.plain = line.plain.replace(_GLUE, " ")
        return lines


def syllables(text: str) -> list[str]:
    """The parts between which a line may end: at spaces, and behind hyphens and slashes."""
    return [part for word in text.split() for part in _BREAK.split(word) if part]


def _broken(word: str, width: int) -> str:
    """A word that is too long for a line as lines that are not, as far as hyphens allow."""
    if cell_len(word) <= width:
        return word
    lines = [""]
    for part in syllables(word):
        if lines[-1] and cell_len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)

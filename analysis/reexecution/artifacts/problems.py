"""What is wrong with an artifact, for people: where, what, and the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
_LONGEST = 160


@dataclass(frozen=True)
class Problem:
    """Something missing or wrong; with an error the bug cannot be run or judged."""

    where: str  # a file of the folder, and the key in it: 'bug.toml: [run.buggy] commands'
    text: str
    next_step: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def quoted(text: object) -> str:
    """What a stranger wrote, as a message may show it: short, without control characters."""
    plain = text if isinstance(text, str) else str(text)
    cut = plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."
    # repr escapes what is not printable, marks that turn the direction of writing included
    return repr(cut)


def printable(text: str) -> str:
    """The same without quotation marks, for names of files."""
    return quoted(text)[1:-1]

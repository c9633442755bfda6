"""What a decision on a gate leaves in a study: who went on in spite of it, who changed labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

GONE_ON = "not passed, and round "  # what the reason of who goes on in spite of it begins with


@dataclass(frozen=True)
class Changed:
    """What a rater said of an item before the gate of a round, and what she says now."""

    round: str
    before: str  # ids of answers
    after: str


def changed_after_gate(reader: Reader) -> list[Changed]:
    """Independent answers that are not what they were when the first gate was decided on them.

    Those that came later, and those that were given in another version, are no changes.
    """
    rows = reader.rows("SELECT round, before, after FROM answers_changed_after_gate ORDER BY ALL")
    return [Changed(**row) for row in rows]

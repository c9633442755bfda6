"""What is wrong with the rows of a sheet, as one message."""

from __future__ import annotations

from collections.abc import Sequence


def listed(problems: Sequence[str], most: int = 5) -> str:
    """The first of them, a line each, and how many more there are."""
    more = len(problems) - most
    return "\n".join([*problems[:most], *([f"... and {more:,} more"] if more > 0 else [])])

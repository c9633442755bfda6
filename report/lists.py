"""Lists on the terminal, for what a table would squeeze: a head, and lines set in below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultatlas.report.formatting import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

_INDENT = 4


def listed(items: Sequence[tuple[str, ...]]) -> list[RenderableType]:
    """Each item as its first text with the others below it; empty ones are left out."""
    from rich.padding import Padding
    from rich.text import Text

    shown: list[RenderableType] = []
    for head, *below in items:
        shown.append(Text(plain(head)))
        shown += [
            Padding(Text(plain(each)), (0, 0, 0, _INDENT), expand=False) for each in below if each
        ]
    return shown

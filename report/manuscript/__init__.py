"""Checks the numbers of a manuscript against each other: counts, tables, tests, words.

A claims file (TOML) holds what is printed; `kinds/` has one file a kind of check, found by
discovery. Nothing is looked up: a verdict follows from the numbers of the file alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faultatlas.report.manuscript.checking import check, check_claims, known_kinds, shipped
    from faultatlas.report.manuscript.outcomes import FigureFinding, Finding, by_figure

__all__ = [
    "FigureFinding",
    "Finding",
    "by_figure",
    "check",
    "check_claims",
    "known_kinds",
    "shipped",
]


def __getattr__(name: str) -> Any:
    """Imported when it is asked for: the command line imports this package for its options."""
    if name not in __all__:
        raise AttributeError(name)
    where = "outcomes" if name in {"FigureFinding", "Finding", "by_figure"} else "checking"
    return getattr(importlib.import_module(f"{__name__}.{where}"), name)

"""Checks the numbers of a manuscript against each other: counts, tables, tests, words.

A claims file (TOML) holds what is printed; `kinds/` has one file a kind of check, found by
discovery. Nothing is looked up: a verdict follows from the numbers of the file alone.
"""

from report.manuscript.checking import check, check_claims, known_kinds, shipped
from report.manuscript.outcomes import FigureFinding, Finding, by_figure

__all__ = [
    "FigureFinding",
    "Finding",
    "by_figure",
    "check",
    "check_claims",
    "known_kinds",
    "shipped",
]

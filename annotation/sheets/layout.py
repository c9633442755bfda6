"""The columns that `annotation export` writes, so that `annotation import` knows them again."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from faultatlas.data.taxonomy import folded

BEFORE = ("item", "url", "title", "stratum", "stage")
LEGEND = "codes"  # the second sheet of a workbook for one rater
AFTER = ("final", "settled_by")
LONG = (
    "item", "url", "title", "stratum", "rater", "stage", "codes", "confidence", "comment",
    "proposed", "labelled_at", "taxonomy_version",
)  # fmt: skip

_CODES = "codes"
_ALIKE = 0.85  # of difflib: code, but not coder


def is_long(columns: Sequence[str]) -> bool:
    """Whether these are the columns of `export --long`."""
    return tuple(columns[: len(LONG)]) == LONG


def misspelt_codes(columns: Sequence[str]) -> list[str]:
    """Columns that are called almost as the one with the codes, such as `code`."""
    return [
        column
        for column in columns
        if column != _CODES and get_close_matches(folded(column), [_CODES], cutoff=_ALIKE)
    ]


def is_wide(columns: Sequence[str]) -> bool:
    """Whether these are the columns of `export`: the raters stand in the middle."""
    return (
        tuple(columns[: len(BEFORE)]) == BEFORE
        and tuple(columns[-len(AFTER) :]) == AFTER
        and len(columns) >= len(BEFORE) + len(AFTER)
    )


def raters_of(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of raters in such a sheet."""
    return tuple(columns[len(BEFORE) : len(columns) - len(AFTER)])

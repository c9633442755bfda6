"""The columns that `annotation export` writes, so that `annotation import` knows them again."""

from __future__ import annotations

from collections.abc import Sequence

BEFORE = ("item", "url", "title", "stratum", "stage")
LEGEND = "codes"  # the second sheet of a workbook for one rater
AFTER = ("final", "settled_by")
LONG = (
    "item", "url", "title", "stratum", "rater", "stage", "codes", "confidence", "comment",
    "proposed", "labelled_at", "taxonomy_version",
)  # fmt: skip


def is_long(columns: Sequence[str]) -> bool:
    """Whether these are the columns of `export --long`."""
    return tuple(columns[: len(LONG)]) == LONG


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

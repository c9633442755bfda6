"""Tables of ratings for tests of agreement: made by hypothesis, read from sheets."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from faultatlas.analysis.statistics.agreement.ratings import RatingTable, rating_table

Rows = list[list[int | None]]


def tables(
    *,
    raters: tuple[int, int] = (2, 5),
    items: tuple[int, int] = (2, 14),
    categories: int = 4,
    missing: bool = True,
) -> st.SearchStrategy[RatingTable]:
    """Ratings of any kind; with `missing` some or all of an item's may not be there."""
    rating = st.integers(0, categories - 1)
    given = rating | st.none() if missing else rating

    def of(width: int) -> st.SearchStrategy[Rows]:
        row = st.lists(given, min_size=width, max_size=width)
        return st.lists(row, min_size=items[0], max_size=items[1])

    return st.integers(*raters).flatmap(of).map(lambda rows: rating_table(rows, range(categories)))


def sheet(path: Path) -> RatingTable:
    """A sheet with a column for each rater, as the study of high-priority defects wrote it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return rating_table([[row[f"volunteer_{number}"] for number in range(1, 7)] for row in rows])


def repeated(table: RatingTable, times: np.ndarray) -> RatingTable:
    """The same table with each item as often as said."""
    return RatingTable(np.repeat(table.values, times, axis=0), table.categories)

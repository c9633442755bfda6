"""Ratings as numbers: what coefficients of agreement are computed from, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from faultatlas.analysis.statistics.agreement.distances import Distances, checked

Floats: TypeAlias = NDArray[np.float64]

MISSING = -1
ONE_CATEGORY = "only one category was used: agreement by chance would be complete"


@dataclass(frozen=True)
class RatingTable:
    """Items by raters: the number of the category that each rater gave, or MISSING.

    Several codes given at once are one category: their set. `categories` may include some that
    nobody used.
    """

    values: NDArray[np.int64]
    categories: tuple[Hashable, ...]


@dataclass(frozen=True)
class AgreementEstimate:
    """A coefficient of agreement: its value, two 95 % intervals, and what it is based on.

    Without a value there is a `reason`: too few items, one rater, one category.
    """

    statistic: str  # the name of the coefficient
    value: float | None
    items: int  # with two ratings or more
    raters: int
    ratings: int  # on those items
    low: float | None = None  # analytic
    high: float | None = None
    method: str = ""  # of the analytic interval, with its source
    bootstrap_low: float | None = None
    bootstrap_high: float | None = None
    resamples: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Resampling:
    """A coefficient as a function of how often each item was drawn."""

    items: int  # that can be drawn
    # From counts of draws (items by resamples) to values (resamples by columns); NaN where a
    # resample has no value, for instance because it has a single category.
    values: Callable[[Floats], Floats]


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement; `COEFFICIENTS` of a module in this folder are found there."""

    name: str
    title: str  # such as Krippendorff's alpha
    source: str  # the publication that defines it
    # The value with its analytic interval; the distances are those between the table's categories.
    estimate: Callable[[RatingTable, Distances | None], AgreementEstimate]
    # The coefficient of any draw of the items; called only where there is a value.
    resampling: Callable[[RatingTable, Distances | None], Resampling]
    # Of every category at once, each as "this one or another"; None: each is resampled alone.
    resampling_of_categories: Callable[[RatingTable], Resampling | None] = lambda _table: None


def rating_table(
    rows: Iterable[Sequence[Hashable | None]], categories: Sequence[Hashable] = ()
) -> RatingTable:
    """A table from rows of categories, None where a rater gave none."""
    lists = [list(row) for row in rows]
    numbers: dict[Hashable, int] = {category: index for index, category in enumerate(categories)}
    for row in lists:
        for category in row:
            if category is not None:
                numbers.setdefault(category, len(numbers))
    raters = max(map(len, lists), default=0)
    values = np.full((len(lists), raters), MISSING, dtype=np.int64)
    for item, row in enumerate(lists):
        for rater, category in enumerate(row):
            if category is not None:
                values[item, rater] = numbers[category]
    return RatingTable(values, tuple(numbers))


def renumbered(table: RatingTable, into: Mapping[Hashable, Hashable | None]) -> RatingTable:
    """The same ratings under other categories; None omits a rating."""
    return rating_table(
        [
            [None if value == MISSING else into[table.categories[value]] for value in row]
            for row in table.values.tolist()
        ]
    )


@dataclass(frozen=True)
class RatingCounts:
    """Ratings counted by item and category, of items with a rating and categories in use.

    Categories that nobody used are omitted, with their distances.
    """

    by_category: Floats  # ratings: items by categories
    sizes: Floats  # ratings of each item
    distances: Distances
    numbers: NDArray[np.int64]  # of the categories, as in the table
    known: int  # categories of the table, in use or not

    @property
    def paired(self) -> NDArray[np.bool_]:
        """Which items have two ratings or more."""
        return self.sizes >= 2

    @property
    def shares(self) -> Floats:
        """For each item the share of its ratings in each category."""
        return self.by_category / self.sizes[:, None]

    @property
    def disagreement(self) -> Floats:
        """For each item the mean distance of two of its ratings; 0 where there is only one."""
        total = ((self.by_category @ self.distances) * self.by_category).sum(axis=1)
        mean: Floats = total / np.maximum(self.sizes * (self.sizes - 1), 1)
        return mean

    def only_paired(self) -> RatingCounts:
        """Without the items that have one rating."""
        keep = self.paired
        return replace(self, by_category=self.by_category[keep], sizes=self.sizes[keep])


def count_ratings(table: RatingTable, distances: Distances | None = None) -> RatingCounts:
    """Count the ratings of each item that has one, in the categories in use."""
    between = checked(distances, len(table.categories))
    counts = _counts(table)
    used = np.flatnonzero(counts.sum(axis=0))
    kept = counts[counts.sum(axis=1) > 0][:, used].astype(np.float64)
    distances = between[np.ix_(used, used)]
    return RatingCounts(kept, kept.sum(axis=1), distances, used, len(table.categories))


def confusion(table: RatingTable) -> NDArray[np.int64]:
    """How many pairs of ratings of one item are a and b: symmetric, by the table's categories.

    A pair counts at [a, b] and at [b, a]; on the diagonal are the pairs that agree. The upper
    triangle with the diagonal sums to the number of pairs.
    """
    counts = _counts(table)
    pairs = counts.T @ counts
    np.fill_diagonal(pairs, (counts * (counts - 1)).sum(axis=0) // 2)
    return pairs


def _counts(table: RatingTable) -> NDArray[np.int64]:
    """All items by all categories: the number of ratings."""
    values = table.values
    items, categories = len(values), len(table.categories)
    if not values.size:
        return np.zeros((items, categories), dtype=np.int64)
    rows = np.broadcast_to(np.arange(items)[:, None], values.shape)
    given = values != MISSING
    flat = np.bincount(rows[given] * categories + values[given], minlength=items * categories)
    return flat.reshape(items, categories).astype(np.int64, copy=False)


def without_value(name: str, table: RatingTable, *, needed: int = 2) -> AgreementEstimate:
    """An estimate that has no value yet: what it is based on, and a reason if that is too little.

    `needed` is the number of items with two ratings.
    """
    given = table.values != MISSING
    paired = given.sum(axis=1) >= 2
    items = int(paired.sum())
    raters = int(given.any(axis=0).sum())
    reason = ""
    if raters < 2:
        reason = f"it takes two raters: {raters or 'none'} gave a rating"
    elif items < needed:
        count = {0: "is none", 1: "is one"}.get(items, f"are {items}")
        reason = f"it takes {needed} items with two ratings: there {count}"
    return AgreementEstimate(
        statistic=name,
        value=None,
        items=items,
        raters=int(given[paired].any(axis=0).sum()),
        ratings=int(given[paired].sum()),
        reason=reason,
    )

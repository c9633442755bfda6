"""Ratings counted for each item: what most statistics of agreement are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import (
    MISSING,
    Coded,
    Distances,
    Estimate,
    Floats,
)
from faultatlas.analysis.statistics.agreement.distances import checked

if TYPE_CHECKING:
    from numpy.typing import NDArray


ONE_CATEGORY = "only one category was used: agreement by chance would be complete"


@dataclass(frozen=True)
class Tally:
    """Items that have a rating by the categories that someone used.

    Categories that nobody used are left out, with their distances.
    """

    counts: Floats  # items by categories: ratings
    sizes: Floats  # ratings of each item
    distances: Distances
    numbers: NDArray[np.int64]  # of the categories, as coded

    @property
    def paired(self) -> NDArray[np.bool_]:
        """The items with two ratings or more."""
        paired: NDArray[np.bool_] = self.sizes >= 2
        return paired

    @property
    def shares(self) -> Floats:
        """For each item the share of its ratings in each category."""
        shares: Floats = self.counts / self.sizes[:, None]
        return shares

    @property
    def disagreement(self) -> Floats:
        """For each item the mean distance of two of its ratings; 0 where there is only one."""
        apart = ((self.counts @ self.distances) * self.counts).sum(axis=1)
        mean: Floats = apart / np.maximum(self.sizes * (self.sizes - 1), 1)
        return mean

    def only_paired(self) -> Tally:
        """Without the items that have one rating."""
        keep = self.paired
        return Tally(self.counts[keep], self.sizes[keep], self.distances, self.numbers)


def counted(coded: Coded) -> NDArray[np.int64]:
    """All items by all categories: how many ratings."""
    values = coded.values
    items, categories = len(values), len(coded.categories)
    if not values.size:
        return np.zeros((items, categories), dtype=np.int64)
    rows = np.broadcast_to(np.arange(items)[:, None], values.shape)
    given = values != MISSING
    flat = np.bincount(rows[given] * categories + values[given], minlength=items * categories)
    return flat.reshape(items, categories).astype(np.int64, copy=False)


def tally(coded: Coded, distances: Distances | None = None) -> Tally:
    """The ratings of each item that has one, in the categories that someone used."""
    every = checked(distances, len(coded.categories))
    counts = counted(coded)
    used = np.flatnonzero(counts.sum(axis=0))
    kept = counts[counts.sum(axis=1) > 0][:, used].astype(np.float64)
    return Tally(kept, kept.sum(axis=1), every[np.ix_(used, used)], used)


def basis(name: str, coded: Coded, *, needed: int = 2) -> Estimate:
    """An estimate without a value yet: what there is to measure, or why it is too little.

    It takes `needed` items with two ratings.
    """
    given = coded.values != MISSING
    paired = given.sum(axis=1) >= 2
    items = int(paired.sum())
    raters = int(given.any(axis=0).sum())
    reason = ""
    if raters < 2:
        reason = f"it takes two raters: {raters or 'none'} gave a rating"
    elif items < needed:
        reason = f"it takes {needed} items with two ratings: there {_are(items)}"
    return Estimate(
        statistic=name,
        value=None,
        items=items,
        raters=int(given[paired].any(axis=0).sum()),
        ratings=int(given[paired].sum()),
        reason=reason,
    )


def _are(count: int) -> str:
    return {0: "is none", 1: "is one"}.get(count, f"are {count}")

"""Two raters' categories of the same items: what Cohen's kappa is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import MISSING, Coded, Distances, Floats
from faultatlas.analysis.statistics.agreement.distances import checked
from faultatlas.analysis.statistics.agreement.sums import DUST, beyond_chance, summing

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Crossed:
    """Two raters on the items that both have rated, in the categories that either used."""

    rows: NDArray[np.int64]  # of those items, as coded
    one: Floats  # items by categories: 1 in the category that the first rater gave
    other: Floats
    apart: Floats  # for each item the distance of the two ratings
    distances: Distances

    @property
    def items(self) -> int:
        """How many both have rated."""
        return len(self.rows)

    @property
    def chance(self) -> float:
        """The disagreement of two raters who give the same shares of categories at random."""
        return float(self.one.mean(axis=0) @ self.distances @ self.other.mean(axis=0))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None with fewer than two items or one category."""
        if self.items < 2 or self.chance < DUST:
            return None
        return 1.0 - float(self.apart.mean()) / self.chance

    def shifts(self, kappa: float) -> Floats:
        """What each item moves kappa by; the variance is the sum of the squares."""
        to_other = self.one @ (self.distances @ self.other.mean(axis=0))
        to_one = self.other @ (self.distances @ self.one.mean(axis=0))
        moved = (1 - kappa) * (to_other + to_one) - self.apart
        shifts: Floats = (moved - moved.mean()) / self.chance / self.items
        return shifts

    def resampled(self) -> Callable[[Floats], Floats]:
        """From counts of draws to kappas, one for each resample."""
        known = self.one.shape[1]
        sums_of = summing(np.column_stack([self.apart, self.one, self.other]))

        def values(drawn: Floats) -> Floats:
            sums = sums_of(drawn)
            one, other = sums[:, 1 : known + 1], sums[:, known + 1 :]
            number = one.sum(axis=1)
            squares = np.maximum(number, 1) ** 2
            chance = ((one @ self.distances) * other).sum(axis=1) / squares
            return beyond_chance(sums[:, 0], number, chance)

        return values


def crossed(coded: Coded, first: int, second: int, distances: Distances | None) -> Crossed:
    """Two columns of ratings."""
    every = checked(distances, len(coded.categories))
    pair = coded.values[:, [first, second]]
    rows = np.flatnonzero((pair != MISSING).all(axis=1))
    used, numbers = np.unique(pair[rows], return_inverse=True)
    numbers = numbers.reshape(-1, 2)
    between = every[np.ix_(used, used)]
    marks = np.eye(len(used))
    return Crossed(
        rows,
        marks[numbers[:, 0]],
        marks[numbers[:, 1]],
        between[numbers[:, 0], numbers[:, 1]],
        between,
    )

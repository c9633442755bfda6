"""Cohen's kappa of two raters, and Light's mean of it over all pairs; weighted with distances.

Not statsmodels' cohens_kappa or scikit-learn's: the bootstrap needs kappa as a function of sums,
and statsmodels takes 4 s for 2,000 resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from faultatlas.analysis.statistics.agreement.distances import Distances, checked
from faultatlas.analysis.statistics.agreement.intervals import (
    FLEISS_COHEN_EVERITT,
    NO_DISAGREEMENT,
    beyond_chance,
    by_normal,
    resampled,
)
from faultatlas.analysis.statistics.agreement.ratings import (
    MISSING,
    ONE_CATEGORY,
    AgreementEstimate,
    Coefficient,
    Floats,
    RatingTable,
    Resampling,
    without_value,
)

LIGHT = (
    "normal interval, the mean of the pairs' large-sample influences of each item "
    "(after Fleiss, Cohen and Everitt 1969)"
)
NO_PAIR = "no two raters share two items with two categories in use"


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the items that both rated, in the categories that either used."""

    items: NDArray[np.int64]  # their rows in the table
    first: Floats  # items by categories: 1 in the category that the first rater gave
    second: Floats
    apart: Floats  # for each item the distance of the two ratings
    distances: Distances

    @property
    def chance(self) -> float:
        """The disagreement of two raters who use the categories as often, but at random."""
        return float(self.first.mean(axis=0) @ self.distances @ self.second.mean(axis=0))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None with fewer than two items or one category."""
        if len(self.items) < 2 or self.chance < NO_DISAGREEMENT:
            return None
        return 1.0 - float(self.apart.mean()) / self.chance

    def shifts(self, kappa: float) -> Floats:
        """What each item moves kappa by; the variance is the sum of the squares."""
        to_second = self.first @ (self.distances @ self.second.mean(axis=0))
        to_first = self.second @ (self.distances @ self.first.mean(axis=0))
        moved = (1 - kappa) * (to_second + to_first) - self.apart
        shifts: Floats = (moved - moved.mean()) / self.chance / len(self.items)
        return shifts

    def resampling(self) -> Resampling:
        """The items that both rated."""
        used = self.first.shape[1]

        def kappas(sums: Floats) -> Floats:
            first, second = sums[:, 1 : used + 1], sums[:, used + 1 :]
            number = first.sum(axis=1)
            squares = np.maximum(number, 1) ** 2
            chance = ((first @ self.distances) * second).sum(axis=1) / squares
            return beyond_chance(sums[:, 0], number, chance)

        return resampled(np.column_stack([self.apart, self.first, self.second]), kappas)


def rater_pair(table: RatingTable, raters: Sequence[int], distances: Distances | None) -> RaterPair:
    """Two columns of a table."""
    between = checked(distances, len(table.categories))
    columns = table.values[:, raters]
    items = np.flatnonzero((columns != MISSING).all(axis=1))
    used, numbers = np.unique(columns[items], return_inverse=True)
    numbers = numbers.reshape(-1, 2)
    between = between[np.ix_(used, used)]
    marks = np.eye(len(used))
    return RaterPair(
        items,
        marks[numbers[:, 0]],
        marks[numbers[:, 1]],
        between[numbers[:, 0], numbers[:, 1]],
        between,
    )


def estimate(table: RatingTable, distances: Distances | None = None) -> AgreementEstimate:
    """Chance is that of two raters with the shares of categories that each of them has.

    Only items that both rated count.
    """
    unfinished = without_value("cohen", table)
    raters = _raters(table)
    if len(raters) > 2:
        reason = (
            f"Cohen's kappa is for two raters, here are {len(raters)}: "
            "take pairwise, fleiss or krippendorff"
        )
        return replace(unfinished, reason=reason)
    if unfinished.reason:
        return unfinished
    pair = rater_pair(table, raters, distances)
    kappa = pair.kappa
    if kappa is None:
        return replace(unfinished, reason=ONE_CATEGORY)
    return by_normal(unfinished, kappa, pair.shifts(kappa), FLEISS_COHEN_EVERITT)


def resampling(table: RatingTable, distances: Distances | None = None) -> Resampling:
    """The items that both rated."""
    return rater_pair(table, _raters(table), distances).resampling()


def _raters(table: RatingTable) -> list[int]:
    """The columns with a rating."""
    return [int(column) for column in np.flatnonzero((table.values != MISSING).any(axis=0))]


def mean_estimate(table: RatingTable, distances: Distances | None = None) -> AgreementEstimate:
    """Every two raters count alike; a pair without a kappa does not count."""
    unfinished = without_value("pairwise", table)
    if unfinished.reason:
        return unfinished
    pairs = _pairs(table, distances)
    if not pairs:
        return replace(unfinished, reason=NO_PAIR)
    shifts = np.zeros(len(table.values))
    for pair, kappa in pairs:
        shifts[pair.items] += pair.shifts(kappa) / len(pairs)
    mean = float(np.mean([kappa for _pair, kappa in pairs]))
    return by_normal(unfinished, mean, shifts, LIGHT)


def mean_resampling(table: RatingTable, distances: Distances | None = None) -> Resampling:
    """The items that two raters share; each resample has the pairs that have a kappa in it."""
    pairs = [pair for pair, _kappa in _pairs(table, distances)]
    shared = np.unique(np.concatenate([pair.items for pair in pairs]))
    resamplings = [(pair.resampling(), np.searchsorted(shared, pair.items)) for pair in pairs]

    def values(drawn: Floats) -> Floats:
        total = np.zeros(drawn.shape[1])
        number = np.zeros(drawn.shape[1])
        for pair, items in resamplings:
            kappas = pair.values(drawn[items])
            defined = ~np.isnan(kappas)
            total += np.where(defined, kappas, 0.0)
            number += defined
        return np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)

    return Resampling(len(shared), values)


def _pairs(table: RatingTable, distances: Distances | None) -> list[tuple[RaterPair, float]]:
    """Every two raters with their kappa, if they have one."""
    pairs = (
        rater_pair(table, raters, distances)
        for raters in combinations(range(table.values.shape[1]), 2)
    )
    return [(pair, kappa) for pair in pairs if (kappa := pair.kappa) is not None]


COEFFICIENTS = (
    Coefficient(
        "cohen",
        "Cohen's kappa",
        "Cohen (1960), Educational and Psychological Measurement 20(1); weighted: "
        "Cohen (1968), Psychological Bulletin 70(4)",
        estimate,
        resampling,
    ),
    Coefficient(
        "pairwise",
        "Mean pairwise Cohen's kappa",
        "Light (1971), Psychological Bulletin 76(5)",
        mean_estimate,
        mean_resampling,
    ),
)

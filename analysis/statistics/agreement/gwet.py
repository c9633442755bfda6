"""Gwet's AC1, with distances AC2: chance agreement that a skewed prevalence does not inflate."""

from __future__ import annotations

import numpy as np

from faultatlas.analysis.statistics.agreement.intervals import (
    Contributions,
    Sums,
    beyond_chance,
    observed,
    of_counts,
)
from faultatlas.analysis.statistics.agreement.ratings import Floats, RatingCounts


def contributions(counts: RatingCounts) -> Contributions:
    """Chance is that two raters agree by guessing on an item that is hard.

    Only categories that someone used count as categories, as in irrCAC.
    """
    if len(counts.numbers) == 1:
        if counts.known == 1:
            return "there is only one category to give"
        return 1.0, np.ones(len(counts.sizes))  # nothing was hard: agreement by chance is 0
    factor = _factor(counts)
    shares = counts.shares
    pool = shares.mean(axis=0)
    chance = factor * float((pool * (1 - pool)).sum())  # of agreement
    paired = counts.paired
    agreement = paired * (1 - counts.disagreement)
    value = (float(agreement[paired].mean()) - chance) / (1 - chance)
    observed_part = (agreement - chance * paired) / (1 - chance) / paired.mean()
    chance_part = 2 * (1 - value) * (factor * shares @ (1 - pool) - chance) / (1 - chance)
    return value, observed_part - chance_part


def sums(counts: RatingCounts) -> Sums:
    """Of disagreement, of items with two ratings, and of the items' shares of categories."""
    factor = _factor(counts)

    def values(sums: Floats) -> Floats:
        pool = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
        chance = 1.0 - factor * (pool * (1 - pool)).sum(axis=1)
        return beyond_chance(sums[:, 0], sums[:, 1], chance)

    return np.column_stack([observed(counts), counts.shares]), values


def _factor(counts: RatingCounts) -> float:
    """The weights of all pairs of categories by the number of ordered pairs of different ones."""
    used = len(counts.numbers)
    return float((1 - counts.distances).sum()) / max(used * (used - 1), 1)


COEFFICIENTS = (
    of_counts(
        "gwet",
        "Gwet's AC1",
        "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1); weights "
        "(AC2) and missing ratings Gwet (2014), Handbook of inter-rater reliability, 4th ed.",
        contributions,
        sums,
    ),
)

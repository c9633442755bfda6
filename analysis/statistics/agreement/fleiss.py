"""Fleiss' kappa, also with missing ratings and with distances.

Not statsmodels' fleiss_kappa: it has no missing ratings, distances or intervals.
"""

from __future__ import annotations

import numpy as np

from faultatlas.analysis.statistics.agreement.intervals import (
    NO_DISAGREEMENT,
    Contributions,
    Sums,
    beyond_chance,
    observed,
    of_counts,
)
from faultatlas.analysis.statistics.agreement.ratings import ONE_CATEGORY, Floats, RatingCounts


def contributions(counts: RatingCounts) -> Contributions:
    """Chance is that two ratings out of the pool of all ratings agree.

    The pool is the mean of the items' shares, items with one rating included.
    """
    shares = counts.shares
    pool = shares.mean(axis=0)
    to_pool = counts.distances @ pool
    chance = float(to_pool @ pool)  # of disagreement
    if chance < NO_DISAGREEMENT:
        return ONE_CATEGORY
    paired = counts.paired
    disagreement = counts.disagreement
    value = 1.0 - float(disagreement[paired].mean()) / chance
    observed_part = paired * (chance - disagreement) / chance / paired.mean()
    chance_part = 2 * (1 - value) * (shares @ to_pool - chance) / chance
    return value, observed_part + chance_part


def sums(counts: RatingCounts) -> Sums:
    """Of disagreement, of items with two ratings, and of the items' shares of categories."""

    def kappas(sums: Floats) -> Floats:
        pool = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
        chance = ((pool @ counts.distances) * pool).sum(axis=1)
        return beyond_chance(sums[:, 0], sums[:, 1], chance)

    return np.column_stack([observed(counts), counts.shares]), kappas


def sums_of_categories(counts: RatingCounts) -> Sums:
    """The kappa of every category as this one and another, from one product with the draws."""
    others = counts.sizes[:, None] - counts.by_category
    pairs = np.maximum(counts.sizes * (counts.sizes - 1), 1)[:, None]
    disagreement = 2 * counts.by_category * others / pairs
    used = len(counts.numbers)

    def kappas(sums: Floats) -> Floats:
        shares = sums[:, used + 1 :]
        pool = shares / shares.sum(axis=1, keepdims=True)
        number = np.repeat(sums[:, :1], used, axis=1)
        return beyond_chance(sums[:, 1 : used + 1], number, 2 * pool * (1 - pool))

    return np.column_stack([counts.paired, disagreement, counts.shares]), kappas


COEFFICIENTS = (
    of_counts(
        "fleiss",
        "Fleiss' kappa",
        "Fleiss (1971), Psychological Bulletin 76(5); with missing ratings and weights "
        "Gwet (2014), Handbook of inter-rater reliability, 4th ed.",
        contributions,
        sums,
        sums_of_categories=sums_of_categories,
    ),
)

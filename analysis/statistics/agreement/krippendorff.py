"""Krippendorff's alpha, nominal or with any distance.

Not the package krippendorff: it has no analytic interval, and 2,000 resamples take it 18 s.
"""

from __future__ import annotations

import numpy as np

from faultatlas.analysis.statistics.agreement.intervals import (
    NO_DISAGREEMENT,
    Contributions,
    Sums,
    beyond_chance,
    of_counts,
)
from faultatlas.analysis.statistics.agreement.ratings import ONE_CATEGORY, Floats, RatingCounts


def contributions(counts: RatingCounts) -> Contributions:
    """One minus observed by expected disagreement, over the ratings that have a partner.

    A given distance is what Krippendorff writes as a squared difference. It is not squared.
    """
    total = float(counts.sizes.sum())
    pool = counts.by_category.sum(axis=0) / total
    to_pool = counts.distances @ pool
    chance = float(to_pool @ pool)  # of disagreement, drawn with replacement
    if chance < NO_DISAGREEMENT:
        return ONE_CATEGORY
    size = counts.sizes / counts.sizes.mean()
    agreement = size * (1 - counts.disagreement)
    disagreement = 1.0 - float(agreement.mean())
    uncorrected = 1.0 - disagreement / chance  # for drawing without replacement
    value = 1.0 - (1 - 1 / total) * disagreement / chance
    corrected = 1.0 - (1 - 1 / total) * disagreement
    observed_part = (agreement - corrected * (size - 1) - (1 - chance)) / chance
    # What an item contributes to chance agreement: its ratings against the pool of all.
    met = size - (counts.by_category @ to_pool) / counts.sizes.mean()
    chance_part = 2 * (1 - uncorrected) * (met - (1 - chance) * size) / chance
    return value, observed_part - chance_part + (value - uncorrected)


def sums(counts: RatingCounts) -> Sums:
    """Of disagreement, weighted by ratings, and of the ratings in each category."""

    def alphas(sums: Floats) -> Floats:
        pool = sums[:, 1:]
        total = pool.sum(axis=1)
        chance = ((pool @ counts.distances) * pool).sum(axis=1) / (total * (total - 1))
        return beyond_chance(sums[:, 0], total, chance)

    return np.column_stack([counts.disagreement * counts.sizes, counts.by_category]), alphas


COEFFICIENTS = (
    of_counts(
        "krippendorff",
        "Krippendorff's alpha",
        "Krippendorff (2011), Computing Krippendorff's alpha-reliability; "
        "Krippendorff (2004), Content analysis, 2nd ed., ch. 11",
        contributions,
        sums,
        only_paired=True,
    ),
)

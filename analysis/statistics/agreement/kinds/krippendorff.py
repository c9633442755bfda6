"""Krippendorff's alpha, nominal or with any distance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import (
    Coded,
    Distances,
    Estimate,
    Floats,
    Resampling,
)
from faultatlas.analysis.statistics.agreement.intervals import GWET, by_student
from faultatlas.analysis.statistics.agreement.sums import DUST, beyond_chance, summing
from faultatlas.analysis.statistics.agreement.tallies import ONE_CATEGORY, basis, tally

name = "krippendorff"
title = "Krippendorff's alpha"
source = (
    "Krippendorff (2011), Computing Krippendorff's alpha-reliability; "
    "Krippendorff (2004), Content analysis, 2nd ed., ch. 11"
)


def estimate(coded: Coded, distances: Distances | None = None) -> Estimate:
    """One minus observed by expected disagreement, over the ratings that have a partner.

    A given distance is what Krippendorff writes as a squared difference. It is not squared.
    """
    found = basis(name, coded)
    if found.reason:
        return found
    table = tally(coded, distances).only_paired()
    total = float(table.sizes.sum())
    pool = table.counts.sum(axis=0) / total
    apart = table.distances @ pool
    chance = float(apart @ pool)  # of disagreement, drawn with return
    if chance < DUST:
        return replace(found, reason=ONE_CATEGORY)
    size = table.sizes / table.sizes.mean()
    agreement = size * (1 - table.disagreement)
    whole = 1.0 - float(agreement.mean())  # disagreement, before the correction for few ratings
    uncorrected = 1.0 - whole / chance
    value = 1.0 - (1 - 1 / total) * whole / chance
    corrected = 1.0 - (1 - 1 / total) * whole
    observed_part = (agreement - corrected * (size - 1) - (1 - chance)) / chance
    # What an item says of chance agreement: its ratings against the pool of all.
    met = size - (table.counts @ apart) / table.sizes.mean()
    chance_part = 2 * (1 - uncorrected) * (met - (1 - chance) * size) / chance
    contributions = observed_part - chance_part + (value - uncorrected)
    return by_student(found, value, contributions, GWET)


def resampling(coded: Coded, distances: Distances | None = None) -> Resampling:
    """Of the items with two ratings or more."""
    table = tally(coded, distances).only_paired()
    sums_of = summing(np.column_stack([table.disagreement * table.sizes, table.counts]))
    between = table.distances

    def values(drawn: Floats) -> Floats:
        sums = sums_of(drawn)
        counts = sums[:, 1:]
        total = counts.sum(axis=1)
        chance = ((counts @ between) * counts).sum(axis=1) / (total * (total - 1))
        return beyond_chance(sums[:, 0], total, chance)

    return Resampling(len(table.sizes), values)

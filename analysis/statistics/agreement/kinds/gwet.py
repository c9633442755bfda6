"""Gwet's AC1, with distances AC2: chance agreement that a skewed prevalence does not inflate."""

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
from faultatlas.analysis.statistics.agreement.intervals import GWET, NO_SPREAD, by_student
from faultatlas.analysis.statistics.agreement.sums import beyond_chance, observed, summing
from faultatlas.analysis.statistics.agreement.tallies import Tally, basis, tally

name = "gwet"
title = "Gwet's AC1"
source = (
    "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1); weights (AC2) "
    "and missing ratings Gwet (2014), Handbook of inter-rater reliability, 4th ed."
)


def estimate(coded: Coded, distances: Distances | None = None) -> Estimate:
    """Chance is that two agree by guessing on an item that is hard.

    The number of categories is that of the categories that someone used.
    """
    found = basis(name, coded)
    if found.reason:
        return found
    table = tally(coded, distances)
    if len(table.numbers) == 1:
        if len(coded.categories) == 1:
            return replace(found, reason="there is only one category to give")
        return replace(found, value=1.0, method=NO_SPREAD)  # nothing was hard, chance is 0
    factor = _factor(table)
    shares = table.shares
    pool = shares.mean(axis=0)
    chance = factor * float((pool * (1 - pool)).sum())  # of agreement
    paired = table.paired
    agreement = paired * (1 - table.disagreement)
    value = (float(agreement[paired].mean()) - chance) / (1 - chance)
    observed_part = (agreement - chance * paired) / (1 - chance) / paired.mean()
    chance_part = 2 * (1 - value) * (factor * shares @ (1 - pool) - chance) / (1 - chance)
    return by_student(found, value, observed_part - chance_part, GWET)


def resampling(coded: Coded, distances: Distances | None = None) -> Resampling:
    """Of the items with a rating."""
    table = tally(coded, distances)
    factor = _factor(table)
    sums_of = summing(np.column_stack([observed(table), table.shares]))

    def values(drawn: Floats) -> Floats:
        sums = sums_of(drawn)
        pool = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
        chance = 1.0 - factor * (pool * (1 - pool)).sum(axis=1)
        return beyond_chance(sums[:, 0], sums[:, 1], chance)

    return Resampling(len(table.sizes), values)


def _factor(table: Tally) -> float:
    """The weights of all pairs of categories by the number of ordered pairs of different ones."""
    used = len(table.numbers)
    return float((1 - table.distances).sum()) / max(used * (used - 1), 1)

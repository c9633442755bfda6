"""Fleiss' kappa, also with missing ratings and with distances."""

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
from faultatlas.analysis.statistics.agreement.sums import DUST, beyond_chance, observed, summing
from faultatlas.analysis.statistics.agreement.tallies import ONE_CATEGORY, basis, tally

name = "fleiss"
title = "Fleiss' kappa"
source = (
    "Fleiss (1971), Psychological Bulletin 76(5); with missing ratings and weights "
    "Gwet (2014), Handbook of inter-rater reliability, 4th ed."
)


def estimate(coded: Coded, distances: Distances | None = None) -> Estimate:
    """Chance is that two ratings out of the pool of all ratings agree.

    The pool is the mean of the items' shares, items with one rating included.
    """
    found = basis(name, coded)
    if found.reason:
        return found
    table = tally(coded, distances)
    shares = table.shares
    pool = shares.mean(axis=0)
    apart = table.distances @ pool
    chance = float(apart @ pool)  # of disagreement
    if chance < DUST:
        return replace(found, reason=ONE_CATEGORY)
    paired = table.paired
    disagreement = table.disagreement
    value = 1.0 - float(disagreement[paired].mean()) / chance
    observed_part = paired * (chance - disagreement) / chance / paired.mean()
    chance_part = 2 * (1 - value) * (shares @ apart - chance) / chance
    return by_student(found, value, observed_part + chance_part, GWET)


def resampling(coded: Coded, distances: Distances | None = None) -> Resampling:
    """Of the items with a rating."""
    table = tally(coded, distances)
    sums_of = summing(np.column_stack([observed(table), table.shares]))
    between = table.distances

    def values(drawn: Floats) -> Floats:
        sums = sums_of(drawn)
        pool = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
        chance = ((pool @ between) * pool).sum(axis=1)
        return beyond_chance(sums[:, 0], sums[:, 1], chance)

    return Resampling(len(table.sizes), values)

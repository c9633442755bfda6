"""Percent agreement: how often two raters of an item agree, chance included."""

from __future__ import annotations

from faultatlas.analysis.statistics.agreement.coding import (
    Coded,
    Distances,
    Estimate,
    Floats,
    Resampling,
)
from faultatlas.analysis.statistics.agreement.intervals import by_student
from faultatlas.analysis.statistics.agreement.sums import observed, summing
from faultatlas.analysis.statistics.agreement.tallies import basis, tally

name = "percent"
title = "Percent agreement"
source = "Fleiss (1971), Psychological Bulletin 76(5), the mean of P_i"
METHOD = "t interval of the mean over items"


def estimate(coded: Coded, distances: Distances | None = None) -> Estimate:
    """The mean over items of the share of pairs of ratings that agree."""
    found = basis(name, coded, needed=1)
    if found.reason:
        return found
    agreement = 1.0 - tally(coded, distances).only_paired().disagreement
    return by_student(found, float(agreement.mean()), agreement, METHOD)


def resampling(coded: Coded, distances: Distances | None = None) -> Resampling:
    """Of the items with two ratings."""
    table = tally(coded, distances).only_paired()
    sums_of = summing(observed(table))

    def values(drawn: Floats) -> Floats:
        sums = sums_of(drawn)
        means: Floats = 1.0 - sums[:, 0] / sums[:, 1]
        return means

    return Resampling(len(table.sizes), values)

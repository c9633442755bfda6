"""Agreement on each category: this one, or any other."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from faultatlas.analysis.statistics.agreement.bootstrap import percentile_intervals
from faultatlas.analysis.statistics.agreement.coding import (
    MISSING,
    Coded,
    Estimate,
    Floats,
    Resampling,
    Statistic,
)
from faultatlas.analysis.statistics.agreement.sums import beyond_chance, summing
from faultatlas.analysis.statistics.agreement.tallies import Tally, tally


def estimate_categories(
    statistic: Statistic, coded: Coded, *, resamples: int, seed: int
) -> dict[Hashable, Estimate]:
    """For each category in use the statistic of the ratings as "this" and "another"."""
    table = tally(coded)
    split = {int(number): _split(coded, int(number)) for number in table.numbers}
    found = {number: statistic.estimate(two) for number, two in split.items()}
    if resamples and statistic.name == "fleiss":
        # All categories at once: they are functions of the same draws.
        together = percentile_intervals(_all_fleiss(table), resamples, seed) if found else []
        for number, interval in zip(found, together, strict=True):
            if found[number].value is not None:
                found[number] = interval.into(found[number])
    elif resamples:
        for number, two in split.items():
            if found[number].value is not None:
                [interval] = percentile_intervals(statistic.resampling(two), resamples, seed)
                found[number] = interval.into(found[number])
    return {coded.categories[number]: estimate for number, estimate in found.items()}


def _split(coded: Coded, number: int) -> Coded:
    values = np.where(coded.values == MISSING, MISSING, coded.values != number)
    return replace(coded, values=values.astype(np.int64), categories=("this", "another"))


def _all_fleiss(table: Tally) -> Resampling:
    """Fleiss' kappa of every category, from one product with the draws."""
    others = table.sizes[:, None] - table.counts
    pairs = np.maximum(table.sizes * (table.sizes - 1), 1)[:, None]
    apart = 2 * table.counts * others / pairs
    sums_of = summing(np.column_stack([table.paired, apart, table.shares]))
    known = len(table.numbers)

    def values(drawn: Floats) -> Floats:
        sums = sums_of(drawn)
        shares = sums[:, known + 1 :]
        pool = shares / shares.sum(axis=1, keepdims=True)
        number = np.repeat(sums[:, :1], known, axis=1)
        return beyond_chance(sums[:, 1 : known + 1], number, 2 * pool * (1 - pool))

    return Resampling(len(table.sizes), values)

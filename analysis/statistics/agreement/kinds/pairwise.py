"""The mean of Cohen's kappa over every two raters, weighted where there are distances."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import (
    Coded,
    Distances,
    Estimate,
    Floats,
    Resampling,
)
from faultatlas.analysis.statistics.agreement.crossed import Crossed, crossed
from faultatlas.analysis.statistics.agreement.intervals import by_normal
from faultatlas.analysis.statistics.agreement.tallies import basis

name = "pairwise"
title = "Mean pairwise Cohen's kappa"
source = "Light (1971), Psychological Bulletin 76(5)"
METHOD = (
    "normal interval, the mean of the pairs' large-sample influences of each item "
    "(after Fleiss, Cohen and Everitt 1969)"
)
NO_PAIR = "no two raters share two items with two categories in use"


def estimate(coded: Coded, distances: Distances | None = None) -> Estimate:
    """Every two raters count alike; a pair without a kappa does not count."""
    found = basis(name, coded)
    if found.reason:
        return found
    pairs = _pairs(coded, distances)
    if not pairs:
        return replace(found, reason=NO_PAIR)
    kappas = [kappa for _pair, kappa in pairs]
    shifts = np.zeros(len(coded.values))
    for pair, kappa in pairs:
        shifts[pair.rows] += pair.shifts(kappa) / len(pairs)
    return by_normal(found, float(np.mean(kappas)), shifts, METHOD)


def resampling(coded: Coded, distances: Distances | None = None) -> Resampling:
    """Of the items that two raters share; in each resample of the pairs that have a kappa."""
    pairs = _pairs(coded, distances)
    shared = np.unique(np.concatenate([pair.rows for pair, _kappa in pairs]))
    resampled = [pair.resampled() for pair, _kappa in pairs]
    places = [np.searchsorted(shared, pair.rows) for pair, _kappa in pairs]

    def values(drawn: Floats) -> Floats:
        total = np.zeros(drawn.shape[1])
        number = np.zeros(drawn.shape[1])
        for kappas_of, place in zip(resampled, places, strict=True):
            kappas = kappas_of(drawn[place])
            defined = ~np.isnan(kappas)
            total += np.where(defined, kappas, 0.0)
            number += defined
        return np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)

    return Resampling(len(shared), values)


def _pairs(coded: Coded, distances: Distances | None) -> list[tuple[Crossed, float]]:
    found = (
        crossed(coded, one, other, distances)
        for one, other in combinations(range(coded.values.shape[1]), 2)
    )
    return [(pair, pair.kappa) for pair in found if pair.kappa is not None]

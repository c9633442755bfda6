"""Agreement between raters: coefficients with intervals, for all ratings, categories and pairs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np

from faultatlas.analysis.statistics.agreement.distances import Distances
from faultatlas.analysis.statistics.agreement.intervals import with_bootstrap
from faultatlas.analysis.statistics.agreement.ratings import (
    MISSING,
    AgreementEstimate,
    Coefficient,
    RatingTable,
    count_ratings,
)


@cache
def coefficients() -> dict[str, Coefficient]:
    """Every coefficient by name: those in `COEFFICIENTS` of a module of this folder."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    ]
    every = [
        coefficient for module in modules for coefficient in getattr(module, "COEFFICIENTS", ())
    ]
    return {coefficient.name: coefficient for coefficient in sorted(every, key=lambda c: c.name)}


def measure(
    table: RatingTable,
    name: str,
    *,
    distances: Distances | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> AgreementEstimate:
    """A coefficient of all ratings; with `resamples` also the bootstrap interval over items."""
    coefficient = _coefficient(name)
    estimate = coefficient.estimate(table, distances)
    if estimate.value is None or not resamples:
        return estimate
    resampling = coefficient.resampling(table, distances)
    [estimate] = with_bootstrap([estimate], resampling, resamples=resamples, seed=seed)
    return estimate


def measure_categories(
    table: RatingTable, name: str = "fleiss", *, resamples: int = 0, seed: int = 0
) -> dict[Hashable, AgreementEstimate]:
    """For each category in use: the coefficient of the ratings as "this one" and "another".

    With Fleiss' kappa that is his kappa of a category (Fleiss 1971).
    """
    coefficient = _coefficient(name)
    numbers = count_ratings(table).numbers.tolist()
    at_once = coefficient.resampling_of_categories(table) if resamples and numbers else None
    alone = 0 if at_once else resamples
    estimates = [
        measure(_this_or_another(table, number), name, resamples=alone, seed=seed)
        for number in numbers
    ]
    if at_once:
        estimates = with_bootstrap(estimates, at_once, resamples=resamples, seed=seed)
    return {
        table.categories[number]: estimate
        for number, estimate in zip(numbers, estimates, strict=True)
    }


def _this_or_another(table: RatingTable, number: int) -> RatingTable:
    values = np.where(table.values == MISSING, MISSING, table.values != number)
    return RatingTable(values.astype(np.int64), ("this", "another"))


def measure_pairs(
    table: RatingTable,
    name: str = "cohen",
    *,
    distances: Distances | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> dict[tuple[int, int], AgreementEstimate]:
    """The coefficient of every two raters, by their columns."""
    estimates = {}
    for pair in combinations(range(table.values.shape[1]), 2):
        both = replace(table, values=table.values[:, pair])
        estimates[pair] = measure(both, name, distances=distances, resamples=resamples, seed=seed)
    return estimates


def _coefficient(name: str) -> Coefficient:
    if name not in coefficients():
        raise ValueError(f"{name} is no statistic of agreement: {', '.join(coefficients())}")
    return coefficients()[name]

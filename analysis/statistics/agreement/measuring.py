"""Measures agreement: every statistic by its name, for all ratings, categories and pairs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import cast

from faultatlas.analysis.statistics.agreement import kinds
from faultatlas.analysis.statistics.agreement.bootstrap import percentile_intervals
from faultatlas.analysis.statistics.agreement.categories import estimate_categories
from faultatlas.analysis.statistics.agreement.coding import Coded, Distances, Estimate, Statistic


@cache
def statistics() -> dict[str, Statistic]:
    """Every statistic that has a module in `kinds`, by name."""
    found = (
        cast("Statistic", importlib.import_module(f"{kinds.__name__}.{module.name}"))
        for module in pkgutil.iter_modules(kinds.__path__)
        if not module.name.startswith("_")
    )
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def measure(
    coded: Coded,
    name: str,
    *,
    distances: Distances | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Estimate:
    """A statistic of all ratings, with `resamples` also the bootstrap interval over items."""
    statistic = _named(name)
    estimate = statistic.estimate(coded, distances)
    if estimate.value is None or not resamples:
        return estimate
    [interval] = percentile_intervals(statistic.resampling(coded, distances), resamples, seed)
    return interval.into(estimate)


def measure_categories(
    coded: Coded, name: str = "fleiss", *, resamples: int = 0, seed: int = 0
) -> dict[Hashable, Estimate]:
    """For each category that was used: the statistic of "this one or another".

    With Fleiss' kappa that is his kappa of a category (Fleiss 1971).
    """
    return estimate_categories(_named(name), coded, resamples=resamples, seed=seed)


def measure_pairs(
    coded: Coded,
    name: str = "cohen",
    *,
    distances: Distances | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> dict[tuple[int, int], Estimate]:
    """The statistic of every two raters, by their columns."""
    return {
        pair: measure(
            replace(coded, values=coded.values[:, pair]),
            name,
            distances=distances,
            resamples=resamples,
            seed=seed,
        )
        for pair in combinations(range(coded.values.shape[1]), 2)
    }


def _named(name: str) -> Statistic:
    if name not in statistics():
        raise ValueError(f"{name} is no statistic of agreement: {', '.join(statistics())}")
    return statistics()[name]

"""Intervals of agreement over items: analytic ones, and percentiles of a bootstrap.

A coefficient is a function of sums over items, and an item that is drawn three times counts three
times in every sum. So a resample is a column of counts, thousands of resamples are one product of
matrices, and no item is ever copied. (A loop over statsmodels' Fleiss takes 60 times as long.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from faultatlas.analysis.statistics.agreement.distances import Distances
from faultatlas.analysis.statistics.agreement.ratings import (
    AgreementEstimate,
    Coefficient,
    Floats,
    RatingCounts,
    RatingTable,
    Resampling,
    count_ratings,
    without_value,
)
from faultatlas.analysis.statistics.estimates import CONFIDENCE, TAIL

GWET = (
    "t interval from the linearised contributions of the items "
    "(Gwet 2014, Handbook of inter-rater reliability, 4th ed., ch. 5)"
)
FLEISS_COHEN_EVERITT = "normal interval, large-sample variance (Fleiss, Cohen and Everitt 1969)"
NO_SPREAD = "none: every item contributes the same"
PERFECT = "none: agreement is perfect"
NO_DISAGREEMENT = 1e-12  # an expected disagreement below this is rounding
_NO_ERROR = 1e-9  # so is a half interval below this
_COUNTS_AT_ONCE = 1_000_000  # part of the stream, see `draws`

# A value with the contributions of the items, or the reason why it is missing.
Contributions: TypeAlias = tuple[float, Floats] | str
# Features of the items, and the values of resamples from sums of these over the items drawn.
Sums: TypeAlias = tuple[Floats, Callable[[Floats], Floats]]


def of_counts(
    name: str,
    title: str,
    source: str,
    contributions: Callable[[RatingCounts], Contributions],
    sums: Callable[[RatingCounts], Sums],
    *,
    sums_of_categories: Callable[[RatingCounts], Sums] | None = None,
    only_paired: bool = False,
    method: str = GWET,
    needed: int = 2,
    lowest: float = -math.inf,
) -> Coefficient:
    """A coefficient that depends on the ratings of an item, and not on who gave which.

    `only_paired` omits items with one rating, `needed` is the number of the others.
    """

    def counted(table: RatingTable, distances: Distances | None) -> RatingCounts:
        counts = count_ratings(table, distances)
        return counts.only_paired() if only_paired else counts

    def estimate(table: RatingTable, distances: Distances | None = None) -> AgreementEstimate:
        unfinished = without_value(name, table, needed=needed)
        if unfinished.reason:
            return unfinished
        result = contributions(counted(table, distances))
        if isinstance(result, str):
            return replace(unfinished, reason=result)
        return by_student(unfinished, *result, method, lowest=lowest)

    def resampling(table: RatingTable, distances: Distances | None = None) -> Resampling:
        return resampled(*sums(counted(table, distances)))

    def categories(table: RatingTable) -> Resampling | None:
        return resampled(*sums_of_categories(count_ratings(table))) if sums_of_categories else None

    return Coefficient(name, title, source, estimate, resampling, categories)


def by_student(
    estimate: AgreementEstimate,
    value: float,
    contributions: Floats,
    method: str,
    *,
    lowest: float = -math.inf,
) -> AgreementEstimate:
    """A t interval; `contributions` are those of the items, whose mean is (nearly) the value."""
    from scipy.special import stdtrit

    items = len(contributions)
    if items < 2:
        return replace(estimate, value=value, method=NO_SPREAD)
    error = float(np.sqrt(((contributions - value) ** 2).sum() / (items * (items - 1))))
    half = float(stdtrit(items - 1, (1 + CONFIDENCE) / 2)) * error
    return _around(estimate, value, half, method, lowest)


def by_normal(
    estimate: AgreementEstimate, value: float, shifts: Floats, method: str
) -> AgreementEstimate:
    """A normal interval; `shifts` are what each item moves the value by, with the sum 0."""
    from scipy.special import ndtri

    half = float(ndtri((1 + CONFIDENCE) / 2)) * float(np.sqrt((shifts**2).sum()))
    return _around(estimate, value, half, method, -math.inf)


def _around(
    estimate: AgreementEstimate, value: float, half: float, method: str, lowest: float
) -> AgreementEstimate:
    if value >= 1 - _NO_ERROR:  # items that do not vary cannot show how much they would
        return replace(estimate, value=value, method=PERFECT)
    if not half > _NO_ERROR:
        return replace(estimate, value=value, method=NO_SPREAD)
    low, high = max(lowest, value - half), min(1.0, value + half)
    return replace(estimate, value=value, low=low, high=high, method=method)


def with_bootstrap(
    estimates: Sequence[AgreementEstimate], resampling: Resampling, *, resamples: int, seed: int
) -> list[AgreementEstimate]:
    """The estimates with percentile intervals (Efron and Tibshirani 1993, ch. 13).

    The columns of the resampling belong to the estimates. The same seed gives the same draws, so
    that estimates of the same items can be compared. Resamples without a value are omitted and not
    counted; where all are alike there is no interval, nor where the estimate has no value.
    """
    parts = [resampling.values(drawn) for drawn in draws(resampling.items, resamples, seed)]
    columns = np.concatenate(parts).reshape(resamples, -1).T
    return [
        _with_percentiles(estimate, column[~np.isnan(column)])
        for estimate, column in zip(estimates, columns, strict=True)
    ]


def _with_percentiles(estimate: AgreementEstimate, values: Floats) -> AgreementEstimate:
    if estimate.value is None:
        return estimate
    if len(values) < 2 or float(np.ptp(values)) < NO_DISAGREEMENT:
        return replace(estimate, resamples=len(values))
    low, high = map(float, np.quantile(values, (TAIL, 1 - TAIL)))
    return replace(estimate, bootstrap_low=low, bootstrap_high=high, resamples=len(values))


def draws(items: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each item (rows) was drawn in each resample (columns), some at a time.

    Stored intervals are recomputed from their seed. So the type of the random numbers and the
    number of resamples at a time must not change: with 16 bits and an odd number of items, the
    generator gives other draws for other parts.
    """
    generator = np.random.default_rng(seed)
    number = np.uint16 if items <= 2**16 else np.uint32
    at_once = max(1, _COUNTS_AT_ONCE // items)
    for start in range(0, resamples, at_once):
        shape = (min(at_once, resamples - start), items)
        # A byte is enough: an item is drawn once on average, and never 256 times.
        counts = np.empty(shape, dtype=np.uint8)
        for resample, drawn in enumerate(generator.integers(0, items, shape, dtype=number)):
            counts[resample] = np.bincount(drawn, minlength=items)
        yield counts.T.astype(np.float64, order="C")


def resampled(features: Floats, values_of: Callable[[Floats], Floats]) -> Resampling:
    """Values of resamples from sums of features (resamples by features) over the items drawn.

    Most features of an item are 0, since its raters use few of the categories. And products of
    sparse matrices add in the same order with any number of threads.
    """
    from scipy.sparse import csr_array

    by_feature = csr_array(features.T)

    def values(drawn: Floats) -> Floats:
        return values_of(np.ascontiguousarray((by_feature @ drawn).T))

    return Resampling(len(features), values)


def observed(counts: RatingCounts) -> Floats:
    """For each item its disagreement, and 1 if it has two ratings."""
    return np.column_stack([counts.disagreement, counts.paired])


def beyond_chance(disagreement: Floats, number: Floats, chance: Floats) -> Floats:
    """1 - observed by expected disagreement, from sums; NaN where that is not defined."""
    defined = (number > 0) & (chance > NO_DISAGREEMENT)
    ratio = np.divide(
        disagreement, number * chance, out=np.full_like(chance, np.nan), where=defined
    )
    return 1.0 - ratio

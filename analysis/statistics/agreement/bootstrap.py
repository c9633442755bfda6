"""Bootstrap over items: percentile intervals of statistics that are functions of sums.

An item that is drawn three times counts three times in every sum. So a resample is a column
of counts, thousands of resamples are one matrix product, and no item is ever copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import Estimate, Floats, Resampling
from faultatlas.analysis.statistics.agreement.intervals import CONFIDENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 64_000_000  # bytes of draws that are kept for the next statistic of the same items
_CHUNK = 1_000_000  # counts that are worked on at once
_DUST = 1e-12


@dataclass(frozen=True)
class Interval:
    """The middle 95 % of the values of the resamples that have one."""

    low: float | None
    high: float | None
    resamples: int

    def into(self, estimate: Estimate) -> Estimate:
        """The estimate with this interval."""
        return replace(
            estimate,
            bootstrap_low=self.low,
            bootstrap_high=self.high,
            resamples=self.resamples,
        )


def percentile_intervals(resampling: Resampling, resamples: int, seed: int) -> list[Interval]:
    """For each figure of a statistic the percentile interval (Efron and Tibshirani 1993, ch. 13).

    The same seed gives the same draws: figures of the same items can be compared. Where all
    resamples are alike there is no interval.
    """
    found = np.concatenate(
        [resampling.values(drawn) for drawn in draws(resampling.items, resamples, seed)]
    )
    columns = found.reshape(resamples, -1).T
    return [_interval(column[~np.isnan(column)]) for column in columns]


def draws(items: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each item (rows) was drawn in each resample (columns), some at a time."""
    if items * resamples <= KEPT:
        kept, width = _kept(items, resamples, seed), _width(items)
        for start in range(0, resamples, width):
            yield kept[:, start : start + width].astype(np.float64, order="C")
    else:
        for counts in _drawn(items, resamples, seed):
            yield counts.astype(np.float64, order="C")


def forget() -> None:
    """Lets go of the draws that are kept."""
    _kept.cache_clear()


@lru_cache(maxsize=1)
def _kept(items: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    kept = np.empty((items, resamples), dtype=np.uint8)
    start = 0
    for counts in _drawn(items, resamples, seed):
        kept[:, start : start + counts.shape[1]] = counts
        start += counts.shape[1]
    return kept


def _drawn(items: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Counts fit a byte: an item is drawn once on average, 256 times never."""
    chance = np.random.default_rng(seed)
    number = np.uint16 if items <= 2**16 else np.uint32
    for start in range(0, resamples, _width(items)):
        here = min(_width(items), resamples - start)
        picked = chance.integers(0, items, (here, items), dtype=number)
        counts = np.empty((here, items), dtype=np.uint8)
        for row, one in enumerate(picked):
            counts[row] = np.bincount(one, minlength=items)
        yield counts.T


def _width(items: int) -> int:
    """Resamples that are worked on at once."""
    return max(1, _CHUNK // items)


def _interval(values: Floats) -> Interval:
    if len(values) < 2 or float(np.ptp(values)) < _DUST:
        return Interval(None, None, len(values))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, (tail, 1 - tail))
    return Interval(float(low), float(high), len(values))

"""Bootstrap over items: percentile intervals of statistics that are functions of sums.

An item that is drawn three times counts three times in every sum. So a resample is a row of
counts, thousands of resamples are one matrix product, and no item is ever copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from analysis.statistics.agreement.coding import Estimate, Floats, Resampling

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95
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
    """How often each item was drawn in each resample, some resamples at a time."""
    rows = max(1, _CHUNK // items)
    if items * resamples <= KEPT:
        kept = _kept(items, resamples, seed)
        for start in range(0, resamples, rows):
            yield kept[start : start + rows].astype(np.float64)
    else:
        for counts in _drawn(items, resamples, seed):
            yield counts.astype(np.float64)


def forget() -> None:
    """Lets go of the draws that are kept."""
    _kept.cache_clear()


@lru_cache(maxsize=1)
def _kept(items: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    return np.concatenate(list(_drawn(items, resamples, seed)))


def _drawn(items: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Counts fit a byte: an item is drawn once on average, 256 times never."""
    chance = np.random.default_rng(seed)
    rows = max(1, _CHUNK // items)
    number = np.uint16 if items <= 2**16 else np.uint32
    for start in range(0, resamples, rows):
        here = min(rows, resamples - start)
        picked = chance.integers(0, items, (here, items), dtype=number)
        counts = np.empty((here, items), dtype=np.uint8)
        for row, one in enumerate(picked):
            counts[row] = np.bincount(one, minlength=items)
        yield counts


def _interval(values: Floats) -> Interval:
    if len(values) < 2 or float(np.ptp(values)) < _DUST:
        return Interval(None, None, len(values))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, (tail, 1 - tail))
    return Interval(float(low), float(high), len(values))

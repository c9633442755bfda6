"""Shares with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from faultatlas.analysis.statistics.estimates import Z_95

WILSON_95 = "Wilson score interval, 95 %"


@dataclass(frozen=True)
class Share:
    """A share: `count` of `total`, in percent, with the ends of its interval.

    A share of nothing has no value and no interval.
    """

    count: int
    total: int
    percent: float | None
    low: float | None
    high: float | None
    method: str = WILSON_95


def wilson_share(count: int, total: int) -> Share:
    """The share with its 95 % Wilson score interval (Wilson 1927; Newcombe 1998, method 3)."""
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if total == 0:
        return Share(0, 0, None, None, None)
    # Term by term as statsmodels has it, so that no digit differs: to import that takes a second.
    share, size, square = count / total, float(total), Z_95 * Z_95
    whole = 1 + square / size
    middle = (share + square / (2 * size)) / whole
    reach = Z_95 * math.sqrt(share * (1 - share) / size + square / (4 * size * size)) / whole
    # At 0 and at n the closed form leaves rounding dust around the end of the range.
    return Share(
        count,
        total,
        100 * count / total,
        100 * max(middle - reach, 0.0) if count else 0.0,
        100 * min(middle + reach, 1.0) if count < total else 100.0,
    )

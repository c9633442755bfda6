"""Shares with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

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
    # Imported late: it costs a second that a command's --help must not pay.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, total, alpha=0.05, method="wilson")
    # At 0 and at n the closed form leaves rounding dust around the end of the range.
    return Share(
        count,
        total,
        100 * count / total,
        100 * float(low) if count else 0.0,
        100 * float(high) if count < total else 100.0,
    )

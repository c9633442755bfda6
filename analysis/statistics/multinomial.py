"""Simultaneous intervals for all shares of a whole: all of them hold together with 95 %."""

from __future__ import annotations

from collections.abc import Sequence

GOODMAN_95 = "Goodman's simultaneous intervals, 95 % for all shares together"
SOURCE = (
    "Goodman, L. A.: On simultaneous confidence intervals for multinomial proportions. "
    "Technometrics 7 (1965), 247-254."
)


def goodman(counts: Sequence[int]) -> list[tuple[float, float]]:
    """The ends of the interval of each share, in percent (Goodman 1965)."""
    if len(counts) < 2 or sum(counts) == 0:
        raise ValueError("shares of a whole need two categories and something to count")
    from statsmodels.stats.proportion import multinomial_proportions_confint

    found = multinomial_proportions_confint(list(counts), alpha=0.05, method="goodman")
    # At 0 and at n the closed form leaves rounding dust beyond the range of a share.
    return [(100 * max(0.0, float(low)), 100 * min(1.0, float(high))) for low, high in found]

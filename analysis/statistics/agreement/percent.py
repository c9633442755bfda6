"""Percent agreement: how often two raters of an item agree, chance included."""

from __future__ import annotations

from faultatlas.analysis.statistics.agreement.intervals import (
    Contributions,
    Sums,
    observed,
    of_counts,
)
from faultatlas.analysis.statistics.agreement.ratings import RatingCounts


def contributions(counts: RatingCounts) -> Contributions:
    """The mean over items of the share of pairs of ratings that agree."""
    agreement = 1.0 - counts.disagreement
    return float(agreement.mean()), agreement


def sums(counts: RatingCounts) -> Sums:
    """Of disagreement and of items."""
    return observed(counts), lambda sums: 1.0 - sums[:, 0] / sums[:, 1]


PERCENT = of_counts(
    "percent",
    "Percent agreement",
    "Fleiss (1971), Psychological Bulletin 76(5), the mean of P_i",
    contributions,
    sums,
    only_paired=True,
    method="t interval of the mean over items",
    needed=1,
    lowest=0.0,
)
COEFFICIENTS = (PERCENT,)

"""Exact intervals of shares: of one sample, and of a stratified one that is weighted by stratum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from faultatlas.analysis.statistics.estimates import CONFIDENCE
from faultatlas.analysis.statistics.intervals import Share

CLOPPER_PEARSON_95 = "Clopper-Pearson interval, 95 %"
KORN_GRAUBARD_95 = "Korn-Graubard interval, 95 %"
SOURCES = (
    (
        "C. J. Clopper, E. S. Pearson: The Use of Confidence or Fiducial Limits Illustrated in the "
        "Case of the Binomial. Biometrika 26, 1934, 404-413"
    ),
    (
        "Edward L. Korn, Barry I. Graubard: Confidence Intervals for Proportions with Small "
        "Expected Number of Positive Counts Estimated from Survey Data. Survey Methodology 24, "
        "1998, 193-201"
    ),
    (
        "Jennifer D. Parker and others: National Center for Health Statistics Data Presentation "
        "Standards for Proportions. Vital and Health Statistics 2(175), 2017 (the effective sample "
        "size is no more than the sample size)"
    ),
    (
        "Leslie Kish: Survey Sampling. Wiley, 1965 (and no more than unequal weights leave of the "
        "sample size)"
    ),
)


@dataclass(frozen=True)
class Stratum:
    """So many of the population are in it, so many were tried, and so many of these count."""

    size: int
    tried: int
    count: int

    def __post_init__(self) -> None:
        if not 0 <= self.count <= self.tried <= self.size:
            raise ValueError(f"{self.count} of {self.tried} of {self.size} is no stratum")


@dataclass(frozen=True)
class WeightedShare:
    """A share of a population, in percent, with its interval.

    `count` and `tried` are not weighted. `effective` is the number of observations in a simple
    random sample that would be as exact; `missed` are strata, and their part of the population in
    percent, of which nothing was tried: the share does not speak for them.
    """

    count: int
    tried: int
    percent: float | None
    low: float | None
    high: float | None
    method: str
    effective: float | None = None
    missed: int = 0
    missed_percent: float = 0.0
    single: int = 0  # strata of which one was tried


def clopper_pearson(count: float, total: float) -> tuple[float, float]:
    """The ends of the exact 95 % interval, as shares of 1; for an effective size, also fractions.

    These are quantiles of beta distributions (Clopper and Pearson 1934). Exact: over all shares
    the interval holds the true one at least as often as it says, mostly more often.
    """
    from scipy.special import betaincinv  # scipy.stats takes a second to import

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(count, total - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    return low, high


def exact_share(count: int, total: int) -> Share:
    """The share with its 95 % Clopper-Pearson interval; of nothing there is none."""
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if total == 0:
        return Share(0, 0, None, None, None, CLOPPER_PEARSON_95)
    low, high = clopper_pearson(count, total)
    return Share(count, total, 100 * count / total, 100 * low, 100 * high, CLOPPER_PEARSON_95)


def weighted_share(strata: Sequence[Stratum]) -> WeightedShare:
    """The share in the population: that of each stratum, weighted by its size.

    Of one stratum, or without any, it is the plain share with the exact interval. Else the
    interval is Clopper and Pearson's with the effective sample size of Korn and Graubard (1998),
    adjusted for degrees of freedom and never above the size that the weights leave. A stratum of
    which one was tried has no variance of its own: it gets that of one draw with the overall share.
    The finite population makes no interval narrower: they are conservative.
    """
    seen = [each for each in strata if each.tried]
    whole = sum(each.size for each in strata)
    covered = sum(each.size for each in seen)
    count, tried = sum(each.count for each in seen), sum(each.tried for each in seen)
    missed = len(strata) - len(seen)
    missed_percent = 100 * (whole - covered) / whole if whole else 0.0
    single = sum(each.tried == 1 for each in seen) if len(seen) > 1 else 0
    if not seen:
        method = CLOPPER_PEARSON_95
        return WeightedShare(0, 0, None, None, None, method, None, missed, missed_percent)
    if len(seen) == 1:
        plain = exact_share(count, tried)
        return WeightedShare(
            count, tried, plain.percent, plain.low, plain.high, plain.method, float(tried), missed,
            missed_percent,
        )  # fmt: skip
    share = math.fsum(each.size / covered * each.count / each.tried for each in seen)
    effective = effective_size(seen)
    low, high = clopper_pearson(share * effective, effective)
    if count == 0:
        low, high = 0.0, clopper_pearson(0, effective)[1]
    elif count == tried:
        low, high = clopper_pearson(effective, effective)[0], 1.0
    return WeightedShare(
        count, tried, 100 * share, 100 * low, 100 * high, KORN_GRAUBARD_95, effective, missed,
        missed_percent, single,
    )  # fmt: skip


def effective_size(strata: Sequence[Stratum]) -> float:
    """The effective sample size of a stratified sample, of strata in which something was tried.

    p (1 - p) / variance of p, times the squared ratio of the quantiles of t with n - 1 degrees of
    freedom and with those of the design (n less the strata); no more than the weights alone leave,
    (sum of W^2 / n)^-1 (Kish), which is no more than the sample size. It is that where all or none
    count, and the variance tells nothing. The cap matters where a few tries have most of the
    weight: if they agree by chance, their stratum has no variance, and with the sample size as the
    cap 5 tries with 90 % of the weight beside 20 others gave intervals that held 75 % of the time.
    """
    from scipy.special import stdtrit

    covered = sum(each.size for each in strata)
    weights = [each.size / covered for each in strata]
    tried = sum(each.tried for each in strata)
    pairs = list(zip(weights, strata, strict=True))
    by_weights = 1 / math.fsum(weight**2 / each.tried for weight, each in pairs)
    counts = sum(each.count for each in strata)
    if counts in (0, tried):
        return by_weights
    share = math.fsum(weight * each.count / each.tried for weight, each in pairs)
    variance = math.fsum(weight**2 * _variance(each, share) for weight, each in pairs)
    if variance <= 0:  # each stratum is of one kind: that is no proof that it always would be
        return by_weights
    single = sum(each.tried == 1 for each in strata)
    degrees = sum(each.tried - 1 for each in strata) + max(0, single - 1)
    tail = (1 - CONFIDENCE) / 2
    ratio = float(stdtrit(tried - 1, tail) / stdtrit(max(1, degrees), tail))
    return min(by_weights, share * (1 - share) / variance * ratio**2)


def _variance(stratum: Stratum, overall: float) -> float:
    """Of a stratum's share."""
    if stratum.tried == 1:
        return overall * (1 - overall)
    share = stratum.count / stratum.tried
    return share * (1 - share) / (stratum.tried - 1)

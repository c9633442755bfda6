"""Shares with intervals: of a sample, of all categories together, of a stratified sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from faultatlas.analysis.statistics.estimates import TAIL, Z_95, cited

WILSON_95 = "Wilson score interval, 95 %"
CLOPPER_PEARSON_95 = "Clopper-Pearson interval, 95 %"
KORN_GRAUBARD_95 = "Korn-Graubard interval, 95 %"
GOODMAN_95 = "Goodman's simultaneous intervals, 95 % for all shares together"
GOODMAN_SOURCES = cited("goodman-1965")
CLOPPER_PEARSON_SOURCES = cited("clopper-pearson-1934")
WEIGHTED_SOURCES = cited("korn-graubard-1998", "parker-2017", "kish-1965")


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


@dataclass(frozen=True)
class StratumCount:
    """A stratum of a population: its size, how many were tried, and how many of these count."""

    size: int
    tried: int
    count: int

    def __post_init__(self) -> None:
        if not 0 <= self.count <= self.tried <= self.size:
            raise ValueError(f"{self.count} of {self.tried} of {self.size} is no stratum")


@dataclass(frozen=True)
class WeightedShare:
    """A share of a population, in percent, with its interval.

    `count` and `tried` are not weighted. `effective` is the size of a simple random sample that
    would be as precise; `missed` are the strata without a try, and `missed_percent` their part of
    the population: the share does not cover them.
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
    single: int = 0  # strata with one try


def wilson_share(count: int, total: int) -> Share:
    """The share with its 95 % Wilson score interval (Wilson 1927; Newcombe 1998, method 3)."""
    _check(count, total)
    if total == 0:
        return Share(0, 0, None, None, None)
    # Not statsmodels' proportion_confint, whose import takes a second that most commands with
    # shares do not need otherwise. The same operations in the same order: no digit differs.
    share, size, square = count / total, float(total), Z_95 * Z_95
    scale = 1 + square / size
    centre = (share + square / (2 * size)) / scale
    half = Z_95 * math.sqrt(share * (1 - share) / size + square / (4 * size * size)) / scale
    # At 0 and at n the closed form leaves rounding dust around the end of the range.
    low = 100 * max(centre - half, 0.0) if count else 0.0
    high = 100 * min(centre + half, 1.0) if count < total else 100.0
    return Share(count, total, 100 * count / total, low, high)


def clopper_pearson(count: float, total: float) -> tuple[float, float]:
    """The ends of the exact 95 % interval, as shares of 1; an effective size may be fractional.

    They are quantiles of beta distributions (Clopper and Pearson 1934). Exact means conservative:
    the interval covers the true share at least as often as it promises.
    """
    # Not statsmodels' proportion_confint, which is the same two quantiles and a second of imports.
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, TAIL)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - TAIL)) if count < total else 1.0
    return low, high


def exact_share(count: int, total: int) -> Share:
    """The share with its 95 % Clopper-Pearson interval; a share of nothing has no value."""
    _check(count, total)
    if total == 0:
        return Share(0, 0, None, None, None, CLOPPER_PEARSON_95)
    low, high = clopper_pearson(count, total)
    return Share(count, total, 100 * count / total, 100 * low, 100 * high, CLOPPER_PEARSON_95)


def goodman(counts: Sequence[int]) -> list[tuple[float, float]]:
    """The ends of the interval of each category's share, in percent (Goodman 1965).

    All intervals together hold with 95 %.
    """
    if len(counts) < 2 or sum(counts) == 0:
        raise ValueError("shares of a whole need two categories and something to count")
    from statsmodels.stats.proportion import multinomial_proportions_confint

    ends = multinomial_proportions_confint(list(counts), alpha=0.05, method="goodman")
    # At 0 and at n the closed form leaves rounding dust beyond the range of a share.
    return [(100 * max(0.0, float(low)), 100 * min(1.0, float(high))) for low, high in ends]


def weighted_share(strata: Sequence[StratumCount]) -> WeightedShare:
    """The share in the population: that of each stratum, weighted by the stratum's size.

    With one stratum it is the plain share with the exact interval. Otherwise the interval is
    Clopper and Pearson's with the effective sample size of Korn and Graubard (1998), adjusted for
    degrees of freedom and never above the size that the weights leave. No library has this
    combination: statsmodels has no survey designs. The finite population makes no interval
    narrower, so the intervals are conservative.
    """
    sampled = [stratum for stratum in strata if stratum.tried]
    population = sum(stratum.size for stratum in strata)
    covered = sum(stratum.size for stratum in sampled)
    count = sum(stratum.count for stratum in sampled)
    tried = sum(stratum.tried for stratum in sampled)
    missed = len(strata) - len(sampled)
    missed_percent = 100 * (population - covered) / population if population else 0.0
    if len(sampled) < 2:
        plain = exact_share(count, tried)
        return WeightedShare(
            count, tried, plain.percent, plain.low, plain.high, plain.method,
            float(tried) if tried else None, missed, missed_percent,
        )  # fmt: skip
    share = math.fsum(stratum.size / covered * stratum.count / stratum.tried for stratum in sampled)
    effective = effective_size(sampled)
    low, high = clopper_pearson(share * effective, effective)
    if count == 0:
        low, high = 0.0, clopper_pearson(0, effective)[1]
    elif count == tried:
        low, high = clopper_pearson(effective, effective)[0], 1.0
    single = sum(stratum.tried == 1 for stratum in sampled)
    return WeightedShare(
        count, tried, 100 * share, 100 * low, 100 * high, KORN_GRAUBARD_95, effective, missed,
        missed_percent, single,
    )  # fmt: skip


def effective_size(strata: Sequence[StratumCount]) -> float:
    """The effective sample size of a stratified sample; each stratum has a try.

    p (1 - p) / variance of p, times the squared ratio of the quantiles of t with n - 1 degrees of
    freedom and with those of the design (n less the number of strata). The cap is what the weights
    alone leave, 1 / sum of W^2 / n (Kish), which is never above the sample size; it is also the
    size where all or none count, and the variance is 0. The cap matters where a few tries have
    most of the weight: if they agree by chance, their stratum has no variance. With the sample
    size as the cap, 5 tries with 90 % of the weight beside 20 others gave intervals that covered
    the true share in 75 % of the samples.
    """
    from scipy.special import stdtrit

    covered = sum(stratum.size for stratum in strata)
    weighted = [(stratum.size / covered, stratum) for stratum in strata]
    tried = sum(stratum.tried for stratum in strata)
    cap = 1 / math.fsum(weight**2 / stratum.tried for weight, stratum in weighted)
    if sum(stratum.count for stratum in strata) in (0, tried):
        return cap
    share = math.fsum(weight * stratum.count / stratum.tried for weight, stratum in weighted)
    variance = math.fsum(weight**2 * _variance(stratum, share) for weight, stratum in weighted)
    if variance <= 0:  # uniform strata in the sample need not be uniform in the population
        return cap
    single = sum(stratum.tried == 1 for stratum in strata)
    degrees = sum(stratum.tried - 1 for stratum in strata) + max(0, single - 1)
    ratio = float(stdtrit(tried - 1, TAIL) / stdtrit(max(1, degrees), TAIL))
    return min(cap, share * (1 - share) / variance * ratio**2)


def _variance(stratum: StratumCount, overall: float) -> float:
    """The variance of a stratum's share; one try has none, so it gets that of the overall share."""
    if stratum.tried == 1:
        return overall * (1 - overall)
    share = stratum.count / stratum.tried
    return share * (1 - share) / (stratum.tried - 1)


def _check(count: int, total: int) -> None:
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")

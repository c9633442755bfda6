"""How far two groups of numbers are apart, with intervals.

Cohen's d and Hedges' g by the noncentral t distribution, Cliff's delta by its own variance,
epsilon squared of several groups by resampling from a seed. Differences are first minus second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultatlas.analysis.statistics.estimates import CONFIDENCE, Z_95, Estimate, no_estimate
from faultatlas.analysis.statistics.tests import distances, is_constant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

D_METHOD = "noncentral t distribution (Cumming and Finch 2001), 95 %"
DELTA_METHOD = (
    "asymmetric interval from the unbiased variance (Cliff 1993; Feng and Cliff 2004), 95 %"
)
PAIRED_DELTA_METHOD = (
    "asymmetric interval (Feng and Cliff 2004) from the variance over pairs (Hoeffding 1948), 95 %"
)
EPSILON_METHOD = "percentile bootstrap within groups, less its bias, 95 %"
SOURCES = (
    "Cohen, J.: Statistical power analysis for the behavioral sciences. 2nd ed., 1988.",
    (
        "Hedges, L. V.: Distribution theory for Glass's estimator of effect size and related "
        "estimators. Journal of Educational Statistics 6 (1981), 107-128."
    ),
    (
        "Cumming, G., Finch, S.: A primer on the understanding, use, and calculation of confidence "
        "intervals that are based on central and noncentral distributions. Educational and "
        "Psychological Measurement 61 (2001), 532-574."
    ),
    (
        "Cliff, N.: Dominance statistics: ordinal analyses to answer ordinal questions. "
        "Psychological Bulletin 114 (1993), 494-509."
    ),
    (
        "Hoeffding, W.: A class of statistics with asymptotically normal distribution. Annals of "
        "Mathematical Statistics 19 (1948), 293-325."
    ),
    (
        "Feng, D., Cliff, N.: Monte Carlo evaluation of ordinal d with improved confidence "
        "interval. Journal of Modern Applied Statistical Methods 3 (2004), 322-332."
    ),
)

_TAIL = (1 - CONFIDENCE) / 2


def cohen_d(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The difference of means in pooled standard deviations (Cohen 1988, p. 67)."""
    import numpy as np

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n = len(x) + len(y)
    if min(len(x), len(y)) < 2:
        return no_estimate(n, D_METHOD, "a group has fewer than two values")
    degrees = n - 2
    pooled = math.sqrt(((len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)) / degrees)
    if is_constant(first, second) or pooled == 0 or not math.isfinite(pooled):
        return no_estimate(n, D_METHOD, "the values do not vary within the groups")
    value = float((x.mean() - y.mean()) / pooled)
    scale = math.sqrt(len(x) * len(y) / n)
    return _by_noncentral_t(value, scale, degrees, n)


def hedges_g(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Cohen's d without its bias in small samples (Hedges 1981, the exact factor)."""
    d = cohen_d(first, second)
    return _unbiased(d, d.n - 2)


def _unbiased(d: Estimate, degrees: int) -> Estimate:
    if d.value is None or d.low is None or d.high is None:
        return d
    factor = small_sample_factor(degrees)
    return Estimate(factor * d.value, factor * d.low, factor * d.high, d.n, d.method)


def small_sample_factor(degrees: int) -> float:
    """By what d is too large in the mean: 1 in large samples."""
    half = degrees / 2
    return math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(half)


def paired_d(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The mean of the differences of pairs in their standard deviations (d_z, Cohen p. 48)."""
    import numpy as np

    differences = distances(first, second)
    n = len(differences)
    if n < 2:
        return no_estimate(n, D_METHOD, "there are fewer than two pairs")
    spread = float(np.std(differences, ddof=1))
    if is_constant(differences) or spread == 0 or not math.isfinite(spread):
        return no_estimate(n, D_METHOD, "the differences do not vary")
    return _by_noncentral_t(float(np.mean(differences)) / spread, math.sqrt(n), n - 1, n)


def paired_g(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The d of pairs without its bias in small samples."""
    d = paired_d(first, second)
    return _unbiased(d, d.n - 1)


def cliff_delta(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """How much more often a value of the first group is above one of the second than below."""
    import numpy as np

    x, y = np.sort(np.asarray(first, dtype=float)), np.sort(np.asarray(second, dtype=float))
    n, m = len(x), len(y)
    if min(n, m) < 2:
        return no_estimate(n + m, DELTA_METHOD, "a group has fewer than two values")
    of_x = (np.searchsorted(y, x, "left") - (m - np.searchsorted(y, x, "right"))) / m
    of_y = ((n - np.searchsorted(x, y, "right")) - np.searchsorted(x, y, "left")) / n
    ties = int((np.searchsorted(y, x, "right") - np.searchsorted(y, x, "left")).sum())
    delta = float(of_x.mean())
    # The sum of squares over all pairs: a pair is 1, -1 or, where they tie, 0.
    within = (n * m - ties) - n * m * delta**2
    between = m**2 * float(((of_x - delta) ** 2).sum()) + n**2 * float(((of_y - delta) ** 2).sum())
    variance = (between - within) / (n * m * (n - 1) * (m - 1))
    variance = max(variance, (1 - delta**2) / (n * m - 1))  # it can come out below 0
    low, high = _ordinal_interval(delta, variance, n + m - 2, min(n, m))
    return Estimate(delta, low, high, n + m, DELTA_METHOD)


def paired_delta(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Cliff's delta of pairs: as of two groups, but values of a pair are not independent."""
    import numpy as np

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n = len(x)
    if n < 2:
        return no_estimate(n, PAIRED_DELTA_METHOD, "there are fewer than two pairs")
    in_order = (np.sort(x), np.sort(y))
    above = np.searchsorted(in_order[1], x, "left") - n + np.searchsorted(in_order[1], x, "right")
    below = n - np.searchsorted(in_order[0], y, "right") - np.searchsorted(in_order[0], y, "left")
    delta = float(above.sum()) / n**2
    # What a pair adds, as the first of the two and as the second.
    parts = (above + below) / n - 2 * delta
    variance = max(float((parts**2).sum()) / (n * (n - 1)), (1 - delta**2) / (n**2 - 1))
    low, high = _ordinal_interval(delta, variance, n - 1, n)
    return Estimate(delta, min(low, delta), max(high, delta), n, PAIRED_DELTA_METHOD)


def epsilon_squared(groups: Sequence[Sequence[float]], *, seed: int, resamples: int) -> Estimate:
    """How much of the variance of ranks lies between several groups: H / (n - 1)."""
    import numpy as np

    arrays = [np.asarray(group, dtype=float) for group in groups]
    n = sum(map(len, arrays))
    if len(arrays) < 2 or min(map(len, arrays)) < 2:
        return no_estimate(n, EPSILON_METHOD, "a group has fewer than two values")
    value = _epsilon(arrays)
    if value is None:
        return no_estimate(n, EPSILON_METHOD, "all values are the same")
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = [
        _epsilon([generator.choice(group, len(group)) for group in arrays])
        for _again in range(resamples)
    ]
    known = [each for each in drawn if each is not None]
    # Without any effect H is in the mean k - 1: once in the sample, once more in drawing again.
    bias = 2 * (len(arrays) - 1) / (n - 1) * (1 - value)
    low, high = (float(end) - bias for end in np.quantile(known, [_TAIL, 1 - _TAIL]))
    return Estimate(value, max(0.0, min(low, value)), max(high, value), n, EPSILON_METHOD)


def _by_noncentral_t(value: float, scale: float, degrees: int, n: int) -> Estimate:
    """The effects for which a t as large, or as small, would be seen in 2.5 % of the samples."""
    from scipy.special import nctdtrinc

    t = value * scale
    ends = [float(nctdtrinc(degrees, tail, t)) / scale for tail in (1 - _TAIL, _TAIL)]
    if not all(map(math.isfinite, ends)):  # far out the distribution cannot be computed
        spread = math.sqrt(1 / scale**2 + value**2 / (2 * degrees))
        ends = [value - Z_95 * spread, value + Z_95 * spread]
        method = "normal approximation (Hedges and Olkin 1985, p. 86), 95 %"
        return Estimate(value, ends[0], ends[1], n, method)
    return Estimate(value, min(ends[0], value), max(ends[1], value), n, D_METHOD)


def _ordinal_interval(
    delta: float, variance: float, degrees: int, smaller: int
) -> tuple[float, float]:
    """Feng and Cliff (2004), equation 9, with Student's t; at the end of the scale equation 10."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(degrees, 1 - _TAIL))
    square = quantile**2
    if abs(delta) == 1:
        end = max(-1.0, (smaller - square) / (smaller + square))
        return (end, 1.0) if delta > 0 else (-1.0, -end)
    room = (1 - delta**2) ** 2 + square * variance
    half = quantile * math.sqrt(variance) * math.sqrt(room)
    below = 1 - delta**2 + square * variance
    centre = delta - delta**3
    return max(-1.0, (centre - half) / below), min(1.0, (centre + half) / below)


def _epsilon(groups: list[NDArray[np.float64]]) -> float | None:
    """Kruskal and Wallis's H with the correction for ties, by n - 1."""
    import numpy as np

    every = np.concatenate(groups)
    n = len(every)
    _values, places, counts = np.unique(every, return_inverse=True, return_counts=True)
    if len(counts) == 1:
        return None
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[places]
    total, start = 0.0, 0
    for group in groups:
        part = ranks[start : start + len(group)]
        total += float(part.sum()) ** 2 / len(group)
        start += len(group)
    h = 12 / (n * (n + 1)) * total - 3 * (n + 1)
    h /= 1 - float((counts.astype(float) ** 3 - counts).sum()) / (float(n) ** 3 - n)
    return max(0.0, h / (n - 1))

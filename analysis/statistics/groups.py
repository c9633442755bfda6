"""Groups of numbers: are they normal, do they vary alike, do they differ, and by how much.

P-values are two-sided unless a function says otherwise. Differences are first minus second. What
cannot be tested or estimated has a reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.statistics import effect_size
from faultatlas.analysis.statistics.estimates import (
    CONFIDENCE,
    TAIL,
    Z_95,
    Estimate,
    Test,
    cited,
    no_estimate,
    no_test,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHAPIRO_MOST = 5_000  # beyond, Royston's approximation of the p-value is not known to hold
EXACT_MOST = 50  # values of a group; beyond, the normal approximation is as good
MOST_ORDERS = 10_000  # with ties, all ways to deal out the values are tried if there are no more
EXACT = "exact"
EXACT_TIES = "exact with ties: all ways to deal out the values"
APPROXIMATE = "normal approximation, corrected for ties and continuity"
SHAPIRO = "Shapiro-Wilk"
OMNIBUS = "D'Agostino-Pearson"
LEVENE = "Levene's test around the medians (Brown and Forsythe 1974)"
STUDENT, WELCH, PAIRED = "Student's t-test", "Welch's t-test", "paired t-test"
MANN_WHITNEY, WILCOXON = "Mann-Whitney U test", "Wilcoxon signed-rank test"
KRUSKAL, WELCH_ANOVA = "Kruskal-Wallis test", "Welch's analysis of variance"
D_METHOD = "noncentral t distribution (Cumming and Finch 2001), 95 %"
D_APPROXIMATION = "normal approximation (Hedges and Olkin 1985, p. 86), 95 %"
DELTA_METHOD = (
    "asymmetric interval from the unbiased variance (Cliff 1993; Feng and Cliff 2004), 95 %"
)
PAIRED_DELTA_METHOD = (
    "asymmetric interval (Feng and Cliff 2004) from the variance over pairs (Hoeffding 1948), 95 %"
)
EPSILON_METHOD = "percentile bootstrap within groups, less its bias, 95 %"
SOURCES = cited(
    "shapiro-wilk-1965", "brown-forsythe-1974", "welch-1947", "mann-whitney-1947", "cohen-1988",
    "hedges-1981", "cumming-finch-2001", "cliff-1993", "hoeffding-1948", "feng-cliff-2004",
)  # fmt: skip

Values = Sequence[float]


def is_constant(*groups: Values) -> bool:
    """Whether no group varies; a computed variance may still be rounding dust above 0."""
    return all(min(group) == max(group) for group in groups)


def differences(first: Values, second: Values) -> list[float]:
    """The differences of pairs without rounding dust: 0.3 - 0.1 equals 0.4 - 0.2.

    Rounded to 12 digits of the largest value, so that ties stay ties.
    """
    largest = max((abs(value) for value in (*first, *second)), default=0.0)
    digits = 12 - math.ceil(math.log10(largest)) if largest else 0
    return [round(one - other, digits) for one, other in zip(first, second, strict=True)]


def normality(values: Values) -> Test:
    """Shapiro and Wilk's test (1965); above 5,000 values that of D'Agostino and Pearson (1973)."""
    from scipy import stats

    n = len(values)
    if n < 3:
        return no_test(SHAPIRO, n, "fewer than three values")
    if is_constant(values):
        return no_test(SHAPIRO, n, "all values are the same")
    name, test = (OMNIBUS, stats.normaltest) if n > SHAPIRO_MOST else (SHAPIRO, stats.shapiro)
    result = test(values)
    return Test(name, float(result.statistic), float(result.pvalue), n)


def equal_variances(*groups: Values) -> Test:
    """Levene's test with medians for means (Brown and Forsythe 1974)."""
    import numpy as np
    from scipy import stats

    n = sum(map(len, groups))
    if min(map(len, groups)) < 2:
        return no_test(LEVENE, n, "a group has fewer than two values")
    if is_constant(*groups):
        return no_test(LEVENE, n, "the values do not vary within the groups")
    with np.errstate(divide="ignore", invalid="ignore"):  # all distances may be the same
        result = stats.levene(*groups, center="median")
    if not math.isfinite(result.statistic):
        return no_test(LEVENE, n, "the distances from the medians do not vary")
    return Test(LEVENE, float(result.statistic), float(result.pvalue), n)


def t_test(first: Values, second: Values, *, equal: bool) -> tuple[Test, Estimate]:
    """Student's or Welch's (1947) test, and the difference of the means with its interval."""
    from scipy import stats

    name, n = STUDENT if equal else WELCH, len(first) + len(second)
    if min(len(first), len(second)) < 2 or is_constant(first, second):
        reason = "a group has fewer than two values, or they do not vary"
        return no_test(name, n, reason), no_estimate(n, name, reason)
    result = stats.ttest_ind(first, second, equal_var=equal)
    mean = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    return _t_result(name, n, result, mean)


def paired_t(first: Values, second: Values) -> tuple[Test, Estimate]:
    """Student's t-test of the differences of pairs, and their mean with its interval."""
    from scipy import stats

    n = len(first)
    apart = differences(first, second)
    if n < 2 or is_constant(apart):
        reason = "fewer than two pairs, or their differences do not vary"
        return no_test(PAIRED, n, reason), no_estimate(n, PAIRED, reason)
    return _t_result(PAIRED, n, stats.ttest_rel(first, second), math.fsum(apart) / n)


def _t_result(name: str, n: int, result: Any, mean: float) -> tuple[Test, Estimate]:
    low, high = result.confidence_interval(CONFIDENCE)
    return (
        Test(name, float(result.statistic), float(result.pvalue), n, float(result.df)),
        Estimate(mean, float(low), float(high), n, f"{name}, 95 %"),
    )


def mann_whitney(first: Values, second: Values) -> Test:
    """Mann and Whitney's test (1947).

    Exact in small groups, else the normal approximation, corrected for ties.
    """
    from scipy import stats

    n = len(first) + len(second)
    if min(len(first), len(second)) < 1:
        return no_test(MANN_WHITNEY, n, "a group has no values")
    distinct = len({*first, *second})
    if distinct == 1:
        return no_test(MANN_WHITNEY, n, "all values are the same")
    orders = math.comb(n, len(first))
    exact = max(len(first), len(second)) <= EXACT_MOST
    method, detail = _rank_method(ties=distinct < n, orders=orders, exact=exact)
    result = stats.mannwhitneyu(first, second, method=method)
    return Test(MANN_WHITNEY, float(result.statistic), float(result.pvalue), n, detail=detail)


def wilcoxon(first: Values, second: Values) -> Test:
    """Wilcoxon's signed-rank test (1945) of pairs, without the pairs that do not differ."""
    from scipy import stats

    apart = [difference for difference in differences(first, second) if difference]
    n = len(apart)
    if not n:
        return no_test(WILCOXON, len(first), "no pair differs")
    ties = len(set(map(abs, apart))) < n
    method, detail = _rank_method(ties=ties, orders=2**n, exact=n <= EXACT_MOST)
    result = stats.wilcoxon(apart, method=method, correction=method == "asymptotic")
    omitted = len(first) - n
    if omitted:
        detail += f"; {omitted:,} pairs without a difference are omitted"
    return Test(WILCOXON, float(result.statistic), float(result.pvalue), n, detail=detail)


def _rank_method(*, ties: bool, orders: int, exact: bool) -> tuple[Any, str]:
    """How scipy shall compute the p-value of a rank test, and that in words."""
    from scipy import stats

    if ties and orders <= MOST_ORDERS:
        return stats.PermutationMethod(n_resamples=MOST_ORDERS), EXACT_TIES
    if exact and not ties:
        return "exact", EXACT
    return "asymptotic", APPROXIMATE


def kruskal(groups: Sequence[Values]) -> Test:
    """Whether one of several groups tends to larger values (Kruskal and Wallis 1952)."""
    from scipy import stats

    n = sum(map(len, groups))
    if len({value for group in groups for value in group}) < 2:
        return no_test(KRUSKAL, n, "all values are the same")
    result = stats.kruskal(*groups)
    return Test(KRUSKAL, float(result.statistic), float(result.pvalue), n, float(len(groups) - 1))


def welch_anova(groups: Sequence[Values]) -> Test:
    """Whether the means of several groups differ, whatever their variances (Welch 1951)."""
    from statsmodels.stats.oneway import anova_oneway

    n = sum(map(len, groups))
    if any(len(group) < 2 or is_constant(group) for group in groups):
        return no_test(WELCH_ANOVA, n, "a group has fewer than two values, or they do not vary")
    result = anova_oneway(list(groups), use_var="unequal")
    return Test(
        WELCH_ANOVA, float(result.statistic), float(result.pvalue), n,
        detail=f"{result.df_num:.0f} and {result.df_denom:.1f} degrees of freedom",
    )  # fmt: skip


@effect_size("groups", "d", "Cohen's d", "cohen-d")
def cohen_d(first: Values, second: Values) -> Estimate:
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
    return _noncentral_t_interval(value, math.sqrt(len(x) * len(y) / n), degrees, n)


@effect_size("groups", "g", "Hedges' g", "cohen-d")
def hedges_g(first: Values, second: Values) -> Estimate:
    """Cohen's d without its bias in small samples (Hedges 1981, the exact factor)."""
    d = cohen_d(first, second)
    return _unbiased(d, d.n - 2)


@effect_size("pairs", "d", "Cohen's d of pairs", "cohen-d")
def paired_d(first: Values, second: Values) -> Estimate:
    """The mean of the differences of pairs in their standard deviations (Cohen 1988, p. 48)."""
    import numpy as np

    apart = differences(first, second)
    n = len(apart)
    if n < 2:
        return no_estimate(n, D_METHOD, "there are fewer than two pairs")
    deviation = float(np.std(apart, ddof=1))
    if is_constant(apart) or deviation == 0 or not math.isfinite(deviation):
        return no_estimate(n, D_METHOD, "the differences do not vary")
    return _noncentral_t_interval(float(np.mean(apart)) / deviation, math.sqrt(n), n - 1, n)


@effect_size("pairs", "g", "Hedges' g of pairs", "cohen-d")
def paired_g(first: Values, second: Values) -> Estimate:
    """The d of pairs without its bias in small samples (Hedges 1981)."""
    d = paired_d(first, second)
    if d.value is not None and d.n < 3:  # with one degree of freedom d has no expected value
        return no_estimate(d.n, D_METHOD, "there are fewer than three pairs")
    return _unbiased(d, d.n - 1)


def small_sample_factor(degrees: int) -> float:
    """What removes the bias of d as a factor: 1 in large samples (Hedges 1981)."""
    half = degrees / 2
    return math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(half)


def _unbiased(d: Estimate, degrees: int) -> Estimate:
    if d.value is None or d.low is None or d.high is None:
        return d
    factor = small_sample_factor(degrees)
    return Estimate(factor * d.value, factor * d.low, factor * d.high, d.n, d.method)


def _noncentral_t_interval(value: float, scale: float, degrees: int, n: int) -> Estimate:
    """The effects for which a t as large, or as small, occurs in 2.5 % of the samples."""
    from scipy.special import nctdtrinc

    t = value * scale
    ends = [float(nctdtrinc(degrees, tail, t)) / scale for tail in (1 - TAIL, TAIL)]
    if not all(map(math.isfinite, ends)):  # the distribution cannot be computed far out
        half = Z_95 * math.sqrt(1 / scale**2 + value**2 / (2 * degrees))
        return Estimate(value, value - half, value + half, n, D_APPROXIMATION)
    return Estimate(value, min(ends[0], value), max(ends[1], value), n, D_METHOD)


@effect_size("groups", "delta", "Cliff's delta", "cliff-delta")
def cliff_delta(first: Values, second: Values) -> Estimate:
    """How much more often a value of the first group is above one of the second than below.

    The value is a by-product of the variance (Cliff 1993), which no library has.
    """
    import numpy as np

    x, y = np.sort(np.asarray(first, dtype=float)), np.sort(np.asarray(second, dtype=float))
    n, m = len(x), len(y)
    if min(n, m) < 2:
        return no_estimate(n + m, DELTA_METHOD, "a group has fewer than two values")
    of_x, of_y = _dominance(x, y) / m, -_dominance(y, x) / n
    ties = int((np.searchsorted(y, x, "right") - np.searchsorted(y, x, "left")).sum())
    delta = float(of_x.mean())
    # The sum of squares over all pairs: a pair is 1, -1 or, where the two tie, 0.
    within = (n * m - ties) - n * m * delta**2
    between = m**2 * float(((of_x - delta) ** 2).sum()) + n**2 * float(((of_y - delta) ** 2).sum())
    variance = (between - within) / (n * m * (n - 1) * (m - 1))
    variance = max(variance, (1 - delta**2) / (n * m - 1))  # the unbiased one may be below 0
    low, high = _ordinal_interval(delta, variance, n + m - 2, min(n, m))
    return Estimate(delta, low, high, n + m, DELTA_METHOD)


@effect_size("pairs", "delta", "Cliff's delta of pairs", "cliff-delta")
def paired_delta(first: Values, second: Values) -> Estimate:
    """Cliff's delta of pairs: the value is that of two groups, but pairs are not independent."""
    import numpy as np

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n = len(x)
    if n < 2:
        return no_estimate(n, PAIRED_DELTA_METHOD, "there are fewer than two pairs")
    above, below = _dominance(x, np.sort(y)), -_dominance(y, np.sort(x))
    delta = float(above.sum()) / n**2
    # What a pair contributes, with its first and with its second value.
    parts = (above + below) / n - 2 * delta
    variance = max(float((parts**2).sum()) / (n * (n - 1)), (1 - delta**2) / (n**2 - 1))
    low, high = _ordinal_interval(delta, variance, n - 1, n)
    return Estimate(delta, min(low, delta), max(high, delta), n, PAIRED_DELTA_METHOD)


def _dominance(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each value how many of the others, which are sorted, are below it less those above."""
    import numpy as np

    at_least = len(others) - np.searchsorted(others, values, "right")
    return np.searchsorted(others, values, "left") - at_least


def _ordinal_interval(
    delta: float, variance: float, degrees: int, smaller: int
) -> tuple[float, float]:
    """Feng and Cliff (2004), equation 9, with Student's t; at the end of the scale equation 10."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(degrees, 1 - TAIL))
    square = quantile**2
    if abs(delta) == 1:
        end = max(-1.0, (smaller - square) / (smaller + square))
        return (end, 1.0) if delta > 0 else (-1.0, -end)
    half = quantile * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + square * variance)
    divisor = 1 - delta**2 + square * variance
    centre = delta - delta**3
    return max(-1.0, (centre - half) / divisor), min(1.0, (centre + half) / divisor)


def epsilon_squared(groups: Sequence[Values], *, seed: int, resamples: int) -> Estimate:
    """How much of the variance of ranks lies between several groups.

    Kruskal and Wallis's H by n - 1, its largest value (Tomczak and Tomczak 2014).
    """
    import numpy as np

    arrays = [np.asarray(group, dtype=float) for group in groups]
    n = sum(map(len, arrays))
    if len(arrays) < 2 or min(map(len, arrays)) < 2:
        return no_estimate(n, EPSILON_METHOD, "a group has fewer than two values")
    value = _epsilon(arrays)
    if math.isnan(value):
        return no_estimate(n, EPSILON_METHOD, "all values are the same")
    generator = np.random.Generator(np.random.PCG64(seed))
    resampled = np.array(
        [
            _epsilon([generator.choice(group, len(group)) for group in arrays])
            for _resample in range(resamples)
        ]
    )
    # Without any effect the mean of H is k - 1: once in the sample, once more in drawing again.
    bias = 2 * (len(arrays) - 1) / (n - 1) * (1 - value)
    low, high = np.quantile(resampled[~np.isnan(resampled)], [TAIL, 1 - TAIL]) - bias
    low, high = max(0.0, min(float(low), value)), max(float(high), value)
    return Estimate(value, low, high, n, EPSILON_METHOD)


def _epsilon(groups: Sequence[NDArray[np.float64]]) -> float:
    from scipy import stats

    if is_constant([value for group in groups for value in (group.min(), group.max())]):
        return math.nan
    return max(0.0, float(stats.kruskal(*groups).statistic) / (sum(map(len, groups)) - 1))


def mann_whitney_greater(first: Values, second: Values) -> float:
    """The one-sided exact p-value that the first group tends to larger values.

    The conditional distribution of the rank sum over all ways to deal out the values, where ties
    have their mean rank; without ties it is Mann and Whitney's U test (1947). Values may be
    infinite, but not NaN. Scipy has no exact test with ties: its PermutationMethod enumerates the
    ways, and 20 values a side have too many.
    """
    size, total = len(first), len(first) + len(second)
    if not first or not second:
        return 1.0
    ranks = _doubled_ranks([*first, *second])
    observed = sum(ranks[:size])
    # ways[j] is a polynomial, its coefficients packed into one whole number: the coefficient of
    # x ** s is the number of ways to choose j values whose doubled ranks sum up to s.
    width = math.comb(total, size).bit_length() + 1
    ways = [1] + [0] * size
    for rank in ranks:
        for chosen in range(size, 0, -1):
            ways[chosen] += ways[chosen - 1] << (rank * width)
    as_high = ways[size] >> (observed * width)
    mask = (1 << width) - 1
    count = 0
    while as_high:
        count += as_high & mask
        as_high >>= width
    return count / math.comb(total, size)


def _doubled_ranks(values: Values) -> list[int]:
    """Twice the mean rank of each value: whole numbers, ties included."""
    lowest: dict[float, int] = {}
    highest: dict[float, int] = {}
    for rank, value in enumerate(sorted(values), 1):
        lowest.setdefault(value, rank)
        highest[value] = rank
    return [lowest[value] + highest[value] for value in values]


def a12(first: Values, second: Values) -> float:
    """Vargha and Delaney's A (2000): how often a first value is the larger one, ties halved."""
    # Not scipy's mannwhitneyu: judging a bug has 20 values a side and needs no scipy otherwise.
    larger = sum((one > other) + 0.5 * (one == other) for one in first for other in second)
    return larger / (len(first) * len(second))

"""Tests of groups of numbers: are they normal, do they vary alike, are they apart.

All p-values are two-sided. What cannot be tested says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from faultatlas.analysis.statistics.estimates import CONFIDENCE, Estimate, Test, no_test

SHAPIRO_MOST = 5_000  # beyond, Royston's approximation of its p-value is not known to hold
EXACT_MOST = 50  # values of a group; beyond, the normal approximation is as good
MOST_ORDERS = 10_000  # with ties: if there are no more ways to deal out the values, all are tried
EXACT = "exact"
EXACT_TIES = "exact with ties: all ways to deal out the values"
APPROXIMATE = "normal approximation, corrected for ties and continuity"
SHAPIRO = "Shapiro-Wilk"
OMNIBUS = "D'Agostino-Pearson"
LEVENE = "Levene's test around the medians (Brown and Forsythe 1974)"
STUDENT, WELCH, PAIRED = "Student's t-test", "Welch's t-test", "paired t-test"
MANN_WHITNEY, WILCOXON = "Mann-Whitney U test", "Wilcoxon signed-rank test"
KRUSKAL, WELCH_ANOVA = "Kruskal-Wallis test", "Welch's analysis of variance"
SOURCES = (
    (
        "Shapiro, S. S., Wilk, M. B.: An analysis of variance test for normality. Biometrika 52 "
        "(1965), 591-611."
    ),
    (
        "Brown, M. B., Forsythe, A. B.: Robust tests for the equality of variances. Journal of the "
        "American Statistical Association 69 (1974), 364-367."
    ),
    (
        "Welch, B. L.: The generalization of Student's problem when several different population "
        "variances are involved. Biometrika 34 (1947), 28-35."
    ),
    (
        "Mann, H. B., Whitney, D. R.: On a test of whether one of two random variables is "
        "stochastically larger than the other. Annals of Mathematical Statistics 18 (1947), 50-60."
    ),
)

Values = Sequence[float]


def normality(values: Values) -> Test:
    """Shapiro-Wilk; above 5,000 values D'Agostino-Pearson."""
    from scipy import stats

    n = len(values)
    if n < 3:
        return no_test(SHAPIRO, n, "fewer than three values")
    if min(values) == max(values):
        return no_test(SHAPIRO, n, "all values are the same")
    if n > SHAPIRO_MOST:
        found = stats.normaltest(values)
        return Test(OMNIBUS, float(found.statistic), float(found.pvalue), n)
    found = stats.shapiro(values)
    return Test(SHAPIRO, float(found.statistic), float(found.pvalue), n)


def equal_variances(*groups: Values) -> Test:
    """Levene's test with medians for means."""
    import numpy as np
    from scipy import stats

    n = sum(map(len, groups))
    if min(map(len, groups)) < 2:
        return no_test(LEVENE, n, "a group has fewer than two values")
    if all(min(group) == max(group) for group in groups):
        return no_test(LEVENE, n, "the values do not vary within the groups")
    with np.errstate(divide="ignore", invalid="ignore"):  # distances that are all the same
        found = stats.levene(*groups, center="median")
    if not math.isfinite(found.statistic):
        return no_test(LEVENE, n, "the distances from the medians do not vary")
    return Test(LEVENE, float(found.statistic), float(found.pvalue), n)


def t_test(first: Values, second: Values, *, equal: bool) -> tuple[Test, Estimate]:
    """Student's or Welch's test, and the difference of the means with its interval."""
    from scipy import stats

    name, n = STUDENT if equal else WELCH, len(first) + len(second)
    if min(len(first), len(second)) < 2 or is_constant(first, second):
        reason = "a group has fewer than two values, or they do not vary"
        return no_test(name, n, reason), Estimate(None, None, None, n, name, reason)
    found = stats.ttest_ind(first, second, equal_var=equal)
    low, high = found.confidence_interval(CONFIDENCE)
    difference = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    return (
        Test(name, float(found.statistic), float(found.pvalue), n, float(found.df)),
        Estimate(difference, float(low), float(high), n, f"{name}, 95 %"),
    )


def mann_whitney(first: Values, second: Values) -> Test:
    """Exact without ties in small groups, else the normal approximation, corrected for ties."""
    from scipy import stats

    n = len(first) + len(second)
    if min(len(first), len(second)) < 1:
        return no_test(MANN_WHITNEY, n, "a group has no values")
    if len({*first, *second}) == 1:
        return no_test(MANN_WHITNEY, n, "all values are the same")
    ties = len({*first, *second}) < n
    method: Any = "asymptotic"
    detail = APPROXIMATE
    if ties and math.comb(n, len(first)) <= MOST_ORDERS:
        method, detail = stats.PermutationMethod(n_resamples=MOST_ORDERS), EXACT_TIES
    elif not ties and max(len(first), len(second)) <= EXACT_MOST:
        method, detail = "exact", EXACT
    found = stats.mannwhitneyu(first, second, method=method)
    return Test(MANN_WHITNEY, float(found.statistic), float(found.pvalue), n, detail=detail)


def paired_t(first: Values, second: Values) -> tuple[Test, Estimate]:
    """The t-test of the differences of pairs, and their mean with its interval."""
    from scipy import stats

    n = len(first)
    differences = distances(first, second)
    if n < 2 or is_constant(differences):
        reason = "fewer than two pairs, or their differences do not vary"
        return no_test(PAIRED, n, reason), Estimate(None, None, None, n, PAIRED, reason)
    found = stats.ttest_rel(first, second)
    low, high = found.confidence_interval(CONFIDENCE)
    mean = math.fsum(differences) / n
    return (
        Test(PAIRED, float(found.statistic), float(found.pvalue), n, float(found.df)),
        Estimate(mean, float(low), float(high), n, f"{PAIRED}, 95 %"),
    )


def wilcoxon(first: Values, second: Values) -> Test:
    """The signed-rank test of pairs; pairs without a difference are left out (Wilcoxon)."""
    from scipy import stats

    differences = [each for each in distances(first, second) if each]
    n = len(differences)
    if not n:
        return no_test(WILCOXON, len(first), "no pair differs")
    ties = len({abs(each) for each in differences}) < n
    method: Any = "asymptotic"
    detail = APPROXIMATE
    if ties and 2**n <= MOST_ORDERS:
        method, detail = stats.PermutationMethod(n_resamples=MOST_ORDERS), EXACT_TIES
    elif not ties and n <= EXACT_MOST:
        method, detail = "exact", EXACT
    found = stats.wilcoxon(differences, method=method, correction=method == "asymptotic")
    left_out = len(first) - n
    if left_out:
        detail += f"; {left_out:,} pairs without a difference are left out"
    return Test(WILCOXON, float(found.statistic), float(found.pvalue), n, detail=detail)


def distances(first: Values, second: Values) -> list[float]:
    """The differences of pairs without rounding dust: 0.3 - 0.1 is as far as 0.4 - 0.2."""
    largest = max((abs(each) for each in (*first, *second)), default=0.0)
    digits = 12 - math.ceil(math.log10(largest)) if largest else 0
    return [round(one - other, digits) for one, other in zip(first, second, strict=True)]


def kruskal(groups: Sequence[Values]) -> Test:
    """Whether one of several groups tends to larger values."""
    from scipy import stats

    n = sum(map(len, groups))
    if len({value for group in groups for value in group}) < 2:
        return no_test(KRUSKAL, n, "all values are the same")
    found = stats.kruskal(*groups)
    return Test(KRUSKAL, float(found.statistic), float(found.pvalue), n, float(len(groups) - 1))


def welch_anova(groups: Sequence[Values]) -> Test:
    """Whether the means of several groups differ, whatever their variances."""
    from statsmodels.stats.oneway import anova_oneway

    n = sum(map(len, groups))
    if any(len(group) < 2 or is_constant(group) for group in groups):
        return no_test(WELCH_ANOVA, n, "a group has fewer than two values, or they do not vary")
    found = anova_oneway(list(groups), use_var="unequal")
    return Test(
        WELCH_ANOVA, float(found.statistic), float(found.pvalue), n,
        detail=f"{found.df_num:.0f} and {found.df_denom:.1f} degrees of freedom",
    )  # fmt: skip


def is_constant(*groups: Values) -> bool:
    """Whether no group varies: their variance may still be rounding dust above 0."""
    return all(min(group) == max(group) for group in groups)

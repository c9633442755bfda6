"""How strongly the rows and the columns of a table of counts belong together, with intervals.

Cramer's V by the noncentral chi-square distribution, plain and without its bias; for two by two
the odds ratio, the ratio and the difference of the shares. Rows are groups, the first column is
the event.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from faultatlas.analysis.statistics.estimates import CONFIDENCE, Z_95, Estimate, no_estimate

Table = Sequence[Sequence[int]]

V_METHOD = "noncentral chi-square distribution (Smithson 2003), for the V of the population, 95 %"
WOOLF = "Woolf's logit interval, 95 %"
CONDITIONAL = "conditional maximum likelihood, exact interval (as with Fisher's test), 95 %"
KATZ = "Katz's log interval, 95 %"
NEWCOMBE = "Newcombe's interval (1998, method 10), 95 %"
SOURCES = (
    "Cramer, H.: Mathematical methods of statistics. Princeton 1946.",
    (
        "Bergsma, W.: A bias-correction for Cramer's V and Tschuprow's T. Journal of the Korean "
        "Statistical Society 42 (2013), 323-328."
    ),
    "Smithson, M.: Confidence intervals. Sage 2003.",
    (
        "Newcombe, R. G.: Interval estimation for the difference between independent proportions. "
        "Statistics in Medicine 17 (1998), 873-890."
    ),
)

_TAIL = (1 - CONFIDENCE) / 2


def cramer_v(table: Table) -> Estimate:
    """Cramer's V. It is too large in the mean, and the more so the larger the table.

    The interval is that of the population's V, and so lies lower; it is widened to hold the value.
    """
    chi, n, rows, columns = _chi_square(table)
    smaller, degrees = min(rows, columns) - 1, (rows - 1) * (columns - 1)
    if smaller < 1 or n == 0:
        return no_estimate(n, V_METHOD, "there are no two rows and two columns")
    value = min(1.0, math.sqrt(chi / (n * smaller)))
    ends = [math.sqrt(ncp / (n * smaller)) for ncp in _noncentralities(chi, degrees)]
    return Estimate(value, min(ends[0], value), min(1.0, max(ends[1], value)), n, V_METHOD)


def corrected_v(table: Table) -> Estimate:
    """Cramer's V without its bias (Bergsma 2013)."""
    chi, n, rows, columns = _chi_square(table)
    smaller, degrees = min(rows, columns) - 1, (rows - 1) * (columns - 1)
    if smaller < 1 or n < 2:
        return no_estimate(n, V_METHOD, "there are no two rows and two columns")
    phi = max(0.0, chi / n - degrees / (n - 1))
    sides = [side - (side - 1) ** 2 / (n - 1) for side in (rows, columns)]
    room = min(sides) - 1
    value = min(1.0, math.sqrt(phi / room)) if room > 0 else 0.0
    ends = [math.sqrt(ncp / (n * smaller)) for ncp in _noncentralities(chi, degrees)]
    return Estimate(value, min(ends[0], value), min(1.0, max(ends[1], value)), n, V_METHOD)


def odds_ratio(table: Table, *, exact: bool = False) -> Estimate:
    """The odds of the event in the first row by those in the second.

    The sample's odds ratio; exact: the conditional estimate that belongs to Fisher's test.
    """
    from scipy.stats import contingency

    (a, b), (c, d) = table
    n = a + b + c + d
    method = CONDITIONAL if exact else WOOLF
    if 0 in (a + c, b + d, a + b, c + d):
        return no_estimate(n, method, "a row or a column is empty")
    if not exact and 0 in (a, b, c, d):
        logs = [a + 0.5, b + 0.5, c + 0.5, d + 0.5]
        value = math.log(logs[0] * logs[3] / (logs[1] * logs[2]))
        spread = Z_95 * math.sqrt(sum(1 / each for each in logs))
        ends = (math.exp(value - spread), math.exp(value + spread))
        method = f"{WOOLF}, with 0.5 added to every cell (Haldane and Anscombe)"
        return Estimate(math.exp(value), *ends, n, method)
    found = contingency.odds_ratio([[a, b], [c, d]], kind="conditional" if exact else "sample")
    low, high = found.confidence_interval(CONFIDENCE)
    value = float(found.statistic)
    if not math.isfinite(value):
        reason = f"infinite, as a cell is empty; at least {low:.3g}"
        return Estimate(None, float(low), None, n, method, reason)
    return Estimate(value, float(low), float(high), n, method)


def risk_ratio(table: Table) -> Estimate:
    """The share of the event in the first row by that in the second."""
    from scipy.stats import contingency

    (a, b), (c, d) = table
    n = a + b + c + d
    if 0 in (a, c):
        return no_estimate(n, KATZ, "the event does not occur in a group")
    found = contingency.relative_risk(a, a + b, c, c + d)
    low, high = found.confidence_interval(CONFIDENCE)
    return Estimate(float(found.relative_risk), float(low), float(high), n, KATZ)


def share_difference(table: Table) -> Estimate:
    """The share of the event in the first row less that in the second, in percentage points."""
    from statsmodels.stats.proportion import confint_proportions_2indep

    (a, b), (c, d) = table
    n = a + b + c + d
    if 0 in (a + b, c + d):
        return no_estimate(n, NEWCOMBE, "a group is empty")
    low, high = confint_proportions_2indep(a, a + b, c, c + d, method="newcomb", compare="diff")
    value = a / (a + b) - c / (c + d)
    return Estimate(100 * value, 100 * float(low), 100 * float(high), n, NEWCOMBE)


def cohen_h(first: float, second: float) -> float:
    """The difference of two shares after the arcsine transformation (Cohen 1988, p. 181)."""
    return 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))


def _chi_square(table: Table) -> tuple[float, int, int, int]:
    """Pearson's statistic without rows and columns that are empty; n and the sides."""
    import numpy as np

    counts = np.asarray(table, dtype=float)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n = counts.sum()
    if n == 0:
        return 0.0, 0, 0, 0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    return float(((counts - expected) ** 2 / expected).sum()), int(n), *counts.shape


def _noncentralities(chi: float, degrees: int) -> tuple[float, float]:
    """Those for which a statistic as large, or as small, would be seen in 2.5 % of the samples."""
    from scipy.special import chndtr

    def where(tail: float) -> float:
        return _root(lambda ncp: float(chndtr(chi, degrees, ncp)) - tail, chi)

    return where(1 - _TAIL), where(_TAIL)


def _root(falling: Callable[[float], float], start: float) -> float:
    """Where a falling function crosses zero, at or above 0."""
    from scipy.optimize import brentq

    if falling(0.0) <= 0:
        return 0.0
    high = max(1.0, 2 * start)
    while falling(high) > 0:
        high *= 2
    return float(brentq(falling, 0.0, high, xtol=1e-10))

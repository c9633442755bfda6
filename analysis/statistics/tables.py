"""Tables of counts: are rows and columns independent, how strongly do they depend, and where.

Rows are groups; in a table of two by two the first column is the event. Also two questions about
counts in order: whether a share has a trend, and whether a sample fits the frame it was drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faultatlas.analysis.statistics import effect_size
from faultatlas.analysis.statistics.estimates import (
    CONFIDENCE,
    TAIL,
    Z_95,
    Estimate,
    Test,
    cited,
    holm,
    no_estimate,
    no_test,
)

CHI_SQUARE = "Pearson's chi-square"
YATES = "Pearson's chi-square with Yates's correction"
FISHER = "Fisher's exact test"
FREEMAN_HALTON = "Fisher-Freeman-Halton test"
RULE = (
    "Chi-square where every expected count is at least 1 and at most a fifth of them are below 5 "
    "(in a table of two by two: none), else Fisher's exact test (Cochran 1954)."
)
INDEPENDENCE_SOURCES = cited("cochran-1954", "freeman-halton-1951")
RESIDUAL_SOURCES = cited("haberman-1973", "holm-1979")
V_SOURCES = cited("cramer-1946", "bergsma-2013", "smithson-2003")
DIFFERENCE_SOURCES = cited("newcombe-1998")
TREND_SOURCES = cited("cochran-1954", "armitage-1955")
SOURCES = (*INDEPENDENCE_SOURCES, *RESIDUAL_SOURCES, *V_SOURCES, *DIFFERENCE_SOURCES)

V_METHOD = "noncentral chi-square distribution (Smithson 2003), for the V of the population, 95 %"
WOOLF = "Woolf's logit interval, 95 %"
HALDANE = f"{WOOLF}, with 0.5 added to every cell (Haldane and Anscombe)"
CONDITIONAL = "conditional maximum likelihood, exact interval (as with Fisher's test), 95 %"
KATZ = "Katz's log interval, 95 %"
NEWCOMBE = "Newcombe's interval (1998, method 10), 95 %"
TREND = "Cochran-Armitage test for a linear trend in proportions, two-sided"
SMALLEST_EXPECTED = 5  # Cochran (1954)
SIMULATIONS = 9_999
MOST_GROUPS = 300  # beyond, no reader can use the test of a sample's fit
FIT_CHI_SQUARE = "chi-square, corrected for the finite frame"
FIT_SIMULATED = f"chi-square, {SIMULATIONS:,} simulated draws from the frame"
_CELLS_AT_ONCE = 2_000_000  # of simulated tables in memory
_DRAWS_AT_ONCE = 500  # of simulated samples in memory

Table = Sequence[Sequence[int]]


@dataclass(frozen=True)
class ExpectedCounts:
    """What the expected counts of a table allow."""

    smallest: float
    below_five: int
    cells: int
    enough: bool  # for Pearson's chi-square, see RULE

    @property
    def summary(self) -> str:
        """In words."""
        share = f"{self.below_five} of {self.cells} expected counts are below 5"
        return f"{share}, the smallest is {self.smallest:.2f}"


@dataclass(frozen=True)
class Independence:
    """The test that the expected counts ask for, and these counts."""

    test: Test
    expected: ExpectedCounts


@dataclass(frozen=True)
class Residual:
    """How far a cell is from independence, in standard deviations, with its p-values."""

    row: int
    column: int
    expected: float
    residual: float | None
    p_value: float | None
    adjusted: float | None  # after Holm, over all cells that are tests of their own


@dataclass(frozen=True)
class Fit:
    """How well a sample's counts fit those of its frame; no p-value where nothing was tested."""

    statistic: float | None  # corrected for the finite frame
    degrees: int
    p_value: float | None
    method: str
    uncorrected: float | None = None  # Pearson's statistic, as if the frame were infinite


def without_empty(table: Table) -> list[list[int]]:
    """The table without its empty rows and columns."""
    columns = [index for index, column in enumerate(zip(*table, strict=True)) if sum(column)]
    return [[row[index] for index in columns] for row in table if sum(row)]


def independence(table: Table, *, seed: int = 1) -> Independence | None:
    """Chi-square or Fisher's test by the expected counts; None without two rows and columns."""
    counts = without_empty(table)
    if not _is_crossed(counts):
        return None
    expected = expected_counts(counts)
    test = chi_square(counts) if expected.enough else fisher(counts, seed=seed)
    return Independence(test, expected)


def expected_counts(table: Table) -> ExpectedCounts:
    """The expected counts of a table without empty rows and columns (Cochran 1954)."""
    from scipy.stats.contingency import expected_freq

    counts = expected_freq(table).ravel()
    below = int((counts < SMALLEST_EXPECTED).sum())
    allowed = 0 if len(counts) == 4 else len(counts) / 5
    enough = bool(counts.min() >= 1 and below <= allowed)
    return ExpectedCounts(float(counts.min()), below, len(counts), enough)


def chi_square(table: Table, *, yates: bool = False) -> Test:
    """Pearson's test of independence (1900); Yates's correction (1934) only on request."""
    from scipy.stats import chi2_contingency

    result = chi2_contingency(table, correction=yates)
    name = YATES if yates and _is_two_by_two(table) else CHI_SQUARE
    n = sum(map(sum, table))
    return Test(name, float(result.statistic), float(result.pvalue), n, float(result.dof))


def fisher(table: Table, *, seed: int = 1) -> Test:
    """Fisher's exact test (1935); of a table larger than two by two from simulated tables."""
    from scipy.stats import fisher_exact

    n = sum(map(sum, table))
    if _is_two_by_two(table):
        return Test(FISHER, None, float(fisher_exact(table).pvalue), n)
    return Test(
        FREEMAN_HALTON, None, _freeman_halton(table, seed), n,
        detail=f"from {SIMULATIONS:,} tables with the same margins, seed {seed}",
    )  # fmt: skip


def _freeman_halton(table: Table, seed: int) -> float:
    """The share of tables with the same margins that are at most as likely as this one.

    Not scipy's fisher_exact with MonteCarloMethod: it compares probabilities, which underflow in
    large tables (25 by 25 with n = 931: p = 1.0 for 0.862). Logarithms do not.
    """
    import numpy as np
    from scipy.special import gammaln
    from scipy.stats import random_table

    counts = np.asarray(table, dtype=np.int64)
    margins = random_table(counts.sum(axis=1), counts.sum(axis=0))
    generator = np.random.Generator(np.random.PCG64(seed))
    # With the margins fixed, the probability is one over the product of the cells' factorials.
    limit = float(gammaln(counts + 1).sum()) - 1e-9
    at_once = max(1, _CELLS_AT_ONCE // counts.size)
    as_unlikely = 0
    for start in range(0, SIMULATIONS, at_once):
        tables = margins.rvs(min(at_once, SIMULATIONS - start), random_state=generator)
        as_unlikely += int((gammaln(tables + 1).sum(axis=(1, 2)) >= limit).sum())
    return (as_unlikely + 1) / (SIMULATIONS + 1)


def fisher_greater(first: int, of_first: int, second: int, of_second: int) -> float:
    """The one-sided p-value of Fisher's exact test (1935): the first share is the larger one.

    Whole numbers, since the p-value is compared with a limit: for 3 of 3 against 0 of 3, which is 1
    in 20, scipy returns 0.05000000000000001.
    """
    events, total = first + second, of_first + of_second
    ways = sum(
        math.comb(of_first, count) * math.comb(of_second, events - count)
        for count in range(first, min(of_first, events) + 1)
    )
    return ways / math.comb(total, events)


def residuals(table: Table) -> list[Residual]:
    """Adjusted standardised residuals of all cells (Haberman 1973), two-sided, with Holm."""
    import numpy as np
    from scipy.special import ndtr

    crossed = _statsmodels_table(table)
    with np.errstate(divide="ignore", invalid="ignore"):  # a row may have no counts, or all
        standardised = crossed.standardized_resids.ravel().tolist()
    expected: list[float] = crossed.fittedvalues.ravel().tolist()
    values = [value if math.isfinite(value) else None for value in standardised]
    p_values = [None if value is None else 2 * float(ndtr(-abs(value))) for value in values]
    adjusted = _adjusted(p_values, len(table), len(table[0]))
    return [
        Residual(index // len(table[0]), index % len(table[0]), *cell)
        for index, cell in enumerate(zip(expected, values, p_values, adjusted, strict=True))
    ]


def _statsmodels_table(counts: Any) -> Any:
    import numpy as np
    from statsmodels.stats.contingency_tables import Table

    # The default of shift_zeros adds 0.5 to the cells of a table that has an empty one.
    return Table(np.asarray(counts, dtype=float), shift_zeros=False)


def _adjusted(p_values: list[float | None], rows: int, columns: int) -> list[float | None]:
    """After Holm. Of two rows, or columns, one mirrors the other and is no further test."""
    cells = [divmod(index, columns) for index in range(rows * columns)]
    tested_as = [(0 if rows == 2 else row, 0 if columns == 2 else column) for row, column in cells]
    tests = {cell: p for cell, p in zip(cells, p_values, strict=True) if cell in set(tested_as)}
    adjusted = dict(zip(tests, holm(list(tests.values())), strict=True))
    return [adjusted[cell] for cell in tested_as]


@effect_size("table", "v", "Cramer's V", "cramer-v")
def cramer_v(table: Table) -> Estimate:
    """Cramer's V (1946). Its expected value is too large, the more so the larger the table is."""
    return _v(table, corrected=False)


@effect_size("table", "v-corrected", "Cramer's V, bias corrected", "cramer-v")
def corrected_v(table: Table) -> Estimate:
    """Cramer's V without its bias (Bergsma 2013)."""
    return _v(table, corrected=True)


def _v(table: Table, *, corrected: bool) -> Estimate:
    """The value with the interval of the population's V (Smithson 2003).

    The ends are the effects for which a statistic as large, or as small, occurs in 2.5 % of the
    samples. They lie lower than the value, so the interval is widened to hold it.
    """
    from scipy.stats import chi2_contingency

    counts = without_empty(table)
    n = sum(map(sum, counts))
    if not _is_crossed(counts):
        return no_estimate(n, V_METHOD, "there are no two rows and two columns")
    result = chi2_contingency(counts, correction=False)
    statistic, degrees = float(result.statistic), int(result.dof)
    sides = (len(counts), len(counts[0]))
    phi, largest, scale = statistic / n, min(sides) - 1.0, n * (min(sides) - 1)
    if corrected:
        phi = max(0.0, phi - degrees / (n - 1))
        largest = min(side - (side - 1) ** 2 / (n - 1) for side in sides) - 1
    value = min(1.0, math.sqrt(phi / largest)) if largest > 0 else 0.0
    low, high = (
        math.sqrt(_noncentrality(statistic, degrees, tail) / scale) for tail in (1 - TAIL, TAIL)
    )
    return Estimate(value, min(low, value), min(1.0, max(high, value)), n, V_METHOD)


def _noncentrality(statistic: float, degrees: int, tail: float) -> float:
    """The noncentrality with this probability of a statistic as small; never below 0."""
    from scipy.special import chndtr, chndtrinc

    if chndtr(statistic, degrees, 0.0) <= tail:
        return 0.0
    return float(chndtrinc(statistic, degrees, tail))


def odds_ratio(table: Table, *, exact: bool = False) -> Estimate:
    """The odds of the event in the first row by those in the second.

    The sample's odds ratio with Woolf's interval (1955); `exact` is the conditional estimate that
    belongs to Fisher's test.
    """
    from scipy.stats import contingency

    (a, b), (c, d) = table
    n = a + b + c + d
    method = CONDITIONAL if exact else WOOLF
    if 0 in (a + c, b + d, a + b, c + d):
        return no_estimate(n, method, "a row or a column is empty")
    if not exact and 0 in (a, b, c, d):
        cells = [a + 0.5, b + 0.5, c + 0.5, d + 0.5]
        log = math.log(cells[0] * cells[3] / (cells[1] * cells[2]))
        half = Z_95 * math.sqrt(sum(1 / cell for cell in cells))
        return Estimate(math.exp(log), math.exp(log - half), math.exp(log + half), n, HALDANE)
    result = contingency.odds_ratio([[a, b], [c, d]], kind="conditional" if exact else "sample")
    low, high = result.confidence_interval(CONFIDENCE)
    value = float(result.statistic)
    if not math.isfinite(value):
        reason = f"infinite, as a cell is empty; at least {low:.3g}"
        return Estimate(None, float(low), None, n, method, reason)
    return Estimate(value, float(low), float(high), n, method)


@effect_size("two-by-two", "odds-ratio", "Odds ratio", "odds-ratio")
def odds_ratio_of_test(table: Table) -> Estimate:
    """The odds ratio that belongs to the test that the expected counts ask for."""
    return odds_ratio(table, exact=any(map(sum, table)) and not expected_counts(table).enough)


@effect_size("two-by-two", "risk-ratio", "Ratio of shares")
def risk_ratio(table: Table) -> Estimate:
    """The event's share in the first row by its share in the second (Katz and others 1978)."""
    from scipy.stats import contingency

    (a, b), (c, d) = table
    n = a + b + c + d
    if 0 in (a, c):
        return no_estimate(n, KATZ, "the event does not occur in a group")
    result = contingency.relative_risk(a, a + b, c, c + d)
    low, high = result.confidence_interval(CONFIDENCE)
    return Estimate(float(result.relative_risk), float(low), float(high), n, KATZ)


@effect_size("two-by-two", "difference", "Difference of shares (percentage points)")
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
    from statsmodels.stats.proportion import proportion_effectsize

    return float(proportion_effectsize(first, second))


def cochran_armitage(
    counts: Sequence[int], totals: Sequence[int], scores: Sequence[float] | None = None
) -> Test:
    """Test whether shares rise or fall with the scores: 0, 1, 2, ... by default.

    The statistic is z, above 0 if the share rises (Cochran 1954; Armitage 1955).
    """
    import numpy as np

    if len(counts) != len(totals) or (scores is not None and len(scores) != len(counts)):
        raise ValueError("every part needs a count, a total and a score")
    if any(not 0 <= count <= total for count, total in zip(counts, totals, strict=True)):
        raise ValueError("a count lies between 0 and its total")
    n = sum(totals)
    places = np.arange(len(counts)) if scores is None else np.asarray(scores, dtype=float)
    if len({place for place, total in zip(places, totals, strict=True) if total}) < 2:
        return no_test(TREND, n, "there are no two parts to compare")
    if sum(counts) in (0, n):
        return no_test(TREND, n, "the share is the same in every part")
    # statsmodels subtracts squares of the scores from each other, which costs digits if they are
    # years, so they are centred. Its variance has n - 1 where that of both papers has n.
    crossed = _statsmodels_table(np.column_stack([counts, np.subtract(totals, counts)]))
    centred = places - np.average(places, weights=totals)
    result = crossed.test_ordinal_association(centred, np.array([1, 0]))
    z = float(result.zscore) * math.sqrt(n / (n - 1))
    return Test(TREND, z, math.erfc(abs(z) / math.sqrt(2)), n)


def split_evenly(count: int, parts: int) -> list[tuple[int, int]]:
    """`count` things in order as parts of nearly the same size: from, to (exclusive)."""
    return [(count * part // parts, count * (part + 1) // parts) for part in range(parts)]


def fit_to_frame(sample: Sequence[int], frame: Sequence[int], *, seed: int = 1) -> Fit:
    """Compare the counts of groups in a sample with those of the same groups in its frame.

    Pearson's chi-square of the counts in the sample against the shares in the frame. A sample is
    drawn without replacement, so its counts vary less than that test assumes, by the factor
    (N - n) / (N - 1), which divides the statistic (Cochran, Sampling Techniques, 1977, chapter 3;
    no library has this). Where a group is expected less than five times in the sample, or in the
    rest of the frame, the distribution is simulated: draws from the frame, from a seed.
    """
    import numpy as np

    if len(sample) != len(frame) or any(
        not 0 <= part <= whole for part, whole in zip(sample, frame, strict=True)
    ):
        raise ValueError("a sample has no more of a group than its frame")
    observed = np.array(
        [part for part, whole in zip(sample, frame, strict=True) if whole], np.int64
    )
    counts = np.array([whole for whole in frame if whole], np.int64)
    drawn, total = int(observed.sum()), int(counts.sum())
    degrees = max(0, len(counts) - 1)
    if reason := _untestable(degrees, drawn, total):
        return Fit(None, degrees, None, f"not tested: {reason}")
    expected = drawn * counts / total
    plain = float(((observed - expected) ** 2 / expected).sum())
    statistic = plain * (total - 1) / (total - drawn)
    if min(drawn, total - drawn) * counts.min() / total < SMALLEST_EXPECTED:
        generator = np.random.Generator(np.random.PCG64(seed))
        as_far = 0
        for start in range(0, SIMULATIONS, _DRAWS_AT_ONCE):
            samples = generator.multivariate_hypergeometric(
                counts, drawn, size=min(_DRAWS_AT_ONCE, SIMULATIONS - start), method="marginals"
            )
            simulated = ((samples - expected) ** 2 / expected).sum(axis=1)
            # Sums of the same numbers in another order may differ by dust.
            as_far += int((simulated >= plain * (1 - 1e-9) - 1e-12).sum())
        p_value = (as_far + 1) / (SIMULATIONS + 1)
        return Fit(statistic, degrees, p_value, FIT_SIMULATED, plain)
    from scipy.special import chdtrc

    return Fit(statistic, degrees, float(chdtrc(degrees, statistic)), FIT_CHI_SQUARE, plain)


def _untestable(degrees: int, drawn: int, total: int) -> str:
    """Why the fit of a sample cannot be tested; empty if it can."""
    if degrees == 0:
        return "there is one group"
    if drawn == 0:
        return "nothing was drawn"
    if drawn == total:
        return "the sample is the whole frame"
    return f"there are more than {MOST_GROUPS} groups" if degrees >= MOST_GROUPS else ""


def _is_crossed(table: Table) -> bool:
    return len(table) >= 2 and len(table[0]) >= 2


def _is_two_by_two(table: Table) -> bool:
    return len(table) == len(table[0]) == 2

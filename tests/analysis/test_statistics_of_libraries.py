"""Statistics that libraries compute are those of small implementations of the papers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import chndtr

from faultatlas.analysis.statistics import groups, tables

law = settings(max_examples=60)
shares = st.floats(0, 1)
crossed = st.tuples(st.integers(2, 5), st.integers(2, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 4000), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def noncentrality(statistic: float, degrees: int, tail: float) -> float:
    """Where the distribution function falls to the tail, by bisection."""

    def above(value: float) -> float:
        return float(chndtr(statistic, degrees, value)) - tail

    if above(0.0) <= 0:
        return 0.0
    high = max(1.0, 2 * statistic)
    while above(high) > 0:
        high *= 2
    return float(brentq(above, 0.0, high, xtol=1e-12, rtol=1e-14))


@law
@given(crossed)
def test_the_interval_of_cramers_v_solves_smithsons_equations(table: list[list[int]]) -> None:
    counts = tables.without_empty(table)
    found = tables.cramer_v(table)
    if found.value is None:
        return
    array = np.asarray(counts, dtype=float)
    expected = np.outer(array.sum(axis=1), array.sum(axis=0)) / array.sum()
    statistic = float(((array - expected) ** 2 / expected).sum())
    rows, columns = array.shape
    scale = array.sum() * (min(rows, columns) - 1)
    assert found.value == pytest.approx(min(1.0, math.sqrt(statistic / scale)), abs=1e-12)
    degrees = (rows - 1) * (columns - 1)
    low, high = (
        math.sqrt(noncentrality(statistic, degrees, tail) / scale) for tail in (0.975, 0.025)
    )
    # An end near 0 is the root of a small number, so less exact.
    assert found.low == pytest.approx(min(low, found.value), rel=1e-8, abs=1e-5)
    assert found.high == pytest.approx(min(1.0, max(high, found.value)), rel=1e-8, abs=1e-5)


def test_the_interval_of_v_holds_for_large_tables_too() -> None:
    table = [[500_000, 100_000, 3], [200_000, 400_000, 900]]
    found = tables.cramer_v(table)
    assert found.low is not None
    assert found.high is not None
    statistic = tables.chi_square(table).statistic or 0.0
    for end, tail in ((found.low, 0.975), (found.high, 0.025)):
        assert chndtr(statistic, 2, 1_200_903 * end**2) == pytest.approx(tail, abs=1e-6)


@law
@given(crossed)
def test_residuals_are_haberman_s(table: list[list[int]]) -> None:
    assume(any(map(sum, table)))
    array = np.asarray(table, dtype=float)
    n, rows, columns = array.sum(), array.sum(axis=1), array.sum(axis=0)
    for cell in tables.residuals(table):
        expected = rows[cell.row] * columns[cell.column] / n
        assert cell.expected == pytest.approx(expected)
        spread = expected * (1 - rows[cell.row] / n) * (1 - columns[cell.column] / n)
        if spread == 0:
            assert (cell.residual, cell.p_value, cell.adjusted) == (None, None, None)
            continue
        value = (array[cell.row, cell.column] - expected) / math.sqrt(spread)
        assert cell.residual == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert cell.p_value == pytest.approx(math.erfc(abs(value) / math.sqrt(2)), rel=1e-9)


@law
@given(
    st.lists(
        st.tuples(st.integers(0, 300), st.integers(0, 300), st.floats(2010, 2026)),
        min_size=2,
        max_size=8,
    )
)
def test_a_trend_is_that_of_cochran_and_armitage(rows: list[tuple[int, int, float]]) -> None:
    counts = [count for count, _rest, _year in rows]
    totals = [count + rest for count, rest, _year in rows]
    years = [Fraction(year) for _count, _rest, year in rows]
    found = tables.cochran_armitage(counts, totals, [year for _count, _rest, year in rows])
    n, hits = sum(totals), sum(counts)
    if found.statistic is None:
        assert found.reason
        return
    share = Fraction(hits, n)
    slope = sum(y * (c - t * share) for y, c, t in zip(years, counts, totals, strict=True))
    mean = sum(y * t for y, t in zip(years, totals, strict=True)) / n
    spread = sum(t * (y - mean) ** 2 for y, t in zip(years, totals, strict=True))
    assume(spread > 1e-6)
    z = float(slope) / math.sqrt(share * (1 - share) * spread)
    assert found.statistic == pytest.approx(z, rel=1e-6, abs=1e-6)
    assert found.p_value == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-4, abs=1e-9)


@law
@given(shares, shares)
def test_h_is_cohens(first: float, second: float) -> None:
    expected = 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))
    assert tables.cohen_h(first, second) == pytest.approx(expected, abs=1e-14)


@law
@given(st.lists(st.lists(st.integers(-5, 5), min_size=2, max_size=9), min_size=2, max_size=4))
def test_epsilon_is_the_share_of_the_variance_of_ranks_between_groups(
    several: list[list[int]],
) -> None:
    found = groups.epsilon_squared(several, seed=1, resamples=5)
    values = np.concatenate(several)
    if len(set(values.tolist())) == 1:
        assert found.reason == "all values are the same"
        return
    ranks = np.array(
        [(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values]
    )
    ends = np.cumsum([len(group) for group in several])
    between = sum(
        len(part) * (part.mean() - ranks.mean()) ** 2 for part in np.split(ranks, ends[:-1])
    )
    expected = between / ((ranks - ranks.mean()) ** 2).sum()
    assert found.value == pytest.approx(expected, abs=1e-12)

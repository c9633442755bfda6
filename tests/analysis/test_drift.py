"""The test for a trend agrees with published values and another implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import Table

from faultatlas.analysis.statistics.tables import cochran_armitage, split_evenly


def test_smokers_among_lung_cancer_patients() -> None:
    """Fleiss (1981), page 139; R's prop.trend.test prints X-squared = 8.2249, p = 0.004132."""
    found = cochran_armitage([83, 90, 129, 70], [86, 93, 136, 82])
    assert found.statistic is not None
    assert found.statistic**2 == pytest.approx(8.2249, abs=5e-5)
    assert found.p_value == pytest.approx(0.004132, abs=5e-7)
    assert found.statistic < 0  # the share falls


def test_malformation_by_drinks_a_day() -> None:
    """Agresti, Categorical Data Analysis (2013), section 3.4.5: M squared is 6.57, p 0.010."""
    cases, totals = [48, 38, 5, 1, 1], [17114, 14502, 793, 127, 38]
    found = cochran_armitage(cases, totals, [0, 0.5, 1.5, 4, 7])
    assert found.statistic is not None
    assert found.statistic**2 == pytest.approx(6.57, abs=0.005)
    assert found.p_value == pytest.approx(0.010, abs=0.0005)


@given(
    st.lists(
        st.integers(1, 60).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))),
        min_size=2,
        max_size=6,
    )
)
def test_it_agrees_with_statsmodels(rows: list[tuple[int, int]]) -> None:
    counts, totals = [row[0] for row in rows], [row[1] for row in rows]
    found = cochran_armitage(counts, totals)
    if sum(counts) in (0, sum(totals)):
        assert found.statistic is None
        assert found.reason
        return
    table = np.array([[count, total - count] for count, total in rows], dtype=float)
    other = Table(table, shift_zeros=False).test_ordinal_association(
        row_scores=np.arange(len(rows)), col_scores=np.array([1, 0])
    )
    # It estimates the variance with n - 1, Cochran and Armitage with n.
    n = sum(totals)
    assert found.statistic == pytest.approx(
        other.zscore * math.sqrt(n / (n - 1)), rel=1e-9, abs=1e-9
    )


def test_nothing_to_compare_has_no_value() -> None:
    assert cochran_armitage([3, 0], [5, 0]).reason == "there are no two parts to compare"
    with pytest.raises(ValueError, match="between 0 and its total"):
        cochran_armitage([3, 1], [2, 4])


def test_parts_hold_everything_once() -> None:
    assert split_evenly(10, 4) == [(0, 2), (2, 5), (5, 7), (7, 10)]
    assert split_evenly(1, 2) == [(0, 0), (0, 1)]

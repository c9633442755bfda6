"""Wilson intervals, against the table of Newcombe (1998, Statistics in Medicine 17, Table I)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from faultatlas.analysis.statistics.shares import wilson_share


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (81, 263, 25.53, 36.62),
        (15, 148, 6.24, 16.05),
        (0, 20, 0.00, 16.11),
        (1, 29, 0.61, 17.18),
    ],
)
def test_it_gives_the_published_intervals(count: int, total: int, low: float, high: float) -> None:
    share = wilson_share(count, total)
    assert share.low == pytest.approx(low, abs=0.005)
    assert share.high == pytest.approx(high, abs=0.005)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_agrees_with_scipy_and_holds_the_share(pair: tuple[int, int]) -> None:
    count, total = pair
    share = wilson_share(count, total)
    other = binomtest(count, total).proportion_ci(method="wilson")
    assert share.low == pytest.approx(100 * other.low, abs=1e-6)
    assert share.high == pytest.approx(100 * other.high, abs=1e-6)
    assert 0 <= share.low <= share.percent + 1e-9 <= share.high + 2e-9 <= 100 + 2e-9


def test_every_digit_is_that_of_statsmodels() -> None:
    pairs = [(count, total) for total in (2, 3, 7, 38, 385, 12_801) for count in range(1, total)]
    found = [(share.low, share.high) for share in (wilson_share(*pair) for pair in pairs)]
    lows, highs = proportion_confint(*np.array(pairs).T, method="wilson")
    assert found == list(zip((100 * lows).tolist(), (100 * highs).tolist(), strict=True))


def test_a_share_of_more_than_there_can_be_has_an_interval() -> None:
    share = wilson_share(10**200, 10**201)
    assert (share.low, share.high) == (pytest.approx(10), pytest.approx(10))


def test_a_share_of_nothing_has_no_value() -> None:
    share = wilson_share(0, 0)
    assert (share.percent, share.low, share.high) == (None, None, None)


@pytest.mark.parametrize("pair", [(-1, 5), (6, 5)])
def test_what_is_no_share_is_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson_share(*pair)

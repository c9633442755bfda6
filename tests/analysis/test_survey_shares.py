"""Exact intervals: against other implementations, the formulas of the papers, and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, f, t
from statsmodels.stats.proportion import proportion_confint

from faultatlas.analysis.statistics.shares import (
    CLOPPER_PEARSON_95,
    KORN_GRAUBARD_95,
    StratumCount,
    effective_size,
    exact_share,
    weighted_share,
)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        # Newcombe 1998 (Statistics in Medicine 17), Table I, method 5.
        (81, 263, 25.27, 36.76),
        (15, 148, 5.78, 16.17),
        (0, 20, 0.00, 16.84),
        (1, 29, 0.09, 17.76),
    ],
)
def test_it_gives_the_published_intervals(count: int, total: int, low: float, high: float) -> None:
    share = exact_share(count, total)
    assert (share.low, share.high) == (
        pytest.approx(low, abs=0.005),
        pytest.approx(high, abs=0.005),
    )
    assert share.method == CLOPPER_PEARSON_95


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_agrees_with_statsmodels_and_with_the_tails_of_the_binomial(
    pair: tuple[int, int],
) -> None:
    count, total = pair
    share = exact_share(count, total)
    low, high = proportion_confint(count, total, method="beta")
    assert share.low == pytest.approx(100 * (low if count else 0), abs=1e-9)
    assert share.high == pytest.approx(100 * (high if count < total else 1), abs=1e-9)
    assert share.low is not None
    assert share.high is not None
    if count:
        assert binom.sf(count - 1, total, share.low / 100) == pytest.approx(0.025, rel=1e-6)
    if count < total:
        assert binom.cdf(count, total, share.high / 100) == pytest.approx(0.025, rel=1e-6)


def test_of_nothing_there_is_no_share() -> None:
    assert exact_share(0, 0).percent is None
    assert weighted_share([]).percent is None
    assert weighted_share([StratumCount(5, 0, 0)]).low is None
    with pytest.raises(ValueError, match="no share"):
        exact_share(3, 2)
    with pytest.raises(ValueError, match="no stratum"):
        StratumCount(3, 4, 0)


STRATA = (StratumCount(60, 20, 5), StratumCount(30, 10, 6), StratumCount(10, 5, 1))


def test_korn_and_graubard_by_hand() -> None:
    """Worked out from their formulas with quantiles of F, as the paper has them."""
    # 0.6 * 0.25 + 0.3 * 0.6 + 0.1 * 0.2
    share = 0.35
    variance = 0.36 * 0.1875 / 19 + 0.09 * 0.24 / 9 + 0.01 * 0.16 / 4
    ratio = t.ppf(0.025, 34) / t.ppf(0.025, 32)
    size = share * (1 - share) / variance * ratio**2
    assert variance == pytest.approx(0.00635263, abs=1e-8)
    left = 1 / (0.36 / 20 + 0.09 / 10 + 0.01 / 5)
    assert size == pytest.approx(35.6, abs=0.1)  # above what the weights leave of 35: that it is
    assert left == pytest.approx(34.48, abs=0.01)
    assert effective_size(STRATA) == pytest.approx(left)
    found = weighted_share(STRATA)
    assert found.percent == pytest.approx(35)
    assert (found.count, found.tried, found.method) == (12, 35, KORN_GRAUBARD_95)
    _assert_is_f_interval(found.low, found.high, share, left)


def test_unequal_weights_make_it_wider_by_hand() -> None:
    strata = (StratumCount(90, 5, 2), StratumCount(40, 20, 5))
    share = 90 / 130 * 0.4 + 40 / 130 * 0.25
    variance = (90 / 130) ** 2 * 0.24 / 4 + (40 / 130) ** 2 * 0.1875 / 19
    ratio = t.ppf(0.025, 24) / t.ppf(0.025, 23)
    size = share * (1 - share) / variance * ratio**2
    assert size < 1 / ((90 / 130) ** 2 / 5 + (40 / 130) ** 2 / 20)
    found = weighted_share(strata)
    assert found.effective == pytest.approx(size)
    _assert_is_f_interval(found.low, found.high, share, size)
    plain = exact_share(7, 25)
    assert found.high is not None
    assert found.low is not None
    assert plain.high is not None
    assert plain.low is not None
    assert found.high - found.low > plain.high - plain.low


def _assert_is_f_interval(low: float | None, high: float | None, share: float, size: float) -> None:
    counted = share * size
    first, second = 2 * counted, 2 * (size - counted + 1)
    third, fourth = 2 * (counted + 1), 2 * (size - counted)
    below = first * f.ppf(0.025, first, second)
    above = third * f.ppf(0.975, third, fourth)
    assert low == pytest.approx(100 * below / (second + below))
    assert high == pytest.approx(100 * above / (fourth + above))


def test_one_stratum_is_the_plain_exact_interval() -> None:
    found, plain = weighted_share([StratumCount(500, 30, 7)]), exact_share(7, 30)
    assert (found.percent, found.low, found.high) == (plain.percent, plain.low, plain.high)
    assert found.method == CLOPPER_PEARSON_95


def test_a_stratum_without_a_try_is_said_and_not_spoken_for() -> None:
    found = weighted_share(
        [StratumCount(50, 10, 5), StratumCount(30, 6, 0), StratumCount(20, 0, 0)]
    )
    assert found.percent == pytest.approx(100 * 50 / 80 * 0.5)
    assert (found.missed, found.missed_percent) == (1, pytest.approx(20))


def test_a_single_try_adds_variance_and_takes_no_degree_of_freedom() -> None:
    found = weighted_share([StratumCount(50, 10, 5), StratumCount(50, 1, 1)])
    assert found.single == 1
    assert found.percent == pytest.approx(75)
    # Half of the weight hangs on one observation.
    assert found.effective is not None
    assert found.effective < 4
    alone = [StratumCount(10, 1, each % 2) for each in range(6)]
    assert effective_size(alone) == pytest.approx(6)


@pytest.mark.parametrize("count", [0, 1])
def test_all_or_none_has_an_open_end_that_is_not_closer_than_the_sample_allows(count: int) -> None:
    strata = [StratumCount(50, 4, 4 * count), StratumCount(50, 4, 4 * count)]
    found, plain = weighted_share(strata), exact_share(8 * count, 8)
    assert (found.percent, found.low, found.high) == (plain.percent, plain.low, plain.high)
    uneven = weighted_share([StratumCount(90, 4, 4 * count), StratumCount(10, 4, 4 * count)])
    assert uneven.effective is not None
    assert uneven.effective == pytest.approx(1 / (0.81 / 4 + 0.01 / 4))


def test_strata_that_are_each_of_one_kind_do_not_make_it_certain() -> None:
    found = weighted_share([StratumCount(50, 3, 3), StratumCount(50, 3, 0)])
    assert found.percent == pytest.approx(50)
    assert found.effective == 6
    assert found.low is not None
    assert found.low < 15


counts = st.integers(1, 40).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda tried: st.tuples(st.just(size), st.just(tried), st.integers(0, tried))
    )
)


@given(st.lists(counts, max_size=6))
def test_the_interval_always_holds_the_share(rows: list[tuple[int, int, int]]) -> None:
    found = weighted_share([StratumCount(*row) for row in rows])
    if found.percent is None:
        assert not any(tried for _size, tried, _count in rows)
        return
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.percent + 1e-9 <= found.high + 2e-9 <= 100 + 3e-9
    assert found.effective is not None
    assert 0 < found.effective <= found.tried + 1e-9


@given(st.integers(2, 30), st.integers(0, 30))
def test_a_zoom_of_all_sizes_changes_nothing(tried: int, count: int) -> None:
    strata = [StratumCount(tried, tried, min(count, tried)), StratumCount(2 * tried, tried, 1)]
    larger = [StratumCount(7 * each.size, each.tried, each.count) for each in strata]
    first, second = weighted_share(strata), weighted_share(larger)
    assert first.percent is not None
    assert second.percent is not None
    assert math.isclose(first.percent, second.percent)


def test_it_covers_as_often_as_it_says() -> None:
    """Proportional draws from strata that differ: at least 95 % of 1,500 intervals hold."""
    random = np.random.default_rng(7)
    sizes, rates, tried = (120, 60, 20), (0.1, 0.5, 0.8), (12, 6, 2)
    true = 100 * sum(size * rate for size, rate in zip(sizes, rates, strict=True)) / sum(sizes)
    held, seen = 0, {}
    for draws in zip(
        *(random.binomial(n, p, 1500) for n, p in zip(tried, rates, strict=True)), strict=True
    ):
        if draws not in seen:
            strata = map(StratumCount, sizes, tried, map(int, draws))
            seen[draws] = weighted_share(list(strata))
        found = seen[draws]
        held += found.low is not None and found.high is not None and found.low <= true <= found.high
    assert held / 1500 >= 0.95


@pytest.mark.parametrize(
    ("sizes", "tried", "rates"),
    [
        ((900, 100), (5, 20), (0.8, 0.5)),  # 75 % with the sample size as the cap
        ((900, 100), (3, 10), (0.7, 0.5)),  # 84 %
        ((500, 500), (2, 10), (0.2, 0.6)),
        ((100, 80, 60, 40, 20), (2, 1, 1, 1, 1), (0.5, 0.2, 0.8, 0.5, 0.9)),
    ],
)
def test_it_covers_where_a_few_tries_have_most_of_the_weight(
    sizes: tuple[int, ...], tried: tuple[int, ...], rates: tuple[float, ...]
) -> None:
    """By adding up the chances of all that may come out: a budget that ends leaves such strata."""
    true = 100 * sum(size * rate for size, rate in zip(sizes, rates, strict=True)) / sum(sizes)
    chances = [
        binom.pmf(range(each + 1), each, rate) for each, rate in zip(tried, rates, strict=True)
    ]
    held = 0.0
    for counts in itertools.product(*(range(each + 1) for each in tried)):
        found = weighted_share(list(map(StratumCount, sizes, tried, counts)))
        assert found.low is not None
        assert found.high is not None
        if found.low <= true <= found.high:
            held += math.prod(each[count] for each, count in zip(chances, counts, strict=True))
    assert held >= 0.95

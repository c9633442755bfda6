"""One-sided exact tests against scipy, against counting, and against values worked out by hand."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from faultatlas.analysis.statistics.groups import a12, mann_whitney_greater
from faultatlas.analysis.statistics.tables import fisher_greater

law = settings(max_examples=60)
few = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=5)
apart = st.lists(st.integers(-1000, 1000).map(float), min_size=2, max_size=24, unique=True)


@given(st.integers(1, 20), st.integers(1, 20), st.data())
@law
def test_fisher_is_that_of_scipy(of_first: int, of_second: int, data: st.DataObject) -> None:
    first, second = data.draw(st.integers(0, of_first)), data.draw(st.integers(0, of_second))
    table = [[first, of_first - first], [second, of_second - second]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert fisher_greater(first, of_first, second, of_second) == pytest.approx(expected)


def test_three_of_three_against_none_of_three_is_one_in_twenty() -> None:
    assert fisher_greater(3, 3, 0, 3) == 0.05
    assert fisher_greater(6, 10, 0, 10) < 0.01 < fisher_greater(5, 10, 0, 10)


@given(apart, st.data())
@law
def test_without_ties_it_is_the_exact_test_of_scipy(
    values: list[float], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(values) - 1))
    first, second = values[:size], values[size:]
    expected = stats.mannwhitneyu(first, second, alternative="greater", method="exact").pvalue
    assert mann_whitney_greater(first, second) == pytest.approx(expected)


@given(few, few)
@law
def test_with_ties_it_counts_all_ways_to_deal_out_the_values(
    first: list[float], second: list[float]
) -> None:
    values = [*first, *second]

    def larger(group: tuple[int, ...]) -> float:
        others = [values[each] for each in range(len(values)) if each not in group]
        return sum((values[a] > b) + 0.5 * (values[a] == b) for a in group for b in others)

    observed = larger(tuple(range(len(first))))
    ways = [larger(each) for each in itertools.combinations(range(len(values)), len(first))]
    share = sum(each >= observed for each in ways) / len(ways)
    assert mann_whitney_greater(first, second) == pytest.approx(share)


def test_ties_agree_with_the_permutations_of_scipy() -> None:
    first, second = [1.0, 2.0, 2.0, 5.0, 5.0], [1.0, 1.0, 2.0, 3.0, 0.0]
    found = stats.mannwhitneyu(
        first, second, alternative="greater", method=stats.PermutationMethod(n_resamples=10_000)
    )
    assert mann_whitney_greater(first, second) == pytest.approx(float(found.pvalue))


def test_five_apart_from_five_is_one_in_252_and_infinite_values_are_ranked() -> None:
    assert mann_whitney_greater([6, 7, 8, 9, math.inf], [1, 2, 3, 4, -math.inf]) == 1 / 252
    assert mann_whitney_greater([-math.inf] * 3, [-math.inf] * 3) == 1.0


def test_twenty_a_side_is_counted_too_and_all_ties_show_nothing() -> None:
    high, low = [float(each) for each in range(20, 40)], [float(each) for each in range(20)]
    assert mann_whitney_greater(high, low) == 1 / math.comb(40, 20)
    assert mann_whitney_greater([0.5] * 20, [0.5] * 20) == 1.0


@given(few, few)
@law
def test_a12_is_u_over_the_number_of_pairs_and_turns_round(
    first: list[float], second: list[float]
) -> None:
    u = stats.mannwhitneyu(first, second).statistic
    assert a12(first, second) == pytest.approx(u / (len(first) * len(second)))
    assert a12(first, second) + a12(second, first) == pytest.approx(1)

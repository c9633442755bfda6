"""Effect sizes against published values and other implementations."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, contingency, kruskal, nct, ncx2
from scipy.stats import t as t_distribution

from faultatlas.analysis.statistics import groups, scales, tables
from faultatlas.analysis.statistics.shares import goodman

# Student's sleep data, as R ships it (data set `sleep`).
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
# The example of cliff.delta in the R package effsize 0.8.
TREATMENT = [10, 10, 20, 20, 20, 30, 30, 30, 40, 50]
CONTROL = [10, 20, 30, 40, 40, 50]
EXTRINSIC = [[154, 231], [41, 344]]

numbers = st.lists(st.integers(-20, 20), min_size=2, max_size=12)


def test_cohens_d_follows_from_the_published_t_of_the_sleep_data() -> None:
    d = groups.cohen_d(DRUG_1, DRUG_2)
    assert d.value == pytest.approx(-1.8608 * math.sqrt(2 / 10), abs=1e-4)
    assert d.low is not None
    assert d.high is not None
    t, scale = (d.value or 0) * math.sqrt(5), math.sqrt(5)
    # The ends are the effects for which such a t is seen in 2.5 % of the samples.
    assert nct.cdf(t, 18, d.low * scale) == pytest.approx(0.975, abs=1e-6)
    assert nct.cdf(t, 18, d.high * scale) == pytest.approx(0.025, abs=1e-6)


def test_hedges_factor_is_the_published_one() -> None:
    # Hedges (1981), Table 1: c(m) of 10 and 20 degrees of freedom.
    assert groups.small_sample_factor(10) == pytest.approx(0.9228, abs=1e-4)
    assert groups.small_sample_factor(20) == pytest.approx(0.9619, abs=1e-4)


def test_paired_d_follows_from_the_published_paired_t() -> None:
    d = groups.paired_d(DRUG_1, DRUG_2)
    assert d.value == pytest.approx(-4.0621 / math.sqrt(10), abs=1e-4)


def test_cliffs_delta_and_its_interval_are_those_of_effsize() -> None:
    delta = groups.cliff_delta(TREATMENT, CONTROL)
    assert delta.value == -0.25
    assert delta.low == pytest.approx(-0.7265846, abs=1e-6)
    assert delta.high == pytest.approx(0.3890062, abs=1e-6)


@given(numbers, numbers)
def test_delta_counts_all_pairs_and_turns_with_the_groups(
    first: list[int], second: list[int]
) -> None:
    delta, turned = groups.cliff_delta(first, second), groups.cliff_delta(second, first)
    pairs = [(one > other) - (one < other) for one, other in product(first, second)]
    assert delta.value == pytest.approx(sum(pairs) / len(pairs))
    assert (delta.low, delta.high) == pytest.approx((-(turned.high or 0), -(turned.low or 0)))
    assert -1 <= (delta.low or 0) <= (delta.value or 0) <= (delta.high or 0) <= 1


def test_epsilon_squared_is_the_statistic_of_kruskal_and_wallis_by_its_largest_value() -> None:
    several = [[1, 2, 2, 3], [2, 4, 5], [9, 8, 8, 2]]
    found = groups.epsilon_squared(several, seed=1, resamples=200)
    assert found.value == pytest.approx(kruskal(*several).statistic / 10)
    assert found == groups.epsilon_squared(several, seed=1, resamples=200)


def test_what_does_not_vary_has_no_effect_size_but_a_reason() -> None:
    assert groups.cohen_d([1, 1], [2, 2]).reason == "the values do not vary within the groups"
    assert groups.cohen_d([1], [2, 3]).value is None
    assert groups.cliff_delta([1, 1], [2, 2]).value == -1


def test_rounding_dust_is_no_spread() -> None:
    # Every pair is 0.2 apart, and 0.1 + 0.1 + 0.1 is not 3 times 0.1: neither varies.
    shifted = groups.paired_d([0.3, 0.4, 0.5, 0.6, 0.7], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert (shifted.value, shifted.reason) == (None, "the differences do not vary")
    flat = groups.cohen_d([0.1, 0.1, 0.1], [0.7, 0.7, 0.7])
    assert (flat.value, flat.reason) == (None, "the values do not vary within the groups")


def test_an_epsilon_of_groups_that_are_alike_may_be_none() -> None:
    alike = [[1, 4, 7, 10, 13], [2, 5, 8, 11, 14], [3, 6, 9, 12, 15]]
    assert groups.epsilon_squared(alike, seed=1, resamples=200).low == 0


def test_delta_of_pairs_is_that_of_groups_with_the_variance_of_pairs() -> None:
    first, second = [1, 3, 3, 6, 8, 9, 12], [6, 2, 3, 13, 4, 7, 14]
    delta, apart = groups.paired_delta(first, second), groups.cliff_delta(first, second)
    assert delta.value == pytest.approx(apart.value)
    assert (delta.n, apart.n) == (7, 14)
    signs = np.sign(np.subtract.outer(first, second))
    parts = signs.mean(axis=1) + signs.mean(axis=0) - 2 * signs.mean()
    variance, value = (parts**2).sum() / (7 * 6), signs.mean()
    reach = t_distribution.ppf(0.975, 6)
    # Feng and Cliff (2004), equation 9.
    half = reach * math.sqrt(variance) * math.sqrt((1 - value**2) ** 2 + reach**2 * variance)
    below = 1 - value**2 + reach**2 * variance
    assert delta.low == pytest.approx((value - value**3 - half) / below)
    assert delta.high == pytest.approx((value - value**3 + half) / below)
    # The values of a pair go together, so that their difference is known better.
    assert (delta.high or 0) - (delta.low or 0) < (apart.high or 0) - (apart.low or 0)
    same = groups.paired_delta(first, first)
    assert (same.low or 0) < 0 < (same.high or 0)


def test_g_of_pairs_has_the_degrees_of_freedom_of_pairs() -> None:
    d, g = groups.paired_d(DRUG_1, DRUG_2), groups.paired_g(DRUG_1, DRUG_2)
    # Hedges (1981), Table 1: c(m) of 9 degrees of freedom.
    assert (g.value or 0) / (d.value or 1) == pytest.approx(0.9139, abs=1e-3)


def test_cramers_v_is_that_of_scipy_and_its_ends_are_tail_probabilities() -> None:
    table = [[13, 17, 4], [9, 2, 21]]
    v = tables.cramer_v(table)
    assert v.value == pytest.approx(contingency.association(table, method="cramer"))
    statistic = chi2_contingency(table).statistic
    # The ends are the V of populations in which such a statistic is seen in 2.5 % of the samples.
    for end, tail in ((v.low, 0.975), (v.high, 0.025)):
        assert ncx2.cdf(statistic, 2, 66 * (end or 0) ** 2) == pytest.approx(tail, abs=1e-6)
    corrected = tables.corrected_v(table)
    assert 0 < (corrected.value or 0) < (v.value or 0)
    assert (corrected.low or 0) <= (corrected.value or 0) <= (corrected.high or 0)


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=2, max_size=4))
def test_v_lies_within_its_interval_and_between_0_and_1(table: list[list[int]]) -> None:
    for found in (tables.cramer_v(table), tables.corrected_v(table)):
        if found.value is not None:
            assert 0 <= (found.low or 0) <= found.value <= (found.high or 0) <= 1


def test_v_may_be_none_where_nothing_is_tied_together() -> None:
    # By chance V is never 0: of 2 by 21 with n = 500 it is 0.2 in the mean without any effect.
    rows = [[12 + at % 3 for at in range(21)], [12 + (at + 1) % 3 for at in range(21)]]
    assert tables.cramer_v(rows).low == 0


def test_the_difference_of_shares_is_newcombes() -> None:
    # Newcombe (1998), Table II, example (a), method 10.
    found = tables.share_difference([[56, 14], [48, 32]])
    assert found.value == pytest.approx(20)
    assert (found.low, found.high) == pytest.approx((5.24, 33.39), abs=0.005)


def test_the_odds_ratio_of_fishers_twins_is_that_of_r() -> None:
    # fisher.test(Convictions) in R, after Fisher (1962).
    found = tables.odds_ratio([[2, 10], [15, 3]], exact=True)
    assert found.value == pytest.approx(0.04693661, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((0.003325764, 0.363182271), abs=1e-5)


def test_an_empty_cell_gives_odds_with_a_half_in_every_cell() -> None:
    found = tables.odds_ratio([[5, 0], [3, 4]])
    assert found.value == pytest.approx((5.5 * 4.5) / (0.5 * 3.5))
    assert "0.5" in found.method
    assert tables.odds_ratio([[0, 0], [3, 4]]).value is None


def test_goodmans_intervals_solve_his_equation() -> None:
    from scipy.stats import chi2

    counts = [56, 72, 73, 59, 62, 87, 58]  # the data of Sison and Glaz (1995)
    limit = chi2.ppf(1 - 0.05 / len(counts), 1)
    for count, ends in zip(counts, goodman(counts), strict=True):
        for end in ends:
            share = end / 100
            spread = share * (1 - share) / sum(counts)
            assert (count / sum(counts) - share) ** 2 == pytest.approx(limit * spread)


@pytest.mark.parametrize(
    ("scale", "value", "word"),
    [
        ("cohen-d", 0.2, "small"),
        ("cohen-d", 1.0 - 0.8, "small"),
        ("cohen-d", -0.85, "large"),
        ("cohen-d", 0.1999, "negligible"),
        ("sawilowsky-d", 2.1, "huge"),
        ("cliff-delta", -0.33, "medium"),
        ("vargha-delaney-a", 0.29, "large"),
        ("odds-ratio", 0.25, "medium"),
        ("odds-ratio", 5.593, "medium"),
        ("cramer-v", 0.337, "medium"),
    ],
)
def test_scales_give_the_words_of_their_authors(scale: str, value: float, word: str) -> None:
    assert scales.word(scale, value) == word
    assert scales.SCALES[scale].source


def test_cramers_v_is_judged_by_the_smaller_side() -> None:
    assert scales.word("cramer-v", 0.22, degrees=1) == "small"
    assert scales.word("cramer-v", 0.22, degrees=2) == "medium"
    assert scales.word("cramer-v", None) == ""


def test_two_pairs_have_a_d_but_no_g() -> None:
    assert groups.paired_d([1, 2], [3, 5]).value is not None
    assert groups.paired_g([1, 2], [3, 5]).reason == "there are fewer than three pairs"

"""Tests of groups and tables against published values and other implementations."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from scipy.stats import fisher_exact

from faultatlas.analysis.statistics import groups, tables

# Student's sleep data, as R ships it (data set `sleep`).
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
# Job satisfaction by income, Agresti (2002), Categorical data analysis, p. 57.
JOBS = [[1, 3, 10, 6], [2, 3, 10, 7], [1, 6, 14, 12], [0, 1, 9, 11]]
EXTRINSIC = [[154, 231], [41, 344]]


def test_the_extrinsic_bugs_give_another_p_than_the_paper_printed() -> None:
    found = tables.independence(EXTRINSIC)
    assert found is not None
    assert found.test.name == tables.CHI_SQUARE
    assert f"{found.test.p_value:.1e}" == "7.7e-21"
    assert f"{tables.chi_square(EXTRINSIC, yates=True).p_value:.1e}" == "1.7e-20"


def test_fishers_tea_and_the_test_of_freeman_and_halton() -> None:
    assert tables.fisher([[3, 1], [1, 3]]).p_value == pytest.approx(0.4857, abs=1e-4)
    jobs = tables.fisher(JOBS)
    assert jobs.p_value == pytest.approx(0.7827, abs=0.015)  # fisher.test(Job) in R
    assert jobs == tables.fisher(JOBS)  # its tables come from a seed
    small = [[3, 1, 0], [0, 2, 4], [1, 1, 5]]
    assert tables.fisher(small).p_value == pytest.approx(fisher_exact(small).pvalue, abs=0.01)


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ([[10, 10], [10, 10]], tables.CHI_SQUARE),
        ([[4, 10], [4, 10]], tables.FISHER),  # expected 4 in a table of two by two
        ([[4, 9, 9, 9, 9], [4, 9, 9, 9, 9]], tables.CHI_SQUARE),  # a fifth below 5
        ([[4, 4, 9, 9, 9], [4, 4, 9, 9, 9]], tables.FREEMAN_HALTON),  # two fifths
        ([[0, 9, 9, 9, 9], [1, 9, 9, 9, 9]], tables.FREEMAN_HALTON),  # one below 1
    ],
)
def test_expected_counts_choose_the_test(table: list[list[int]], name: str) -> None:
    found = tables.independence(table)
    assert found is not None
    assert found.test.name == name


def test_empty_rows_and_columns_do_not_count() -> None:
    with_empty = [[154, 0, 231], [0, 0, 0], [41, 0, 344]]
    assert tables.independence(with_empty) == tables.independence(EXTRINSIC)
    assert tables.independence([[3, 4], [0, 0]]) is None


def test_in_two_by_two_every_squared_residual_is_chi_square() -> None:
    statistic = tables.chi_square(EXTRINSIC).statistic
    for each in tables.residuals(EXTRINSIC):
        assert (each.residual or 0) ** 2 == pytest.approx(statistic)
        assert each.adjusted == pytest.approx(
            each.p_value, rel=1e-11
        )  # four cells that say one thing


def test_of_two_columns_one_is_a_mirror_and_no_test_more() -> None:
    rows = [[64, 151], [146, 182], [300, 195]]
    turned = [list(column) for column in zip(*rows, strict=True)]
    for table in (rows, turned):
        found = tables.residuals(table)
        least = min(found, key=lambda each: each.p_value or 1)
        assert least.adjusted == pytest.approx(3 * (least.p_value or 0))
    wide = [[10, 20, 30], [30, 20, 10], [15, 25, 5]]
    least = min(tables.residuals(wide), key=lambda each: each.p_value or 1)
    assert least.adjusted == pytest.approx(9 * (least.p_value or 0))


def test_tables_drawn_in_parts_are_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tables.fisher(JOBS)
    monkeypatch.setattr(tables, "_CELLS_AT_ONCE", 16 * 700)
    assert tables.fisher(JOBS) == whole


def test_t_tests_of_the_sleep_data_are_those_of_r() -> None:
    welch, difference = groups.t_test(DRUG_1, DRUG_2, equal=False)
    assert (welch.statistic, welch.degrees, welch.p_value) == pytest.approx(
        (-1.8608, 17.776, 0.07939), abs=1e-3
    )
    assert (difference.low, difference.high) == pytest.approx((-3.3654832, 0.2054832))
    assert groups.t_test(DRUG_1, DRUG_2, equal=True)[0].p_value == pytest.approx(0.07919, abs=1e-5)
    paired, _difference = groups.paired_t(DRUG_1, DRUG_2)
    assert (paired.statistic, paired.p_value) == pytest.approx((-4.0621, 0.002833), abs=1e-4)


def test_rank_tests_of_the_sleep_data_are_those_of_r(monkeypatch: pytest.MonkeyPatch) -> None:
    # All nine differences have one sign: 2 of 512 ways are as far out.
    assert groups.wilcoxon(DRUG_1, DRUG_2).p_value == pytest.approx(2 / 512)
    monkeypatch.setattr(groups, "MOST_ORDERS", 0)  # R does not try all ways
    assert groups.wilcoxon(DRUG_1, DRUG_2).p_value == pytest.approx(0.009091, abs=1e-6)
    assert groups.mann_whitney(DRUG_1, DRUG_2).p_value == pytest.approx(0.06933, abs=1e-5)
    exact = groups.mann_whitney([1, 2, 3], [4, 5, 6])
    assert exact.p_value == pytest.approx(0.1)
    assert exact.detail == "exact"


@pytest.mark.parametrize(
    ("first", "second"), [([1, 1, 1], [2, 2, 2]), ([1, 2, 2, 4], [2, 3, 5, 5, 6])]
)
def test_with_ties_in_small_groups_all_ways_are_tried(
    first: list[float], second: list[float]
) -> None:
    found = groups.mann_whitney(first, second)
    values, n = [*first, *second], len(first)

    def distance(chosen: Iterable[int]) -> float:
        own = set(chosen)
        u = sum(
            (values[i] > values[j]) + (values[i] == values[j]) / 2
            for i in own
            for j in range(len(values))
            if j not in own
        )
        return abs(u - n * len(second) / 2)

    ways = [distance(way) for way in itertools.combinations(range(len(values)), n)]
    as_far = sum(each >= distance(range(n)) - 1e-9 for each in ways)
    assert found.p_value == pytest.approx(as_far / len(ways))
    assert found.detail == groups.EXACT_TIES


def test_rounding_dust_unties_no_pairs() -> None:
    dusty = groups.wilcoxon([0.3, 0.4, 0.7, 1.3], [0.1, 0.2, 0.6, 0.9])
    whole = groups.wilcoxon([3, 4, 7, 13], [1, 2, 6, 9])
    assert dusty == whole
    assert groups.wilcoxon([0.1 + 0.2, 1], [0.3, 2]).n == 1


def test_shapiro_and_levene_are_those_of_r() -> None:
    assert groups.normality(DRUG_1).statistic == pytest.approx(0.92581, abs=1e-5)
    assert groups.normality(DRUG_1).p_value == pytest.approx(0.4079, abs=1e-4)
    assert groups.normality([1.0, 2.0] * 3000).name == groups.OMNIBUS
    assert (groups.equal_variances(DRUG_1, DRUG_2).p_value or 0) > 0.5


def test_what_cannot_be_tested_says_why() -> None:
    assert groups.normality([1, 1, 1]).reason == "all values are the same"
    assert groups.normality([1, 2]).reason == "fewer than three values"
    assert groups.mann_whitney([2, 2], [2, 2]).reason
    assert groups.t_test([1], [2, 3], equal=True)[0].reason
    assert groups.wilcoxon([1, 2], [1, 2]).reason == "no pair differs"
    assert groups.kruskal([[1, 1], [1], [1, 1]]).reason == "all values are the same"
    assert groups.welch_anova([[1, 1], [1, 2], [1, 3]]).reason
    assert groups.equal_variances([1, 2], [4, 3.5]).reason
    assert groups.equal_variances([1, 1, 1], [2, 3]).reason

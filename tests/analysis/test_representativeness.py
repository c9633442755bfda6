"""Samples against their frames."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare, hypergeom, multivariate_hypergeom

from faultatlas.analysis.statistics.tables import FIT_CHI_SQUARE, FIT_SIMULATED, fit_to_frame


def test_the_statistic_is_that_of_scipy() -> None:
    sample, frame = [60, 25, 15], [5000, 3000, 2000]
    found = fit_to_frame(sample, frame)
    plain = chisquare(sample, [50, 30, 20])
    assert found.uncorrected == pytest.approx(plain.statistic)
    assert found.method == FIT_CHI_SQUARE
    # Sampled against not sampled: the same question, asked of a table of both.
    rest = [whole - part for part, whole in zip(sample, frame, strict=True)]
    both = chi2_contingency([sample, rest], correction=False)
    assert found.statistic == pytest.approx(both.statistic * 9999 / 10000)
    assert found.degrees == both.dof == 2
    assert found.p_value == pytest.approx(both.pvalue, rel=1e-3)


@given(st.lists(st.tuples(st.integers(10, 400), st.integers(0, 100)), min_size=2, max_size=6))
def test_the_correction_is_that_of_sampled_against_not_sampled(
    groups: list[tuple[int, int]],
) -> None:
    frame = [whole for whole, _ in groups]
    sample = [whole * percent // 100 for whole, percent in groups]
    found = fit_to_frame(sample, frame)
    if found.statistic is None:
        assert sum(sample) in (0, sum(frame))
        return
    rest = [whole - part for part, whole in zip(sample, frame, strict=True)]
    total = sum(frame)
    both = chi2_contingency([sample, rest], correction=False).statistic * (total - 1) / total
    assert found.statistic == pytest.approx(both, abs=1e-9)
    assert found.p_value is not None
    assert 0 <= found.p_value <= 1


def test_small_groups_are_simulated_and_near_the_exact_value() -> None:
    sample, frame = (4, 0, 1), (6, 5, 3)
    found = fit_to_frame(sample, frame)
    assert found.method == FIT_SIMULATED
    assert found == fit_to_frame(sample, frame)
    expected = [5 * whole / 14 for whole in frame]

    def statistic(counts: tuple[int, ...]) -> float:
        return sum((part - mean) ** 2 / mean for part, mean in zip(counts, expected, strict=True))

    exact = sum(
        multivariate_hypergeom.pmf(counts, frame, 5)
        for counts in product(range(6), repeat=3)
        if sum(counts) == 5 and statistic(counts) >= statistic(sample) - 1e-9
    )
    assert found.p_value == pytest.approx(exact, abs=0.015)


def test_two_small_groups_are_near_the_hypergeometric_test() -> None:
    # 4 of 5 from a group of 4 in 20: only 4 (and nothing else) is as far from the expected 1.
    assert fit_to_frame([4, 1], [4, 16], seed=3).p_value == pytest.approx(
        hypergeom.pmf(4, 20, 4, 5), abs=0.003
    )


def test_nearly_complete_samples_are_simulated() -> None:
    # 5 of 1,000 are left out, all of the group that has a tenth of them: that is rare.
    found = fit_to_frame([900, 95], [900, 100])
    assert found.method == FIT_SIMULATED
    assert found.p_value == pytest.approx(hypergeom.pmf(5, 1000, 100, 5), abs=1e-3)


@pytest.mark.parametrize(
    ("sample", "frame", "said"),
    [
        ([3], [9], "one group"),
        ([3, 0], [9, 0], "one group"),
        ([0, 0], [9, 3], "nothing was drawn"),
        ([9, 3], [9, 3], "the whole frame"),
        ([1] * 301, [2] * 301, "more than 300 groups"),
    ],
)
def test_where_there_is_nothing_to_test(sample: list[int], frame: list[int], said: str) -> None:
    found = fit_to_frame(sample, frame)
    assert (found.statistic, found.p_value) == (None, None)
    assert said in found.method


def test_a_sample_with_more_than_its_frame_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no more of a group"):
        fit_to_frame([4, 1], [3, 5])

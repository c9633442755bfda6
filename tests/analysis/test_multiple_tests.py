"""Holm's adjustment is that of another implementation, digit by digit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from faultatlas.analysis.statistics.estimates import holm


def test_several_tests_are_adjusted_and_those_without_a_value_do_not_count() -> None:
    assert holm([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, *[pytest.approx(0.06)] * 2]
    assert holm([math.nan, 0.001, 0.02]) == [None, pytest.approx(0.002), pytest.approx(0.02)]
    assert holm([None]) == [None]


def test_every_digit_of_an_adjusted_value_is_that_of_statsmodels() -> None:
    random = np.random.default_rng(8)
    for size in (1, 2, 3, 7, 39):  # statsmodels collects all garbage of the process each time
        p_values = [float(p) for p in random.choice([0, 0.001, 0.04, 0.3, *random.random(9)], size)]
        assert holm(p_values) == multipletests(p_values, method="holm")[1].tolist()

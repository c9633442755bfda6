"""Every effect size that discovery finds keeps to these laws."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.analysis.statistics import EffectSize, effect_sizes
from faultatlas.analysis.statistics.estimates import Estimate
from faultatlas.analysis.statistics.scales import EFFECT_SCALES
from faultatlas.analysis.statistics.tables import FISHER, independence, odds_ratio

law = settings(max_examples=40)
NUMBERS = [*effect_sizes("groups").values(), *effect_sizes("pairs").values()]
TWO_BY_TWO = [*effect_sizes("two-by-two").values()]
TABLES = [*effect_sizes("table").values(), *TWO_BY_TWO]
pairs = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=12)
row = st.lists(st.integers(0, 25), min_size=2, max_size=2)
two_by_two = st.lists(row, min_size=2, max_size=2)


def name(size: object) -> str:
    assert isinstance(size, EffectSize)
    return f"{size.kind}-{size.key}"


def holds_together(found: Estimate) -> None:
    """A value in its interval, or a reason."""
    assert (found.value is None) == bool(found.reason)
    assert found.method
    ends = [end for end in (found.low, found.value, found.high) if end is not None]
    assert all(map(isfinite, ends))
    assert ends == sorted(ends) or ends == pytest.approx(sorted(ends))


def same(found: Estimate, other: Estimate) -> bool:
    return (found.value, found.low, found.high, found.reason) == (
        pytest.approx((other.value, other.low, other.high, other.reason), abs=1e-9)
        if found.value is not None
        else (other.value, other.low, other.high, other.reason)
    )


def test_effect_sizes_are_found_and_have_titles_and_scales() -> None:
    assert [*effect_sizes("groups")] == [*effect_sizes("pairs")] == ["d", "g", "delta"]
    assert [*effect_sizes("table")] == ["v", "v-corrected"]
    assert [*effect_sizes("two-by-two")] == ["odds-ratio", "risk-ratio", "difference"]
    for size in (*NUMBERS, *TABLES):
        assert size.title
        assert size.scale in ("", *EFFECT_SCALES)


@law
@given(pairs, st.sampled_from(NUMBERS), st.randoms(use_true_random=False))
def test_numbers_have_a_value_in_its_interval_that_turns_with_the_groups(
    values: list[tuple[int, int]], size: EffectSize, chance: Any
) -> None:
    first, second = map(list, zip(*values, strict=True))
    found, turned = size.estimate(first, second), size.estimate(second, first)
    holds_together(found)
    if found.value is not None:
        assert (found.value, found.low, found.high) == pytest.approx(
            (-turned.value, -turned.high, -turned.low), abs=1e-6
        )
    chance.shuffle(values)
    assert same(size.estimate(*zip(*values, strict=True)), found)


@law
@given(two_by_two, st.sampled_from(TABLES))
def test_tables_have_a_value_in_its_interval_that_turns_with_the_rows(
    table: list[list[int]], size: EffectSize
) -> None:
    found, turned = size.estimate(table), size.estimate(table[::-1])
    if found.value is None and found.low is not None:  # infinite, but at least so much
        assert found.reason
        return
    holds_together(found)
    if found.value is None or turned.value is None:
        assert found.value is None or found.value == 0 or turned.low is not None or turned.reason
        return
    mirrored = (turned.value, -turned.value, 1 / turned.value if turned.value else 0.0)
    assert any(found.value == pytest.approx(value, rel=1e-4, abs=1e-9) for value in mirrored)


@pytest.mark.parametrize("size", NUMBERS, ids=name)
@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([3, 3], [3, 3])])
def test_numbers_that_are_too_few_or_constant_have_a_reason(
    size: EffectSize, first: list[float], second: list[float]
) -> None:
    found = size.estimate(first, second)
    assert found.reason or found.value == 0  # the delta of equal values is 0
    holds_together(found)


@pytest.mark.parametrize("size", TABLES, ids=name)
@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[3, 4], [0, 0]]])
def test_tables_with_an_empty_row_have_a_reason(size: EffectSize, table: list[list[int]]) -> None:
    assert size.estimate(table).reason


@law
@given(two_by_two)
def test_the_odds_ratio_is_that_of_the_test_which_the_counts_ask_for(
    table: list[list[int]],
) -> None:
    found = independence(table)
    if found is not None and 0 not in map(sum, [*table, *zip(*table, strict=True)]):
        expected = odds_ratio(table, exact=found.test.name == FISHER)
        assert effect_sizes("two-by-two")["odds-ratio"].estimate(table) == expected

"""How a sample is shared out among strata."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.data.sampling import allocated, spread


def _free(sizes: dict[str, int], total: int) -> dict[str, int]:
    return allocated(total, sizes, dict.fromkeys(sizes, 0), sizes)


def _one_of_each(
    sizes: dict[str, int], total: int, drawn: dict[str, int] | None = None
) -> dict[str, int]:
    least = dict.fromkeys(sizes, 0) | (drawn or {})
    return allocated(total, sizes, least, sizes, one_of_each=True)


def test_shares_are_those_of_webster() -> None:
    # Divided by 9.5: 4.9, 1.7 and 1.8; then a tie, which the name decides.
    assert _free({"a": 47, "b": 16, "c": 17}, 9) == {"a": 5, "b": 2, "c": 2}
    assert _free({"b": 10, "a": 10}, 3) == {"a": 2, "b": 1}


def test_bounds_hold_and_the_others_share_the_rest() -> None:
    sizes = {"large": 900, "small": 90, "tiny": 10}
    assert _one_of_each(sizes, 20) == {"large": 17, "small": 2, "tiny": 1}
    assert _one_of_each(sizes, 2) == {"large": 1, "small": 1, "tiny": 0}
    # Equal shares of 60 would be 20 each, and one stratum has 10.
    equal, none = dict.fromkeys(sizes, 1), dict.fromkeys(sizes, 0)
    assert allocated(60, equal, none, sizes) == {"large": 25, "small": 25, "tiny": 10}
    # What was drawn stays, though it is more than the share.
    assert _one_of_each(sizes, 20, {"small": 9}) == {"large": 10, "small": 9, "tiny": 1}


def test_what_has_no_weight_gets_what_is_left() -> None:
    sizes = {"varies": 5, "steady": 30, "calm": 10}
    weights = {"varies": 2.5, "steady": 0.0, "calm": 0.0}
    none = dict.fromkeys(sizes, 0)
    assert allocated(4, weights, none, sizes) == {"varies": 4, "steady": 0, "calm": 0}
    assert allocated(9, weights, none, sizes) == {"varies": 5, "steady": 3, "calm": 1}


@st.composite
def _strata(draw: st.DrawFn) -> tuple[dict[str, float], dict[str, int], dict[str, int], int]:
    names = draw(st.lists(st.text("abcdef", min_size=1), min_size=1, max_size=6, unique=True))
    weights = {name: draw(st.floats(0, 1e6)) for name in names}
    most = {name: draw(st.integers(0, 50)) for name in names}
    least = {name: draw(st.integers(0, most[name])) for name in names}
    total = draw(st.integers(sum(least.values()), sum(most.values())))
    return weights, least, most, total


@given(_strata())
def test_every_allocation_adds_up_within_its_bounds(
    case: tuple[dict[str, float], dict[str, int], dict[str, int], int],
) -> None:
    weights, least, most, total = case
    found = allocated(total, weights, least, most)
    assert sum(found.values()) == total
    assert all(least[name] <= found[name] <= most[name] for name in weights)
    assert found == allocated(total, dict(reversed(weights.items())), least, most)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(0, 100))
def test_a_larger_total_takes_nothing_from_any_stratum(counts: list[int], asked: int) -> None:
    sizes = {str(at): count for at, count in enumerate(counts)}
    total = min(asked, sum(counts) - 1)
    smaller, larger = _one_of_each(sizes, total), _one_of_each(sizes, total + 1)
    assert all(smaller[name] <= larger[name] for name in sizes)
    # So what was drawn and extended is what would have been drawn at once.
    assert _one_of_each(sizes, total + 1, smaller) == larger


def test_impossible_totals_are_refused() -> None:
    with pytest.raises(ValueError, match="bounds"):
        _free({"a": 3}, 4)


def test_the_spread_of_a_stratum() -> None:
    assert spread([2, 4, 4, 4, 5, 5, 7, 9, math.nan]) == statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9])
    assert spread([5]) == spread([]) == 0

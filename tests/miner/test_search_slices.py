"""Slices of a search: they cover it, they fit, and they cost less than bisection."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.miner.search.slices import LIMIT, OLDEST, PageRead, Slices, cut

SECOND = timedelta(seconds=1)
NOW = datetime(2025, 10, 1, tzinfo=UTC).replace(tzinfo=None)
WHOLE_S = int((NOW - OLDEST).total_seconds())
PAGE = 100
law = settings(max_examples=60)


class Searched:
    """A search of repositories that were created at given seconds, as `Slices` sees it."""

    def __init__(self, seconds: Sequence[int], until: datetime = NOW) -> None:
        self.seconds = sorted(seconds)
        self.until = until
        self.asked = 0

    def count(self, first: datetime, last: datetime) -> int:
        low, high = ((each - OLDEST).total_seconds() for each in (first, last))
        return bisect_right(self.seconds, high) - bisect_left(self.seconds, low)

    def read(self) -> Slices:
        slices = Slices("net", 1)
        slices.add("net", OLDEST, None)
        while (at := slices.following()) is not None:
            self.asked += 1
            last = at.created_to or self.until
            total = self.count(at.created_from, last)
            given = min(total, LIMIT)
            page = int(at.next_url or 1)
            onward = str(page + 1) if page * PAGE < given else None
            slices.advance(at, PageRead(total, False, onward, self.until), lambda _at, n=given: n)
        return slices

    def bisected(self, first: datetime = OLDEST, last: datetime = NOW) -> int:
        """Requests that plain bisection makes."""
        total = self.count(first, last)
        if total <= LIMIT or first == last:
            return max(1, -(-min(total, LIMIT) // PAGE))
        middle = first + (last - first) // 2
        middle = middle.replace(microsecond=0)
        return 1 + self.bisected(first, middle) + self.bisected(middle + SECOND, last)


def growing(count: int, chance: random.Random) -> list[int]:
    return [int(WHOLE_S * (0.45 + 0.55 * chance.random() ** 0.6)) for _ in range(count)]


def even(count: int, chance: random.Random) -> list[int]:
    return [chance.randrange(WHOLE_S) for _ in range(count)]


def in_bursts(count: int, chance: random.Random) -> list[int]:
    starts = [chance.randrange(WHOLE_S - 259_200) for _ in range(20)]
    return [chance.choice(starts) + chance.randrange(259_200) for _ in range(count)]


def assert_covered(slices: Slices) -> None:
    read = sorted((each for each in slices.all if each.is_read), key=lambda s: s.created_from)
    assert read[0].created_from == OLDEST
    assert read[-1].end == NOW
    for one, following in pairwise(read):
        assert following.created_from == one.end + SECOND
    for one in read:
        assert (one.total_count or 0) <= LIMIT or one.state == "truncated"
        assert one.state in ("complete", "truncated")


@law
@given(
    st.lists(st.tuples(st.integers(0, WHOLE_S), st.integers(1, 1500)), max_size=12),
)
def test_whatever_the_times_the_slices_meet_and_each_fits(crowds: list[tuple[int, int]]) -> None:
    seconds = [second for second, size in crowds for _ in range(size)]
    searched = Searched(seconds)
    slices = searched.read()
    assert_covered(slices)
    read = [each for each in slices.all if each.is_read]
    assert sum(each.total_count or 0 for each in read) == len(seconds)
    per_second = {second: seconds.count(second) for second, _size in crowds}
    crowded = sum(1 for size in per_second.values() if size > LIMIT)
    assert sum(each.state == "truncated" for each in read) == crowded
    assert sum(each.missing for each in read) == sum(
        max(size - LIMIT, 0) for size in per_second.values()
    )


@law
@given(
    st.integers(0, WHOLE_S),
    st.integers(1, WHOLE_S),
    st.integers(LIMIT + 1, 10**6),
    st.none() | st.floats(1e-9, 1e6),
)
def test_neither_part_of_a_cut_is_empty(
    start: int, length: int, count: int, density: float | None
) -> None:
    first = OLDEST + timedelta(seconds=start)
    last = first + timedelta(seconds=length)
    middle = cut(first, last, count, density)
    assert first <= middle < last
    assert middle.microsecond == 0


@pytest.mark.parametrize("shape", [growing, even, in_bursts])
@pytest.mark.parametrize("count", [1_500, 8_000, 40_000])
def test_it_costs_fewer_requests_than_bisection(
    shape: Callable[[int, random.Random], list[int]],
    count: int,
) -> None:
    searched = Searched(shape(count, random.Random(count)))  # noqa: S311  (made-up data)
    slices = searched.read()
    assert_covered(slices)
    plain = searched.bisected()
    assert searched.asked <= plain
    if count > 1_500:
        least = -(-count // PAGE)
        assert searched.asked - least < 0.8 * (plain - least)


def test_a_thousand_results_need_no_slices() -> None:
    searched = Searched(range(1000))
    assert [each.state for each in searched.read().all] == ["complete"]
    assert searched.asked == 10


def test_one_more_does() -> None:
    searched = Searched(even(1001, random.Random(1)))  # noqa: S311  (made-up data)
    slices = searched.read()
    assert_covered(slices)
    assert [each.state for each in slices.all] == ["split", "complete", "complete"]

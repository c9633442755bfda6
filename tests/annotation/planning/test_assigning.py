"""Who labels what: balanced, overlapping as asked for, and the same every time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.annotation.planning.assigning import assigned, overlap_size, parts_of
from faultatlas.annotation.rounds import Assignment
from faultatlas.data.errors import StudyError

ITEMS = [f"github:o/r#{number}" for number in range(1, 61)]

items = st.integers(1, 25).map(lambda count: ITEMS[:count])
raters = st.integers(1, 5).map(lambda count: ["ann", "ben", "cyd", "dan", "eve"][:count])


def _of_items(found: list[Assignment]) -> dict[str, list[str]]:
    people: dict[str, list[str]] = {}
    for each in found:
        people.setdefault(each.item_id, []).append(each.rater)
    return people


@given(items, raters, st.integers(0, 100), st.integers(1, 6), st.integers(-5, 5))
def test_every_item_has_its_raters_and_all_have_the_same_to_do(
    items: list[str], raters: list[str], overlap: int, each: int, seed: int
) -> None:
    each = min(each, len(raters))
    found = assigned(items, raters, overlap=overlap, each=each, seed=seed)
    people = _of_items(found)
    assert sorted(people) == sorted(items)
    shared = ceil(len(items) * overlap / 100)
    counts = Counter(len(set(names)) for names in people.values())
    wanted = Counter({len(raters): shared})
    wanted[each] += len(items) - shared
    assert counts == +wanted
    load = Counter(dict.fromkeys(raters, 0))
    load.update(one.rater for one in found)
    assert max(load.values()) - min(load.values()) <= 1
    for rater in raters:  # positions are a rater's own, from 1
        own = [one.position for one in found if one.rater == rater]
        assert sorted(own) == list(range(1, load[rater] + 1))
    assert found == assigned(list(reversed(items)), raters, overlap=overlap, each=each, seed=seed)


@pytest.mark.parametrize(
    ("people", "each", "count", "spread"),
    [
        (5, 2, 50, 0),
        (5, 2, 47, 1),
        (6, 3, 60, 0),
        (4, 2, 6, 0),
        (4, 3, 8, 0),
        (6, 2, 59, 2),
        (8, 4, 58, 3),
    ],
)
def test_pairs_of_raters_meet_equally_often(
    people: int, each: int, count: int, spread: int
) -> None:
    names = [f"rater-{number}" for number in range(people)]
    found = _of_items(assigned(ITEMS[:count], names, overlap=0, each=each, seed=2))
    met = Counter(dict.fromkeys(combinations(names, 2), 0))
    met.update(pair for group in found.values() for pair in combinations(sorted(group), 2))
    assert max(met.values()) - min(met.values()) <= spread


def test_many_raters_for_each_item_are_balanced_too() -> None:
    names = [f"rater-{number:02}" for number in range(15)]
    found = assigned(ITEMS[:30], names, overlap=0, each=6)
    assert set(Counter(one.rater for one in found).values()) == {12}
    assert {len(set(group)) for group in _of_items(found).values()} == {6}


def test_orders_and_shares_are_random_by_the_seed() -> None:
    found = assigned(ITEMS, ["ann", "ben"], seed=1)
    orders = {
        rater: [
            one.item_id
            for one in sorted(found, key=lambda each: each.position)
            if one.rater == rater
        ]
        for rater in ("ann", "ben")
    }
    assert orders["ann"] != orders["ben"] != ITEMS != orders["ann"]
    # As sha256sum orders `1\0order\0ann\0github:o/r#N`: the same on any machine.
    assert orders["ann"][:3] == ANN_FIRST
    shared = {
        item for item, group in _of_items(assigned(ITEMS, ["ann", "ben"], overlap=10)).items()
        if len(group) == 2
    }  # fmt: skip
    assert len(shared) == 6
    assert shared != set(ITEMS[:6])


ANN_FIRST = ["github:o/r#59", "github:o/r#20", "github:o/r#19"]


@given(st.integers(1, 200), st.integers(1, 12))
def test_parts_are_disjoint_in_order_and_of_one_size(count: int, parts: int) -> None:
    numbers = [str(number) for number in range(count)]
    if parts > count:
        with pytest.raises(StudyError):
            parts_of(numbers, parts)
        return
    found = parts_of(numbers, parts)
    assert [item for part in found for item in part] == numbers
    assert len(found) == parts
    sizes = [len(part) for part in found]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("count", "percent", "size"),
    [(25, 10, 3), (100, 7, 7), (1000, 0.1, 1), (300, 29, 87), (50, 0, 0), (50, 100, 50), (3, 1, 1)],
)
def test_the_overlap_is_at_least_that_share(count: int, percent: float, size: int) -> None:
    assert overlap_size(count, percent) == size


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        ([], {}, "no raters"),
        (["ann", "ben", "ann"], {}, "'ann' is named as a rater twice"),
        (["ann"], {"overlap": 101}, "an overlap of 101 %"),
        (["ann"], {"overlap": float("nan")}, "an overlap of nan %"),
        (["ann"], {"each": 2}, "2 raters for each item, and 1 are named"),
    ],
)
def test_impossible_plans_are_refused(
    names: list[str], options: dict[str, float], said: str
) -> None:
    with pytest.raises(StudyError) as caught:
        assigned(ITEMS, names, **options)  # type: ignore[arg-type]
    assert said in caught.value.message

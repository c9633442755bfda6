"""Who labels what, and in which order: balanced, random by a seed, the same on every machine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from faultatlas.annotation.rounds import Assignment
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import drawn

_MOST_GROUPS = 1_000  # of raters that are weighed against each other for one item


def parts_of(items: Sequence[str], parts: int) -> list[list[str]]:
    """The items in their order, cut into parts whose sizes differ by one at most."""
    if parts > len(items):
        raise StudyError(
            f"{len(items):,} items cannot be cut into {parts:,} parts", "Take fewer --parts."
        )
    ends = [len(items) * part // parts for part in range(parts + 1)]
    return [list(items[begin:end]) for begin, end in pairwise(ends)]


def overlap_size(items: int, percent: float) -> int:
    """How many items all raters label: at least that share, so rounded up."""
    return math.ceil(items * Fraction(str(percent)) / 100)


def assigned(
    items: Sequence[str],
    raters: Sequence[str],
    *,
    overlap: float = 100,
    each: int = 1,
    seed: int = 1,
) -> list[Assignment]:
    """All raters for a share of the items, `each` raters for every other one.

    Chance (a hash of seed and item) decides which items, and who begins. Numbers of items differ
    by one at most between raters; those that two raters share differ as little as that allows.
    Every rater has an order of her own.
    """
    _check(raters, overlap, each)
    mixed = drawn(items, len(items), seed, "overlap")
    shared = overlap_size(len(items), overlap)
    of_rater: dict[str, list[str]] = {rater: list(mixed[:shared]) for rater in raters}
    for item, group in zip(mixed[shared:], _groups(len(items) - shared, raters, each, seed),
                           strict=True):  # fmt: skip
        for rater in group:
            of_rater[rater].append(item)
    return [
        Assignment(item, rater, position)
        for rater, own in of_rater.items()
        for position, item in enumerate(drawn(own, len(own), seed, f"order\0{rater}"), 1)
    ]


def _groups(count: int, raters: Sequence[str], each: int, seed: int) -> list[tuple[str, ...]]:
    """For so many items the raters of each: every group as often as it comes round, and then
    always those with the fewest items so far, and among them those that were together the least.
    """
    order = drawn(raters, len(raters), seed, "turn")
    rounds, left = divmod(count, math.comb(len(order), each))
    found = list(combinations(order, each)) * rounds if rounds else []
    had: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for turn in range(left):
        group = _next_group(drawn(order, len(order), seed, f"turn {turn}"), each, had, together)
        had.update(group)
        together.update(combinations(group, 2))
        found.append(group)
    return found


def _next_group(
    order: Sequence[str], each: int, had: Counter[str], together: Counter[tuple[str, str]]
) -> tuple[str, ...]:
    fewest = min(had[rater] for rater in order)
    behind = [rater for rater in order if had[rater] == fewest]
    ahead = [rater for rater in order if had[rater] > fewest]
    # Whoever has the fewest comes first, so that numbers stay within one of each other.
    forced, free = ([], behind) if len(behind) >= each else (behind, ahead)
    wanted = each - len(forced)

    def in_order(group: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(group))

    def met(group: Sequence[str]) -> int:
        """How much a group repeats: what it adds to the squares of how often pairs met."""
        return sum(2 * together[pair] + 1 for pair in combinations(in_order(group), 2))

    if math.comb(len(free), wanted) <= _MOST_GROUPS:
        chosen = min(combinations(free, wanted), key=lambda some: met([*forced, *some]))
        return in_order([*forced, *chosen])
    group = list(forced)
    while len(group) < each:  # too many to weigh all of them: the best next one, again and again
        left = [rater for rater in free if rater not in group]
        group.append(min(left, key=lambda rater: met([*group, rater])))
    return in_order(group)


def _check(raters: Sequence[str], overlap: float, each: int) -> None:
    if not raters:
        raise StudyError("a round has no raters", "Name them: --rater ann --rater ben.")
    if repeated := [rater for rater, times in Counter(raters).items() if times > 1]:
        raise StudyError(f"{repeated[0]!r} is named as a rater twice", "Name each rater once.")
    if not 0 <= overlap <= 100:
        raise StudyError(f"an overlap of {overlap:g} %", "It lies between 0 and 100.")
    if not 1 <= each <= len(raters):
        raise StudyError(
            f"{each} raters for each item, and {len(raters)} are named",
            "Name more raters, or take a smaller --raters-per-item.",
        )

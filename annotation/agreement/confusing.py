"""Which codes raters took for each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.codings import Coding


@dataclass(frozen=True)
class Confusion:
    """Two codes that raters gave one item."""

    one: str
    other: str
    pairs: int  # of ratings
    share: float  # of all pairs of codes that stood against each other
    of_either: float  # of all pairs in which one of the two stands


def pairs_of_codes(coding: Coding) -> dict[tuple[str, str], int]:
    """How often a code stood beside a code in two ratings of an item, in the taxonomy's order.

    Where raters choose several, what only one of two gave stands against what only the other
    gave, and what both gave stands beside itself.
    """
    order = {code: at for at, code in enumerate(coding.paths)}

    def place(code: str) -> tuple[int, str]:
        return order.get(code, len(order)), code

    if coding.is_multiple:
        counts = _of_sets(coding)
    else:
        from faultatlas.analysis.statistics.agreement.ratings import confusion

        names = [str(category) for category in coding.coded.categories]
        pairs = confusion(coding.coded).tolist()
        counts = Counter(
            {
                (names[one], names[other]): pairs[one][other]
                for one in range(len(names))
                for other in range(one, len(names))
                if pairs[one][other]
            }
        )
    ordered: Counter[tuple[str, str]] = Counter()
    for (one, other), count in counts.items():
        first, second = sorted((one, other), key=place)
        ordered[first, second] += count
    return {
        key: ordered[key] for key in sorted(ordered, key=lambda key: (place(key[0]), place(key[1])))
    }


def confusions(coding: Coding) -> tuple[Confusion, ...]:
    """The codes that stood against each other, most frequent first."""
    pairs = pairs_of_codes(coding)
    apart = sum(count for (one, other), count in pairs.items() if one != other)
    of_code: Counter[str] = Counter()
    for (one, other), count in pairs.items():
        for code in {one, other}:
            of_code[code] += count
    found = [
        Confusion(one, other, count, count / apart, count / (of_code[one] + of_code[other] - count))
        for (one, other), count in pairs.items()
        if one != other
    ]
    return tuple(sorted(found, key=lambda each: -each.pairs))


def _of_sets(coding: Coding) -> Counter[tuple[str, str]]:
    categories = coding.coded.categories
    counts: Counter[tuple[str, str]] = Counter()
    for row in coding.coded.values.tolist():
        given = [categories[value] for value in row if value >= 0]
        for one, other in combinations(given, 2):
            if isinstance(one, frozenset) and isinstance(other, frozenset):
                counts.update((code, code) for code in one & other)
                counts.update((mine, yours) for mine in one - other for yours in other - one)
    return counts

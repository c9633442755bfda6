"""Which categories stood against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.statistics.agreement.coding import Coded
from analysis.statistics.agreement.tallies import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Confused:
    """Two categories that raters gave the same item."""

    one: int  # numbers in Coded.categories
    other: int
    pairs: int  # of ratings
    share: float  # of all pairs of ratings in which either of the two stands


def confusion(coded: Coded) -> NDArray[np.int64]:
    """How many pairs of ratings of one item were a and b: symmetric, by the coded categories.

    A pair stands at [a, b] and, mirrored, at [b, a]; on the diagonal are the pairs that agree.
    The upper triangle with the diagonal sums to the number of pairs.
    """
    counts = counted(coded)
    pairs = counts.T @ counts
    alike = (counts * (counts - 1)).sum(axis=0) // 2
    np.fill_diagonal(pairs, alike)
    return pairs


def most_confused(coded: Coded, limit: int = 10) -> list[Confused]:
    """The categories that were most often taken for each other, by pairs of ratings."""
    pairs = confusion(coded)
    in_either = pairs.sum(axis=1)
    found = [
        Confused(
            int(one),
            int(other),
            int(pairs[one, other]),
            float(pairs[one, other] / (in_either[one] + in_either[other] - pairs[one, other])),
        )
        for one, other in zip(*np.triu(pairs, 1).nonzero(), strict=True)
    ]
    return sorted(found, key=lambda each: (-each.pairs, -each.share, each.one, each.other))[:limit]

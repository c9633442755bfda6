"""One-sided exact tests for few runs, and the size of a difference: larger, or not shown.

Everything is counted, nothing approximated, ties included: with three or five runs a side an
approximation would decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

SOURCES = (
    (
        "Fisher, R. A.: The logic of inductive inference. Journal of the Royal Statistical Society "
        "98 (1935), 39-82."
    ),
    (
        "Mann, H. B., Whitney, D. R.: On a test of whether one of two random variables is "
        "stochastically larger than the other. Annals of Mathematical Statistics 18 (1947), 50-60."
    ),
    (
        "Vargha, A., Delaney, H. D.: A critique and improvement of the CL common language effect "
        "size statistics of McGraw and Wong. Journal of Educational and Behavioral Statistics 25 "
        "(2000), 101-132."
    ),
)


def fisher_greater(first: int, of_first: int, second: int, of_second: int) -> float:
    """The probability of so many in the first group, or more, were both groups alike.

    Fisher's exact test, one-sided: the upper tail of the hypergeometric distribution.
    """
    found, total = first + second, of_first + of_second
    ways = sum(
        math.comb(of_first, each) * math.comb(of_second, found - each)
        for each in range(first, min(of_first, found) + 1)
    )
    return ways / math.comb(total, found)


def mann_whitney_greater(first: Sequence[float], second: Sequence[float]) -> float:
    """The probability of ranks as high in the first group, or higher, were both groups alike.

    The conditional distribution of the rank sum over all ways to deal out the values, ties with
    their mean rank; without ties it is the exact Mann-Whitney U test. Infinite values are ranked
    as they are; there may be no NaN.
    """
    size, total = len(first), len(first) + len(second)
    if not first or not second:
        return 1.0
    ranks = _doubled_ranks([*first, *second])
    observed = sum(ranks[:size])
    # ways[j] is a polynomial, its coefficients packed into one whole number: the coefficient of
    # x ** s is the number of ways to choose j values whose doubled ranks sum up to s.
    width = math.comb(total, size).bit_length() + 1
    ways = [1] + [0] * size
    for rank in ranks:
        for chosen in range(size, 0, -1):
            ways[chosen] += ways[chosen - 1] << (rank * width)
    as_high = ways[size] >> (observed * width)
    mask = (1 << width) - 1
    count = 0
    while as_high:
        count += as_high & mask
        as_high >>= width
    return count / math.comb(total, size)


def a12(first: Sequence[float], second: Sequence[float]) -> float:
    """Vargha and Delaney's A: how often a value of the first group is the larger, ties halved."""
    larger = sum((a > b) + 0.5 * (a == b) for a in first for b in second)
    return larger / (len(first) * len(second))


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the mean rank of each value: whole numbers, ties included."""
    ordered = sorted(values)
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, value in enumerate(ordered, 1):
        first.setdefault(value, rank)
        last[value] = rank
    return [first[value] + last[value] for value in values]

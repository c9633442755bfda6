"""How a sample is shared out among strata: by their weights, in whole numbers, within bounds."""

from __future__ import annotations

import heapq
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

Weights = Mapping[str, float | Fraction]


def allocated(
    total: int,
    weights: Weights,
    least: Mapping[str, int],
    most: Mapping[str, int],
    *,
    one_of_each: bool = False,
) -> dict[str, int]:
    """Shares of a total in proportion to weights, none below `least` or above `most`.

    One after another is given to the stratum with the largest weight / (2 n + 1), where n is what
    it has (Webster, Sainte-Lague); among equals to the larger weight, then by name. So with a
    larger total no stratum gets less, as it could by largest remainders. With `one_of_each`
    every stratum gets its first one before any gets more. Those without a weight get what the
    others cannot take. All numbers are exact, so that every machine gives the same.
    """
    if not sum(least.values()) <= total <= sum(most.values()):
        raise ValueError(f"{total} cannot be shared out within the bounds")
    if any(not least[name] <= most[name] for name in weights):
        raise ValueError("a lower bound is above the upper one")
    exact = {name: Fraction(weight) for name, weight in weights.items()}
    shares = {name: least[name] for name in exact}
    if len(shares) == 1:
        return dict.fromkeys(shares, total)

    def turn(name: str) -> tuple[int, Fraction, Fraction, str]:
        """Those with the smallest come first."""
        weight, has = exact[name], shares[name]
        rank = 0 if one_of_each and not has else 1 if weight > 0 else 2
        by = weight if weight > 0 else Fraction(most[name])
        return (rank, -by / (2 * has + 1), -by, name)

    waiting = [turn(name) for name in exact if shares[name] < most[name]]
    heapq.heapify(waiting)
    for _each in range(total - sum(shares.values())):
        name = waiting[0][-1]
        shares[name] += 1
        if shares[name] < most[name]:
            heapq.heapreplace(waiting, turn(name))
        else:
            heapq.heappop(waiting)
    return shares


def spread(values: Iterable[float]) -> float:
    """The standard deviation in a stratum (n - 1); 0 for one value or none."""
    known: Sequence[float] = [value for value in values if not math.isnan(value)]
    return statistics.stdev(known) if len(known) > 1 else 0.0

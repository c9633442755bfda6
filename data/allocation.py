"""How a sample is shared out among strata: by their weights, in whole numbers, within bounds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

Weights = Mapping[str, float | Fraction]


def allocated(
    total: int, weights: Weights, least: Mapping[str, int], most: Mapping[str, int]
) -> dict[str, int]:
    """Shares of a total in proportion to weights, none below `least` or above `most`.

    Where a bound holds a stratum, the others share the rest in proportion. Fractions are rounded
    down, and what is then left goes to the largest remainders; among equals to the larger weight,
    then by name. All numbers are exact, so that every machine gives the same.
    """
    if not sum(least.values()) <= total <= sum(most.values()):
        raise ValueError(f"{total} cannot be shared out within the bounds")
    if any(not least[name] <= most[name] for name in weights):
        raise ValueError("a lower bound is above the upper one")
    exact = _within_bounds(total, {name: Fraction(weights[name]) for name in weights}, least, most)
    whole = {name: math.floor(share) for name, share in exact.items()}
    left = total - sum(whole.values())
    by_remainder = sorted(
        exact, key=lambda name: (whole[name] - exact[name], -Fraction(weights[name]), name)
    )
    for name in by_remainder[:left]:
        whole[name] += 1
    return whole


def _within_bounds(
    total: int,
    weights: Mapping[str, Fraction],
    least: Mapping[str, int],
    most: Mapping[str, int],
) -> dict[str, Fraction]:
    """Exact shares: of each weight the same multiple, unless a bound holds it.

    What weights cannot take, as all that have one are full, goes to those without a weight.
    """
    heavy = {name: weight for name, weight in weights.items() if weight > 0}
    light = [name for name in weights if name not in heavy]
    rest = sum(least[name] for name in light)
    full = sum(most[name] for name in heavy)
    if full + rest < total:
        shares = {name: Fraction(most[name]) for name in heavy}
        rooms = {name: Fraction(most[name] - least[name]) for name in light}
        spare = total - full - rest
        room = sum(rooms.values())
        return shares | {name: least[name] + rooms[name] * spare / room for name in light}

    def at(multiple: Fraction) -> dict[str, Fraction]:
        return {
            name: min(max(multiple * weight, Fraction(least[name])), Fraction(most[name]))
            for name, weight in heavy.items()
        }

    wanted = total - rest
    low = Fraction(0)
    # The sum grows with the multiple, and between two of these bends in a straight line.
    for bend in sorted({bound[name] / heavy[name] for name in heavy for bound in (least, most)}):
        if sum(at(bend).values()) >= wanted:
            below, above = (sum(at(end).values(), Fraction(0)) for end in (low, bend))
            step = Fraction(0) if above == below else (wanted - below) / (above - below)
            low += (bend - low) * step
            break
        low = bend
    return at(low) | {name: Fraction(least[name]) for name in light}


def least_sizes(
    total: int, drawn: Mapping[str, int], available: Mapping[str, int]
) -> dict[str, int]:
    """What each stratum gets at least: what is drawn already, and one if there are enough."""
    one = {name: max(drawn.get(name, 0), min(1, available[name])) for name in available}
    if sum(one.values()) <= total:
        return one
    return {name: drawn.get(name, 0) for name in available}


def spread(values: Iterable[float]) -> float:
    """The standard deviation in a stratum (n - 1); 0 for one value or none."""
    known: Sequence[float] = [value for value in values if not math.isnan(value)]
    return statistics.stdev(known) if len(known) > 1 else 0.0

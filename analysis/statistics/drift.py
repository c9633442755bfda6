"""Whether a share rises or falls over the course of the work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

METHOD = "Cochran-Armitage test for a linear trend in proportions, two-sided"
SOURCE = (
    "Cochran, W. G.: Some methods for strengthening the common chi-squared tests. Biometrics 10 "
    "(1954), 417-451; Armitage, P.: Tests for linear trends in proportions and frequencies. "
    "Biometrics 11 (1955), 375-386."
)


@dataclass(frozen=True)
class Trend:
    """The test of a trend. Without a value there is a reason."""

    z: float | None  # above 0: the share rises
    p_value: float | None
    reason: str = ""


def cochran_armitage(
    counts: Sequence[int], totals: Sequence[int], scores: Sequence[float] | None = None
) -> Trend:
    """Test whether shares rise or fall with the scores: 0, 1, 2, ... if none are given."""
    if len(counts) != len(totals) or (scores is not None and len(scores) != len(counts)):
        raise ValueError("every part needs a count, a total and a score")
    if any(not 0 <= count <= total for count, total in zip(counts, totals, strict=True)):
        raise ValueError("a count lies between 0 and its total")
    places = list(scores) if scores is not None else list(range(len(counts)))
    everything, hits = sum(totals), sum(counts)
    if sum(total > 0 for total in totals) < 2:
        return Trend(None, None, "there are no two parts to compare")
    if hits in (0, everything):
        return Trend(None, None, "the share is the same in every part")
    share = hits / everything
    rows = list(zip(places, counts, totals, strict=True))
    slope = sum(place * (count - total * share) for place, count, total in rows)
    mean = sum(place * total for place, _count, total in rows) / everything
    spread = sum(total * (place - mean) ** 2 for place, _count, total in rows)
    if spread == 0:
        return Trend(None, None, "there are no two parts to compare")
    z = slope / math.sqrt(share * (1 - share) * spread)
    return Trend(z, math.erfc(abs(z) / math.sqrt(2)))


def in_parts(count: int, parts: int) -> list[tuple[int, int]]:
    """So many things in order as parts of nearly the same size: from, to (not included)."""
    return [(count * at // parts, count * (at + 1) // parts) for at in range(parts)]

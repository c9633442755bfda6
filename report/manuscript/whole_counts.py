"""Whole numbers behind printed shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, match

LARGEST = 20_000
_MOST = 50  # shares
_REACH = 25  # how far from the printed total others are tried


def shares_of(entry: Entry, name: str) -> list[Printed]:
    """Shares in percent, without the zeros that pad them if the entry says so."""
    shares = entry.numbers(name)
    if not all(each.percent and each.unit <= 1 and 0 <= each.value <= 100 for each in shares):
        raise entry.error(f"{name} are shares in percent", 'such as "35.2 %"')
    if len(shares) > _MOST:
        raise entry.error(f"{name} has {len(shares)} shares", f"at most {_MOST}")
    if not entry.has("digits"):
        return shares
    digits = max(0, min(9, int(entry.number("digits").value)))
    return [replace(each, unit=max(each.unit, 10.0**-digits)) for each in shares]


def whole_counts(shares: Sequence[Printed], total: int) -> list[list[int]] | None:
    """The counts that give each share of a total, if all have some and these can add up to it."""
    if not 0 < total <= LARGEST:
        return None
    found = [_counts(share, total) for share in shares]
    if not all(found):
        return None
    fits = sum(map(min, found)) <= total <= sum(map(max, found))
    return found if fits else None


def nearest_total(shares: Sequence[Printed], total: int) -> int | None:
    """The total nearest to the printed one that allows the shares; of two the smaller."""
    for distance in range(_REACH + 1):
        for candidate in (total - distance, total + distance):
            if whole_counts(shares, candidate) is not None:
                return candidate
    return None


def _counts(share: Printed, total: int) -> list[int]:
    least = math.floor((share.value - share.unit) / 100 * total)
    most = math.ceil((share.value + share.unit) / 100 * total)
    return [
        count
        for count in range(max(0, least), min(total, most) + 1)
        if match(share, 100 * count / total) in ("rounded", "cut")
    ]

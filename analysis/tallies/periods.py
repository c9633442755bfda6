"""Labels in periods of time: small periods are joined with their neighbours."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from faultatlas.analysis.observations import Observations
from faultatlas.analysis.tallies.groups import no_values
from faultatlas.data.errors import StudyError

SMALLEST = 10
UNITS = ("year", "quarter", "month")
_PARTS = re.compile(r"(\d{1,4})(?:-(Q?)(\d{1,2}))?")


@dataclass(frozen=True)
class Period:
    """One period or several joined: its items, and where its middle lies in time."""

    names: tuple[str, ...]
    total: int
    place: float  # in units of the period

    @property
    def label(self) -> str:
        """`2019`, or `2015 to 2017` for joined ones."""
        first, last = self.names[0], self.names[-1]
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class Timed:
    """Periods in their order, and the counts of codes in them."""

    periods: tuple[Period, ...]
    counts: dict[tuple[int, str], int]  # by the number of the period and the code
    joined: tuple[str, ...]

    def count(self, at: int, code: str) -> int:
        """How many items of a period have the code."""
        return self.counts.get((at, code), 0)


def timed(seen: Observations, unit: str, smallest: int = SMALLEST) -> Timed:
    """Final labels by the first covariate, a period; fewer than two periods are refused."""
    items: dict[str, set[tuple[str, str]]] = {}
    for row in seen.rows:
        if row.values[0] is not None:
            items.setdefault(row.values[0], set()).add((row.round, row.item_id))
    if not items:
        raise no_values(unit, len(seen.rows))
    totals = {name: len(found) for name, found in items.items()}
    periods = _joined(totals, smallest)
    if len(periods) < 2:
        raise StudyError(
            f"the {sum(totals.values()):,} dated items make {len(periods)} {unit} of {smallest:,} "
            "items or more: there is no trend to look for",
            "Take smaller periods (--by quarter, --by month), or fewer items each (--smallest).",
        )
    number = {name: at for at, period in enumerate(periods) for name in period.names}
    counts: Counter[tuple[int, str]] = Counter()
    for row in seen.rows:
        if row.values[0] is not None:
            counts[number[row.values[0]], row.code] += 1
    together = tuple(period.label for period in periods if len(period.names) > 1)
    return Timed(tuple(periods), dict(counts), together)


def place(name: str) -> float:
    """Where a period lies in time: years, quarters or months since the year 0."""
    found = _PARTS.fullmatch(name)
    if not found:
        raise StudyError(f"{name!r} is no period", f"Known: {', '.join(UNITS)}.")
    year, quarter, part = int(found[1]), found[2], found[3]
    if part is None:
        return float(year)
    return float(year * (4 if quarter else 12) + int(part) - 1)


def _joined(totals: dict[str, int], smallest: int) -> list[Period]:
    """From the first on, periods are joined until they have so many items; the rest to the last."""
    groups: list[list[str]] = [[]]
    for name in sorted(totals, key=place):
        if groups[-1] and sum(totals[each] for each in groups[-1]) >= smallest:
            groups.append([])
        groups[-1].append(name)
    if len(groups) > 1 and sum(totals[each] for each in groups[-1]) < smallest:
        groups[-2:] = [groups[-2] + groups[-1]]
    return [_period(names, totals) for names in groups]


def _period(names: list[str], totals: dict[str, int]) -> Period:
    total = sum(totals[name] for name in names)
    middle = sum(place(name) * totals[name] for name in names) / total
    return Period(tuple(names), total, middle)

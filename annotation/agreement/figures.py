"""What was measured, as figures: the trend over rounds and the confusion of codes."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.confusing import pairs_of_codes
from faultatlas.annotation.agreement.printed import interval_of
from faultatlas.annotation.agreement.tables import named_code
from faultatlas.data.old.results import Figure, Series
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.overview import Entry, Overview, Point, Trend

MOST_CODES = 30  # in a matrix; more cannot be read
STAGES = {"independent": "before discussion", "negotiated": "after discussion"}


def all_figures(overview: Overview) -> tuple[Figure, ...]:
    """The trends, then the confusion of codes: of rounds together where they can be."""
    pooled = {each.name for entry in overview.pools for each in entry.found.rated.rounds}
    alone = [entry for entry in overview.entries if entry.name not in pooled]
    shown = [*overview.pools, *alone]
    taxonomies = _suffixes([each.taxonomy for each in overview.trends])
    trends = [_trend(*each) for each in zip(overview.trends, taxonomies, strict=True)]
    names = _suffixes([entry.path[1] for entry in shown])
    matrices = [
        _matrix(entry, suffix)
        for entry, suffix in zip(shown, names, strict=True)
        if entry.found.confused
    ]
    return (*trends, *matrices)


def _suffixes(names: list[str]) -> list[str]:
    """What the names of figures end with: none of one alone, else each its own."""
    if len(names) < 2:
        return [""] * len(names)
    words = [_word(name) for name in names]
    folded = [word.casefold() for word in words]
    return [
        f"-{word}" + (f"-{at}" if folded.count(word.casefold()) > 1 else "")
        for at, word in enumerate(words, 1)
    ]


def _trend(trend: Trend, suffix: str) -> Figure:
    by_round: dict[str, dict[str, Point]] = {}
    for point in trend.points:
        by_round.setdefault(point.round, {})[point.stage] = point
    stages = [stage for stage in STAGES if any(stage in each for each in by_round.values())]
    series = []
    for stage in stages:
        points = [each.get(stage) for each in by_round.values()]
        ends = [(None, None) if point is None else interval_of(point.measured) for point in points]
        series.append(
            Series(
                STAGES[stage] if len(stages) > 1 else trend.title,
                tuple(None if point is None else point.measured.estimate.value for point in points),
                tuple(low for low, _high in ends),
                tuple(high for _low, high in ends),
            )
        )
    first = [next(iter(each.values())) for each in by_round.values()]
    told = ", ".join(
        f"{point.round} {STAGES[point.stage]}: " + formatting.measure(point.measured.estimate.value)
        for point in trend.points
    )
    return Figure(
        f"trend{suffix}",
        f"{trend.title} by round ({trend.taxonomy})",
        "trend",
        f"With 95 % intervals. {told}.",
        categories=tuple(f"{point.round} (n={point.items:,})" for point in first),
        series=tuple(series),
        threshold=tuple(point.threshold for point in first),
    )


def _matrix(entry: Entry, suffix: str) -> Figure:
    """For each code what other raters said where one gave it, of a hundred."""
    pairs = pairs_of_codes(entry.found.coding)
    beside: dict[str, Counter[str]] = {}
    for (one, other), count in pairs.items():
        beside.setdefault(one, Counter())[other] += count * (2 if one == other else 1)
        if one != other:
            beside.setdefault(other, Counter())[one] += count
    order = {code: at for at, code in enumerate(entry.found.coding.paths)}
    codes = sorted(beside, key=lambda code: (order.get(code, len(order)), code))
    left = len(codes) - MOST_CODES
    if left > 0:
        apart = {code: beside[code].total() - beside[code][code] for code in codes}
        kept = set(sorted(codes, key=lambda code: -apart[code])[:MOST_CODES])
        codes = [code for code in codes if code in kept]
    rated = entry.found.rated
    return Figure(
        f"confusion{suffix}",
        f"Where one rater of {entry.name} gave the code of a row, what others gave (percent)",
        "matrix",
        "The diagonal is agreement."
        + (
            f" The {MOST_CODES} codes with most disagreements; {left} are left out."
            if left > 0
            else ""
        ),
        categories=tuple(codes),
        series=tuple(
            Series(
                named_code(rated, code),
                tuple(round(100 * beside[code][other] / beside[code].total()) for other in codes),
            )
            for code in codes
        ),
    )


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or f"x{text.encode().hex()[:12]}"

"""Shares of categories over time: tables, figure, claims."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faultatlas.analysis.observations import Observations
from faultatlas.analysis.statistics import scales, tables
from faultatlas.analysis.statistics.estimates import Estimate, Test, holm
from faultatlas.analysis.statistics.shares import Share, wilson_share
from faultatlas.analysis.tallies import words
from faultatlas.analysis.tallies.naming import called, key
from faultatlas.analysis.tallies.periods import Timed
from faultatlas.data.old.results import Claim
from faultatlas.report import formatting

ANALYSIS = "trend"
LEVEL = 0.05
SCALE = "cohen-h"
MOST_LINES = 4
RARE = 5
SOURCES = (*tables.TREND_SOURCES, *tables.DIFFERENCE_SOURCES)


@dataclass(frozen=True)
class Course:
    """A code over time: the test of its trend, and the last period beside the first."""

    code: str
    test: Test
    adjusted: float | None
    first: Share
    last: Share
    difference: Estimate  # percentage points, last minus first
    h: float


@dataclass(frozen=True)
class Trends:
    """Codes over periods, and how the result is called."""

    seen: Observations
    timed: Timed
    codes: tuple[str, ...]
    unit: str
    name: str
    parameters: dict[str, Any]

    def share(self, at: int, code: str) -> Share:
        """The share of a period's items that have the code."""
        return wilson_share(self.timed.count(at, code), self.timed.periods[at].total)

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """Every code, its p-value adjusted after Holm over all of them."""
        periods = self.timed.periods
        totals = [period.total for period in periods]
        places = [period.place for period in periods]
        found = [
            tables.cochran_armitage(
                [self.timed.count(at, code) for at in range(len(periods))], totals, places
            )
            for code in self.codes
        ]
        adjusted = holm([each.p_value for each in found])
        return tuple(
            self._course(code, test, after)
            for code, test, after in zip(self.codes, found, adjusted, strict=True)
        )

    @property
    def tested(self) -> int:
        """How many codes have a p-value."""
        return sum(each.adjusted is not None for each in self.courses)

    @property
    def rare(self) -> tuple[str, ...]:
        """The tested codes for which the normal approximation of the test is poor."""
        total = sum(period.total for period in self.timed.periods)
        sums = {
            each.code: sum(self.timed.count(at, each.code) for at in range(len(self.timed.periods)))
            for each in self.courses
            if each.adjusted is not None
        }
        return tuple(code for code, hits in sums.items() if min(hits, total - hits) < RARE)

    def _course(self, code: str, test: Test, adjusted: float | None) -> Course:
        first, last = self.share(0, code), self.share(len(self.timed.periods) - 1, code)
        pair = [[last.count, last.total - last.count], [first.count, first.total - first.count]]
        return Course(
            code,
            test,
            adjusted,
            first,
            last,
            tables.share_difference(pair),
            tables.cohen_h(last.count / last.total, first.count / first.total),
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The codes that the figure shows: the most frequent ones."""
        sums = {
            code: sum(self.timed.count(at, code) for at in range(len(self.timed.periods)))
            for code in self.codes
        }
        order = sorted(self.codes, key=lambda code: -sums[code])[:MOST_LINES]
        return tuple(code for code in self.codes if code in order)


def claims(of: Trends) -> tuple[Claim, ...]:
    """For each code the difference of the last and the first period, and the p-value."""
    query = called(ANALYSIS, of.parameters)
    found = []
    for each in of.courses:
        where, rows = key(each.code), of.seen.rows_query([each.code])
        told = of.seen.title(each.code)
        found.append(
            Claim(
                f"{of.name}.{where}.difference",
                f"Change of the share of {told} from {of.timed.periods[0].label} to "
                f"{of.timed.periods[-1].label}",
                each.difference.value,
                "percentage points",
                f"{query}: codes.{where}.difference.value",
                low=each.difference.low,
                high=each.difference.high,
                method=each.difference.method,
                total=each.difference.n,
                rows_query=rows,
            )
        )
        if each.adjusted is not None:
            found.append(
                Claim(
                    f"{of.name}.{where}.p",
                    f"p-value of the trend of {told}, after Holm",
                    max(each.adjusted, words.LEAST_P),
                    "p",
                    f"{query}: codes.{where}.adjusted",
                    method=f"{tables.TREND}, Holm over {of.tested} codes",
                    total=sum(period.total for period in of.timed.periods),
                    rows_query=rows,
                )
            )
    return tuple(found)


def document(of: Trends) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "periods": [{"period": each.label, "items": each.total} for each in of.timed.periods],
        "codes": {
            key(each.code): {
                "code": each.code,
                "z": each.test.statistic,
                "p": each.test.p_value,
                "adjusted": each.adjusted,
                "difference": words.estimate_document(each.difference),
                "h": each.h,
                "word": scales.word(SCALE, each.h),
                "scale": scales.SCALES[SCALE].title,
            }
            for each in of.courses
        },
    }


def summary(of: Trends) -> tuple[str, ...]:
    """What rises and what falls."""
    total = sum(period.total for period in of.timed.periods)
    told = [
        (
            f"{total:,} dated items in {len(of.timed.periods)} periods, "
            f"{of.timed.periods[0].label} to {of.timed.periods[-1].label}."
        )
    ]
    moving = [each for each in of.courses if words.is_below(each.adjusted, LEVEL)]
    if not moving:
        least = min((each.adjusted for each in of.courses if each.adjusted is not None), default=1)
        told.append(
            f"No share of {of.tested} rises or falls ({tables.TREND}, least "
            f"{words.p_text(least)} after Holm)."
        )
    for each in moving:
        way = "rises" if (each.test.statistic or 0) > 0 else "falls"
        word = scales.word(SCALE, each.h)
        told.append(
            f"{of.seen.title(each.code)} {way}: {formatting.percent(each.first.percent or 0)} to "
            f"{formatting.percent(each.last.percent or 0)}, difference "
            f"{formatting.interval(each.difference.low, each.difference.high)} points, h "
            f"{each.h:.2f} ({word} after {scales.SCALES[SCALE].title}), "
            f"{words.p_text(each.adjusted)} after Holm."
        )
    return tuple(told)


def notes(of: Trends) -> tuple[str, ...]:
    """What was joined, and what the test assumes."""
    joined = (
        [f"Small periods were joined: {', '.join(of.timed.joined)}."] if of.timed.joined else []
    )
    rare = (
        [
            (
                f"Fewer than {RARE} items have, or have not, {', '.join(of.rare)}: there the "
                "normal approximation of the test is poor."
            )
        ]
        if of.rare
        else []
    )
    return (
        *joined,
        *rare,
        (
            "Assumed: items are independent, and a share changes along a line of the periods' "
            "places in time; a share that rises and falls again is not seen by the test."
        ),
        words.scale_note(SCALE),
    )

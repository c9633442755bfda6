"""Shares over time as tables and figures."""

from __future__ import annotations

from faultatlas.analysis.statistics import scales
from faultatlas.analysis.statistics.shares import WILSON_95
from faultatlas.analysis.statistics.tables import NEWCOMBE, TREND
from faultatlas.analysis.tallies import words
from faultatlas.analysis.tallies.trending import SCALE, Trends
from faultatlas.data.old.results import Cell, Column, Figure, Series, Table

MOST_POINTS = 12  # side by side on a page


def tables(of: Trends) -> tuple[Table, ...]:
    """The test of every code; all shares."""
    return (_courses(of), _periods(of), _shares(of))


def _courses(of: Trends) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            each.code, of.seen.title(each.code), each.first.percent, each.last.percent,
            each.difference.value, each.difference.low, each.difference.high, each.h,
            scales.word(SCALE, each.h), each.test.statistic, words.p_cell(each.test.p_value),
            words.p_cell(each.adjusted), each.test.reason,
        )
        for each in of.courses
    ]  # fmt: skip
    columns = (
        Column("code", "Code", "code"),
        Column("name", "Category", aside=True),
        Column("first", of.timed.periods[0].label, "percent"),
        Column("last", of.timed.periods[-1].label, "percent"),
        Column("difference", "Difference", "points"),
        Column("low", "95 % from", "points"),
        Column("high", "to", "points"),
        Column("h", "Cohen's h", "number", aside=True),
        Column("word", "In words"),
        Column("z", "z", "number"),
        Column("p", "p", "number", aside=True),
        Column("adjusted", "p after Holm", "number"),
        Column("reason", "Not tested because", aside=True),
    )
    note = (
        f"z and p: {TREND}, over all periods, adjusted after Holm. Difference of the last "
        f"and the first period: {NEWCOMBE}. In words: "
        f"{scales.SCALES[SCALE].title}."
    )
    return Table("trends", "Does a share rise or fall?", columns, tuple(rows), note)


def _periods(of: Trends) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (period.label, period.total, len(period.names)) for period in of.timed.periods
    ]
    columns = (
        Column("period", "Period"),
        Column("items", "Items", "count"),
        Column("joined", f"{of.unit.capitalize()}s with labels", "count"),
    )
    return Table("periods", "Periods", columns, tuple(rows))


def _shares(of: Trends) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for code in of.codes:
        for at, period in enumerate(of.timed.periods):
            share = of.share(at, code)
            rows.append(
                (code, period.label, share.count, share.total, share.percent, share.low, share.high)
            )
    columns = (
        Column("code", "Code", "code"),
        Column("period", "Period"),
        Column("count", "Count", "count"),
        Column("total", "Of", "count"),
        Column("percent", "Share", "percent"),
        Column("low", "95 % from", "percent"),
        Column("high", "to", "percent"),
    )
    return Table("shares", "All shares", columns, tuple(rows), f"{WILSON_95}.", folded=True)


def figures(of: Trends) -> tuple[Figure, ...]:
    """The shares of the most frequent codes over time; each alone where a page has no more room."""
    if len(of.lines) * len(of.timed.periods) <= MOST_POINTS:
        return (_figure(of, of.lines, "trend"),)
    return tuple(_figure(of, (code,), f"trend-{at}") for at, code in enumerate(of.lines, 1))


def _figure(of: Trends, codes: tuple[str, ...], name: str) -> Figure:
    series = []
    for code in codes:
        shares = [of.share(at, code) for at in range(len(of.timed.periods))]
        series.append(
            Series(
                of.seen.title(code),
                tuple(share.percent for share in shares),
                tuple(share.low for share in shares),
                tuple(share.high for share in shares),
            )
        )
    what = of.seen.title(codes[0]) if len(codes) == 1 else f"{len(codes)} categories"
    return Figure(
        name,
        f"Share of {what} by {of.unit}, with 95 % intervals",
        "trend",
        f"Points with intervals: the share of {what} in each period. All categories are in the "
        "table shares.",
        categories=tuple(f"{each.label} (n = {each.total:,})" for each in of.timed.periods),
        series=tuple(series),
        unit="percent",
    )

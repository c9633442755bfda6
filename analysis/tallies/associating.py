"""Two things counted against each other: test, effect sizes, and which cells stand out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from analysis.statistics import table_effects, table_tests
from analysis.statistics.estimates import Estimate
from analysis.statistics.intervals import WILSON_95, wilson_share
from analysis.tallies import homogeneity, words
from analysis.tallies import printed as printed_numbers
from analysis.tallies.homogeneity import Association, associated
from analysis.tallies.naming import called, key
from data.errors import StudyError
from data.results import Bar, Cell, Claim, Column, Figure, Part, Series, Table

ANALYSIS = "associate"
SEED = 1
PRINTABLE = ("p", "chi2", "v", "odds-ratio", "risk-ratio", "difference")
SOURCES = (*table_tests.SOURCES, *table_effects.SOURCES)
MOST_PARTS = 8  # segments of a bar that can still be told apart

RowsQuery = Callable[[str | None, str | None], str]


@dataclass(frozen=True)
class Question:
    """A table of counts with its names, and what is asked of it."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    row_title: str
    column_title: str
    name: str
    parameters: dict[str, Any]
    printed: tuple[printed_numbers.Printed, ...] = ()
    rows_query: RowsQuery | None = None

    @cached_property
    def found(self) -> Association:
        """Test and effect; one row or one column is refused."""
        found = associated(self.counts, SEED)
        if found is None:
            filled = [name for name, row in zip(self.rows, self.counts, strict=True) if sum(row)]
            raise StudyError(
                f"there is nothing to associate: {len(filled)} of {self.row_title} and "
                f"{sum(map(bool, map(sum, zip(*self.counts, strict=True))))} of "
                f"{self.column_title} occur",
                "Both sides need two values that occur.",
            )
        return found

    @property
    def is_two_by_two(self) -> bool:
        """Whether there are odds and shares to compare."""
        return len(self.found.counts) == len(self.found.counts[0]) == 2

    @cached_property
    def two_by_two(self) -> dict[str, tuple[str, Estimate, str]]:
        """By key the effects of two by two: title, estimate, scale."""
        if not self.is_two_by_two:
            return {}
        table = self.found.counts
        exact = self.found.test.name == table_tests.FISHER
        return {
            "odds-ratio": (
                "Odds ratio",
                table_effects.odds_ratio(table, exact=exact),
                "odds-ratio",
            ),
            "risk-ratio": ("Ratio of shares", table_effects.risk_ratio(table), ""),
            "difference": (
                "Difference of shares (percentage points)",
                table_effects.share_difference(table),
                "",
            ),
        }

    @cached_property
    def beside(self) -> tuple[printed_numbers.Beside, ...]:
        """The printed numbers beside ours."""
        ours: dict[str, float | None] = dict.fromkeys(PRINTABLE)
        test = self.found.test
        is_chi = test.name == table_tests.CHI_SQUARE
        ours |= {"p": test.p_value, "chi2": test.statistic if is_chi else None}
        ours |= {"v": self.found.v.value}
        ours |= {name: each.value for name, (_title, each, _scale) in self.two_by_two.items()}
        return printed_numbers.compare(self.printed, ours)


def summary(of: Question) -> tuple[str, ...]:
    """What was found, in sentences."""
    told = [f"{of.found.summary}"]
    if of.is_two_by_two:
        title, ratio, scale = of.two_by_two["odds-ratio"]
        _title, difference, _scale = of.two_by_two["difference"]
        told.append(
            f"{words.estimate_text(title, ratio, scale)}; "
            f"{words.estimate_text('difference of shares', difference)} percentage points."
        )
    standing = [each for each in _residuals(of) if (each.adjusted or 1) < 0.05]
    told.append(
        f"{len(standing)} of {len(of.rows) * len(of.columns)} cells differ from independence "
        "(adjusted residuals, 0.05 after Holm)."
    )
    return (*told, *map(printed_numbers.sentence, of.beside))


def tables(of: Question) -> tuple[Table, ...]:
    """Counts, measures, residuals, and printed numbers beside ours."""
    measures = homogeneity.measures_table(of.found, "measures", "Test and effect sizes")
    more = tuple(
        homogeneity.measure_row(title, each, scale) for title, each, scale in of.two_by_two.values()
    )
    full = Table(
        measures.name, measures.title, measures.columns, (*measures.rows, *more), measures.note
    )
    found = [_counts(of), full, _residuals_table(of)]
    return tuple(found + ([printed_numbers.table(of.beside)] if of.beside else []))


def _counts(of: Question) -> Table:
    columns = [Column("row", of.row_title)]
    for at, name in enumerate(of.columns, 1):
        columns += [
            Column(f"count_{at}", name, "count"),
            Column(f"percent_{at}", f"{name} of row", "percent", aside=len(of.columns) > 3),
            Column(f"low_{at}", "95 % from", "percent", aside=True),
            Column(f"high_{at}", "to", "percent", aside=True),
        ]
    columns.append(Column("total", "All", "count"))
    rows: list[tuple[Cell, ...]] = []
    for name, row in zip(of.rows, of.counts, strict=True):
        cells: list[Cell] = [name]
        for count in row:
            share = wilson_share(count, sum(row))
            cells += [count, share.percent, share.low, share.high]
        rows.append((*cells, sum(row)))
    title = f"{of.row_title} by {of.column_title}"
    return Table("counts", title, tuple(columns), tuple(rows), f"Shares of a row: {WILSON_95}.")


def _residuals(of: Question) -> list[table_tests.Residual]:
    return table_tests.residuals(of.counts)


def _residuals_table(of: Question) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            of.rows[each.row],
            of.columns[each.column],
            of.counts[each.row][each.column],
            each.expected,
            each.residual,
            each.p_value,
            each.adjusted,
        )
        for each in _residuals(of)
    ]
    ordered = sorted(rows, key=lambda row: -abs(float(row[4] or 0)))
    columns = (
        Column("row", of.row_title),
        Column("column", of.column_title),
        Column("count", "Count", "count"),
        Column("expected", "Expected", "number"),
        Column("residual", "Residual", "number"),
        Column("p", "p", "number", aside=True),
        Column("adjusted", "p after Holm", "number"),
    )
    note = (
        "Adjusted standardised residuals (Haberman 1973), the largest first: beyond 2 a cell "
        "stands out; p-values are adjusted over all cells after Holm."
    )
    return Table("residuals", "Which cells stand out", columns, tuple(ordered), note,
                 folded=len(rows) > 30)  # fmt: skip


def figure(of: Question) -> Figure:
    """The shares of each row, or the residuals of a large table."""
    if len(of.columns) <= MOST_PARTS:
        bars = tuple(
            Bar(
                name,
                tuple(Part(column, count) for column, count in zip(of.columns, row, strict=True)),
            )
            for name, row in zip(of.rows, of.counts, strict=True)
            if sum(row)
        )
        return Figure(
            "association",
            f"{of.column_title} by {of.row_title}",
            "shares",
            "Stacked bars: the shares of each row. The same numbers are in the table counts.",
            bars=bars,
        )
    values: dict[tuple[int, int], float | None] = {
        (each.row, each.column): each.residual for each in _residuals(of)
    }
    # The longer side goes downwards, where there is more room.
    down, across = (of.rows, of.columns), (range(len(of.rows)), range(len(of.columns)))
    turned = len(of.columns) > len(of.rows)
    return Figure(
        "association",
        f"Adjusted residuals of {of.row_title} by {of.column_title}",
        "matrix",
        "Heat map: how far each cell is from independence. The same numbers are in the table "
        "residuals.",
        categories=down[0] if turned else down[1],
        series=tuple(
            Series(
                name,
                tuple(
                    values[(other, at) if turned else (at, other)] for other in across[not turned]
                ),
            )
            for at, name in enumerate(down[turned])
        ),
    )


def claims(of: Question) -> tuple[Claim, ...]:
    """The p-value, the effect sizes, and the share of every row in the first column."""
    query = called(ANALYSIS, of.parameters)
    rows = of.rows_query(None, None) if of.rows_query else None
    beside = {each.printed.key: each for each in of.beside}

    def beside_ours(name: str) -> dict[str, Any]:
        if name not in beside:
            return {}
        found = beside[name]
        return {
            "printed": found.printed.value,
            "status": found.status,
            "reason": found.reason,
        }

    what = f"{of.row_title} and {of.column_title}"
    test, v = of.found.test, of.found.v
    ways = {
        "odds-ratio": f"Odds of {of.columns[0]} in {of.rows[0]} by those in {of.rows[-1]}",
        "risk-ratio": f"Share of {of.columns[0]} in {of.rows[0]} by that in {of.rows[-1]}",
        "difference": f"Share of {of.columns[0]} in {of.rows[0]} less that in {of.rows[-1]}",
    }
    found = [
        Claim(f"{of.name}.p", f"p-value of {what} ({test.name})", test.p_value, "p",
              f"{query}: test.p", method=test.detail or test.name, rows_query=rows,
              total=test.n, **beside_ours("p")),
        Claim(f"{of.name}.v", f"Cramer's V of {what}", v.value, "", f"{query}: test.v.value",
              low=v.low, high=v.high, method=v.method, total=v.n, rows_query=rows,
              **beside_ours("v")),
    ]  # fmt: skip
    for name, (_title, each, _scale) in of.two_by_two.items():
        if each.value is None:
            continue
        found.append(
            Claim(f"{of.name}.{name}", ways[name], each.value,
                  "percentage points" if name == "difference" else "",
                  f"{query}: effects.{name}.value", low=each.low, high=each.high,
                  method=each.method, total=each.n, rows_query=rows, **beside_ours(name))
        )  # fmt: skip
    for name, row in zip(of.rows, of.counts, strict=True):
        share = wilson_share(row[0], sum(row))
        found.append(
            Claim(f"{of.name}.rows.{key(name)}", f"Share of {of.columns[0]} in {name}",
                  share.percent, "percent", f"{query}: rows.{key(name)}.percent",
                  count=share.count, total=share.total, low=share.low, high=share.high,
                  method=share.method,
                  rows_query=of.rows_query(name, of.columns[0]) if of.rows_query else None)
        )  # fmt: skip
    return tuple(found)


def document(of: Question) -> dict[str, Any]:
    """All of it as plain values."""
    shares = {
        key(name): {
            "name": name,
            "counts": dict(zip(of.columns, row, strict=True)),
            "percent": wilson_share(row[0], sum(row)).percent,
        }
        for name, row in zip(of.rows, of.counts, strict=True)
    }
    return {
        "n": sum(map(sum, of.counts)),
        "test": of.found.document(),
        "effects": {
            name: words.estimate_document(each, scale)
            for name, (_title, each, scale) in of.two_by_two.items()
        },
        "rows": shares,
        "printed": [
            {
                "measure": each.printed.key,
                "printed": each.printed.value,
                "ours": each.ours,
                "status": each.status,
                "reason": each.reason,
            }
            for each in of.beside
        ],
    }


def notes(of: Question, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Assumptions, and what was counted."""
    scales = [words.scale_note("odds-ratio")] if of.is_two_by_two else []
    return (*more, *of.found.assumptions, *scales, *([printed_numbers.RULE] if of.printed else []))

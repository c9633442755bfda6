"""Two things counted against each other, as tables and a figure."""

from __future__ import annotations

from faultatlas.analysis.statistics.shares import WILSON_95, wilson_share
from faultatlas.analysis.tallies import homogeneity, words
from faultatlas.analysis.tallies import printed as printed_numbers
from faultatlas.analysis.tallies.associating import Question, residuals
from faultatlas.data.old.results import Bar, Cell, Column, Figure, Part, Series, Table

MOST_PARTS = 8  # segments of a bar that can still be told apart


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
    for at, name in enumerate(of.column_names, 1):
        columns += [
            Column(f"count_{at}", name, "count"),
            Column(f"percent_{at}", f"{name} of row", "percent", aside=len(of.columns) > 3),
            Column(f"low_{at}", "95 % from", "percent", aside=True),
            Column(f"high_{at}", "to", "percent", aside=True),
        ]
    columns.append(Column("total", "All", "count"))
    rows: list[tuple[Cell, ...]] = []
    for name, row in zip(of.row_names, of.counts, strict=True):
        cells: list[Cell] = [name]
        for count in row:
            share = wilson_share(count, sum(row))
            cells += [count, share.percent, share.low, share.high]
        rows.append((*cells, sum(row)))
    title = f"{of.row_title} by {of.column_title}"
    return Table("counts", title, tuple(columns), tuple(rows), f"Shares of a row: {WILSON_95}.")


def _residuals_table(of: Question) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            of.row_names[each.row],
            of.column_names[each.column],
            of.counts[each.row][each.column],
            each.expected,
            each.residual,
            words.p_cell(each.p_value),
            words.p_cell(each.adjusted),
        )
        for each in residuals(of)
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
        "stands out; p-values are adjusted after Holm over all cells (of two columns, or two rows, "
        "one is the mirror of the other and counts once)."
    )
    if not of.found.expected.enough:
        note += " Where few are expected, these p-values are rough: the test above is not."
    return Table("residuals", "Which cells stand out", columns, tuple(ordered), note,
                 folded=len(rows) > 30)  # fmt: skip


def figure(of: Question) -> Figure:
    """The shares of each row, or the residuals of a large table."""
    if len(of.columns) <= MOST_PARTS:
        bars = tuple(
            Bar(
                name,
                tuple(
                    Part(column, count) for column, count in zip(of.column_names, row, strict=True)
                ),
            )
            for name, row in zip(of.row_names, of.counts, strict=True)
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
        (each.row, each.column): each.residual for each in residuals(of)
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

"""Results of commands: quantities, and the tables and figures that arrange them.

A command returns a `Result`. It knows nothing of how it is shown: a terminal, a page, LaTeX, JSON,
claims and data frames derive from the same quantities. A `Table` or `Chart` selects quantities by
their dimensions; a `Listing` or `Figure` carries values of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

Cell = str | int | float | bool | None
ColumnKind = Literal["text", "code", "count", "number", "percent", "points", "interval", "status"]
FigureKind = Literal["shares", "bars", "matrix", "trend", "alignment", "flow", "boxes"]
Status = Literal[
    "", "reproduced", "consistent", "near", "not reproduced", "does not follow", "inconsistent",
    "no data", "cannot be checked",
]  # fmt: skip
Unit = Literal["count", "percent", "points", "coefficient", "p"]

_KIND_OF_UNIT: Mapping[str, ColumnKind] = {
    "count": "count",
    "percent": "percent",
    "points": "points",
}
_KIND_OF_FIELD: Mapping[str, ColumnKind] = {
    "n": "count",
    "count": "count",
    "status": "status",
    "reason": "text",
    "method": "text",
    "statement": "text",
}


@dataclass(frozen=True)
class Quantity:
    """A number of a result, with its uncertainty and where it comes from.

    `dimensions` identify it, as in a tidy data frame: {"whole": "artifacts", "status":
    "untargeted"}. `n` is the number of items behind it, `count` the numerator of a share. `query`
    is SQL on the study's views that gives the rows behind it, empty for shipped facts. A published
    value is in `printed`, and `status` and `reason` compare it with ours.
    """

    dimensions: Mapping[str, str]
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    count: int | None = None
    unit: Unit = "count"
    statement: str = ""
    query: str = ""
    method: str = ""
    printed: float | None = None
    status: Status = ""
    reason: str = ""

    @property
    def id(self) -> str:
        """The values of the dimensions: `artifacts.untargeted`."""
        return ".".join(self.dimensions.values())

    def facts(self) -> dict[str, Any]:
        """All fields but the dimensions."""
        return {part.name: getattr(self, part.name) for part in fields(self)[1:]}


# --- tables ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column: its key in CSV and JSON, its heading, and what its cells are.

    `percent` cells are percentages (47.9 means 47.9 %), `points` differences of two of them;
    `interval` cells are text. What is `aside` is omitted where there is little room: on a
    terminal, on a phone and in a paper. What is `below` is a long text: a terminal and a page
    show it under its row, over the whole width.
    """

    key: str
    title: str
    kind: ColumnKind = "text"
    aside: bool = False
    below: bool = False


@dataclass(frozen=True)
class Listing:
    """A table of given values; `name` is its file name and its anchor on the page.

    Rows that follow each other with the same value in the column `grouped_by` are a group: a
    page and a paper show that value once, above them.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    folded: bool = False  # long tables start closed on a page and are omitted on a terminal
    grouped_by: str = ""

    def narrow(self) -> Listing:
        """The table without what is aside."""
        return self.without(lambda _at, column: column.aside)

    def without(self, leaves: Callable[[int, Column], bool]) -> Listing:
        """The table without the columns that are to leave, by their place and what they are."""
        kept = [index for index, column in enumerate(self.columns) if not leaves(index, column)]
        if len(kept) == len(self.columns):
            return self
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in self.rows),
        )

    def groups(self) -> list[tuple[Cell, Listing]]:
        """The groups by their value, each a table without the column that groups them."""
        keys = [column.key for column in self.columns]
        if self.grouped_by not in keys:
            return [(None, self)]
        at = keys.index(self.grouped_by)
        columns = (*self.columns[:at], *self.columns[at + 1 :])
        bare = replace(self, columns=columns, grouped_by="")
        return [
            (value, replace(bare, rows=tuple((*row[:at], *row[at + 1 :]) for row in rows)))
            for value, rows in groupby(self.rows, key=lambda row: row[at])
        ]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dictionaries by column key."""
        return [
            dict(zip((column.key for column in self.columns), row, strict=True))
            for row in self.rows
        ]


def rows_of(
    columns: Sequence[Column], records: Iterable[Mapping[str, Any]]
) -> tuple[tuple[Cell, ...], ...]:
    """The rows of a table from dictionaries by column key."""
    return tuple(tuple(record[column.key] for column in columns) for record in records)


@dataclass(frozen=True)
class Field:
    """A dimension or a field of quantities as a column of a table, with its key and heading."""

    name: str
    key: str = ""
    title: str = ""
    kind: ColumnKind | None = None
    aside: bool = False

    def column(self, result: Result, selected: Sequence[Quantity] = ()) -> Column:
        """The column; the unit of the selected quantities gives its kind."""
        units = {quantity.unit for quantity in selected}
        by_unit = _KIND_OF_UNIT.get(units.pop(), "number") if len(units) == 1 else "number"
        by_name = _KIND_OF_FIELD.get(self.name, by_unit if selected else "text")
        title = self.title or result.labels.get(self.name) or titled(self.name)
        return Column(self.key or self.name, title, self.kind or by_name, self.aside)


ESTIMATE = (
    Field("value"),
    Field("low", title="95 % from"),
    Field("high", title="to"),
    Field("n", title="Of"),
)


@dataclass(frozen=True)
class Table:
    """A table of the quantities that have exactly these dimensions.

    `rows` are the dimensions that begin a row. With `columns`, the values of that dimension run
    across and a cell shows the first of `fields`; without it, each quantity is a row and `fields`
    are its columns. `where` selects by the values of further dimensions; `skip_zero` omits shares
    of nothing.
    """

    name: str
    title: str
    rows: tuple[str | Field, ...]
    columns: str = ""
    fields: tuple[Field, ...] = ESTIMATE
    where: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    folded: bool = False
    skip_zero: bool = False

    def listing(self, result: Result) -> Listing:
        """The table with its values."""
        heads = [head if isinstance(head, Field) else Field(head) for head in self.rows]
        names = [head.name for head in heads]
        selected = _selected(result.quantities, {*names, self.columns} - {""}, self.where)
        if self.skip_zero:
            selected = [quantity for quantity in selected if quantity.count != 0]
        if self.columns:
            across = dict.fromkeys(quantity.dimensions[self.columns] for quantity in selected)
            kind = self.fields[0].column(result, selected).kind
            columns = [Column(name, titled(result.label(name)), kind) for name in across]
        else:
            columns = [part.column(result, selected) for part in self.fields]
        rows: dict[tuple[str, ...], dict[str, Cell]] = {}
        for quantity in selected:
            key = tuple(result.label(quantity.dimensions[name]) for name in names)
            rows.setdefault(key, {}).update(self._cells(quantity))
        return Listing(
            self.name,
            self.title,
            (*(head.column(result) for head in heads), *columns),
            tuple(
                (*key, *(row.get(column.key) for column in columns)) for key, row in rows.items()
            ),
            self.note,
            self.folded,
        )

    def _cells(self, quantity: Quantity) -> dict[str, Cell]:
        if self.columns:
            return {quantity.dimensions[self.columns]: getattr(quantity, self.fields[0].name)}
        return {part.key or part.name: getattr(quantity, part.name) for part in self.fields}


# --- figures ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A segment of a stacked bar."""

    label: str
    count: int


@dataclass(frozen=True)
class Bar:
    """A stacked bar of a `shares` figure; the parts add up to the whole."""

    label: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Series:
    """One colour of a figure: a value for each category; None is not drawn.

    A `trend` and `bars` may have the ends of an interval for each value.
    """

    label: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Node:
    """A box of an `alignment`: those of one group stand together under its name.

    `parts` split the box, as faults by status; `count` is how much is linked to it at all.
    """

    key: str
    label: str
    group: str
    count: int
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Link:
    """What joins a box above with one below, and how strongly."""

    above: str
    below: str
    weight: int


@dataclass(frozen=True)
class Exit:
    """What leaves a `flow` at a box, and for which reasons; or what is open there still."""

    label: str
    count: int
    parts: tuple[Part, ...] = ()
    is_open: bool = False


@dataclass(frozen=True)
class Box:
    """A box of a `flow`: the next has what it has, but for what exits. `parts` are its sources."""

    phase: str
    label: str
    count: int
    parts: tuple[Part, ...] = ()
    exits: tuple[Exit, ...] = ()


@dataclass(frozen=True)
class Figure:
    """The data of a figure. `kind` says which of the other fields are filled.

    shares: `bars`; bars: `categories` and `series`, in `unit`; matrix: `categories`
    are the columns, `series` the rows; trend: `categories` in their order, `series` with
    intervals, and for each category the `threshold` that was to be reached, if any; alignment:
    nodes `above` and `below` and the `links` between them, in `unit`; flow: `boxes` in their order.
    boxes: for each of the `categories` a series of five numbers, low to high, in `unit`.
    `description` is the text for a reader who cannot see the figure.
    """

    name: str
    title: str
    kind: FigureKind
    description: str
    bars: tuple[Bar, ...] = ()
    categories: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    unit: str = ""
    threshold: tuple[float | None, ...] = ()
    above: tuple[Node, ...] = ()
    below: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Chart:
    """A figure of the quantities that have exactly these dimensions.

    `shares` draws a stacked bar for each value of `rows` with a segment for each of `columns`, by
    `count`; `bars` draws the values with their intervals. `only` names the rows, in their order.
    """

    name: str
    title: str
    kind: Literal["shares", "bars"]
    rows: str
    columns: str
    description: str
    only: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)

    def figure(self, result: Result) -> Figure:
        """The figure with its values."""
        table: dict[str, dict[str, Quantity]] = {name: {} for name in self.only}
        for quantity in _selected(result.quantities, {self.rows, self.columns}, self.where):
            row = quantity.dimensions[self.rows]
            if row in table or not self.only:
                table.setdefault(row, {})[quantity.dimensions[self.columns]] = quantity
        table = {name: row for name, row in table.items() if row}
        if self.kind == "shares":
            return self._shares(result, table)
        return self._bars(result, table)

    def _shares(self, result: Result, table: Mapping[str, Mapping[str, Quantity]]) -> Figure:
        bars = tuple(
            Bar(
                result.label(row),
                tuple(
                    Part(titled(result.label(name)), quantity.count)
                    for name, quantity in segments.items()
                    if quantity.count
                ),
            )
            for row, segments in table.items()
        )
        counts = "; ".join(
            f"{bar.label}: " + ", ".join(f"{part.label.lower()} {part.count}" for part in bar.parts)
            for bar in bars
        )
        description = f"{self.description} {counts}."
        return Figure(self.name, self.title, self.kind, description, bars=bars)

    def _bars(self, result: Result, table: Mapping[str, Mapping[str, Quantity]]) -> Figure:
        series = []
        for name in dict.fromkeys(name for row in table.values() for name in row):
            column = [row.get(name) for row in table.values()]
            ends = (
                tuple(None if quantity is None else getattr(quantity, end) for quantity in column)
                for end in ("value", "low", "high")
            )
            series.append(Series(titled(result.label(name)), *ends))
        units = {quantity.unit for row in table.values() for quantity in row.values()}
        return Figure(
            self.name,
            self.title,
            self.kind,
            self.description,
            categories=tuple(map(result.label, table)),
            series=tuple(series),
            unit=units.pop() if len(units) == 1 else "",
        )


# --- results ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What a command returns.

    A sentence of `summary` refers to a quantity by {id} or {id:field}. `missing` names what is
    incomplete; the exit code is then 1. `data` is stored and not shown: for a later comparison.
    `labels` gives the words for dimensions and their values. `leading` are the ids of the
    quantities that a page shows large. The frame sets `command`, `arguments` and `page`, and `name`
    where the command leaves it empty.
    """

    title: str
    quantities: tuple[Quantity, ...] = ()
    tables: tuple[Table | Listing, ...] = ()
    figures: tuple[Chart | Figure, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    summary: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    leading: tuple[str, ...] = ()
    name: str = ""
    command: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    page: str = ""

    def __post_init__(self) -> None:
        if len(self.by_id) < len(self.quantities):
            ids = [quantity.id for quantity in self.quantities]
            twice = next(id_ for id_ in ids if ids.count(id_) > 1)
            raise ValueError(f"two quantities of {self.title!r} have the id {twice!r}")

    @cached_property
    def by_id(self) -> dict[str, Quantity]:
        """The quantities by their ids."""
        return {quantity.id: quantity for quantity in self.quantities}

    def label(self, key: str) -> str:
        """The words for a dimension or for one of its values."""
        return self.labels.get(key, key)

    def listings(self) -> tuple[Listing, ...]:
        """All tables with their values; a table without rows is omitted."""
        tables = (
            table.listing(self) if isinstance(table, Table) else table for table in self.tables
        )
        return tuple(table for table in tables if table.rows)

    def drawings(self) -> tuple[Figure, ...]:
        """All figures with their values."""
        return tuple(
            figure.figure(self) if isinstance(figure, Chart) else figure for figure in self.figures
        )


def titled(name: str) -> str:
    """A key as a heading: `lead_time` is `Lead time`."""
    words = name.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def _selected(
    quantities: Iterable[Quantity], names: set[str], where: Mapping[str, str]
) -> list[Quantity]:
    wanted = names | where.keys()
    return [
        quantity
        for quantity in quantities
        if quantity.dimensions.keys() == wanted and where.items() <= quantity.dimensions.items()
    ]

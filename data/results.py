"""What an analysis hands over: tables, figure data and claims, as plain values.

An analysis builds a `Result`; the study stores it; the report renders it, today or
years later, without the analysis. So everything here turns into JSON and back, and
nothing here knows how it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

Cell = str | int | float | bool | None
ColumnKind = Literal["text", "code", "count", "number", "percent", "points", "interval", "status"]
FigureKind = Literal["shares", "bars", "matrix", "trend", "alignment", "flow", "boxes"]
ClaimStatus = Literal["", "reproduced", "near", "not reproduced", "inconsistent", "no data"]


@dataclass(frozen=True)
class Column:
    """A column: its key in CSV and JSON, its heading, and what its cells are.

    `percent` cells are percentages (47.9 means 47.9 %), `points` differences of two of them;
    `interval` cells are text. What is `aside` is left out where there is little room: on a
    terminal, on a phone and in a paper. What is `below` is a long text: a terminal and a page
    show it under its row, over the whole width.
    """

    key: str
    title: str
    kind: ColumnKind = "text"
    aside: bool = False
    below: bool = False


@dataclass(frozen=True)
class Table:
    """A table of a result; `name` is its file name and its anchor on the page.

    Rows that follow each other with the same value in the column `grouped_by` are a group: a
    page and a paper show that value once, above them.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    folded: bool = False  # long tables start closed on a page and are left out on a terminal
    grouped_by: str = ""

    def narrow(self) -> Table:
        """The table without what is aside."""
        return self.without(lambda _at, column: column.aside)

    def without(self, leaves: Callable[[int, Column], bool]) -> Table:
        """The table without the columns that are to leave, by their place and what they are."""
        kept = [index for index, column in enumerate(self.columns) if not leaves(index, column)]
        if len(kept) == len(self.columns):
            return self
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in self.rows),
        )

    def groups(self) -> list[tuple[Cell, Table]]:
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
    `description` is what a reader who cannot see the figure is told.
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
class Claim:
    """A number of a report: what it says, how it is obtained, how sure it is.

    `query` names the analysis and the field of its document that yields the number
    (`coverage-gap(evidence=survey): faults.untargeted.percent`); `rows_query` is SQL on the
    study's views that gives the rows behind it, None where they are shipped facts.
    """

    claim_id: str
    statement: str
    value: float | None
    unit: str
    query: str
    count: int | None = None
    total: int | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    printed: float | None = None
    status: ClaimStatus = ""
    reason: str = ""
    rows_query: str | None = None


@dataclass(frozen=True)
class Result:
    """An analysis that was run: `name` is its folder under `out/` and its key in the study.

    A page shows the first of its claims large: so many as `headlines` says, or as it has room for.
    """

    analysis: str
    name: str
    title: str
    parameters: dict[str, Any]
    summary: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    document: dict[str, Any] = field(default_factory=dict)
    headlines: int | None = None

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the study and for `--json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Result:
        """The result that `to_json` described."""
        return cls(
            analysis=plain["analysis"],
            name=plain["name"],
            title=plain["title"],
            parameters=plain["parameters"],
            summary=tuple(plain["summary"]),
            claims=tuple(Claim(**claim) for claim in plain["claims"]),
            tables=tuple(_table(table) for table in plain["tables"]),
            figures=tuple(_figure(figure) for figure in plain["figures"]),
            notes=tuple(plain["notes"]),
            sources=tuple(plain["sources"]),
            document=plain["document"],
            headlines=plain.get("headlines"),
        )


def _table(plain: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in plain["columns"])
    rows = tuple(tuple(row) for row in plain["rows"])
    return Table(**{**plain, "columns": columns, "rows": rows})


def _figure(plain: dict[str, Any]) -> Figure:
    bars = tuple(Bar(bar["label"], _parts(bar)) for bar in plain["bars"])
    series = tuple(_series(row) for row in plain["series"])
    lists = {name: tuple(plain.get(name, ())) for name in ("categories", "threshold")}
    nodes = {
        side: tuple(Node(**{**node, "parts": _parts(node)}) for node in plain.get(side, ()))
        for side in ("above", "below")
    }
    links = tuple(Link(**link) for link in plain.get("links", ()))
    boxes = tuple(_box(box) for box in plain.get("boxes", ()))
    lists |= {"bars": bars, "series": series, "links": links, "boxes": boxes}
    return Figure(**{**plain, **lists, **nodes})


def _box(plain: dict[str, Any]) -> Box:
    exits = tuple(Exit(**{**each, "parts": _parts(each)}) for each in plain["exits"])
    return Box(**{**plain, "parts": _parts(plain), "exits": exits})


def _parts(plain: dict[str, Any]) -> tuple[Part, ...]:
    return tuple(Part(**part) for part in plain["parts"])


def _series(plain: dict[str, Any]) -> Series:
    """A series; those that earlier versions stored have no intervals."""
    ends = (tuple(plain.get(name, ())) for name in ("low", "high"))
    return Series(plain["label"], tuple(plain["values"]), *ends)

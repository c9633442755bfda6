"""Results as packages that are not rewritten yet build and store them.

Tables and figures are those of `data.results`; claims are written out one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from faultatlas.data.results import (
    Bar,
    Box,
    Cell,
    Column,
    ColumnKind,
    Exit,
    Figure,
    FigureKind,
    Link,
    Node,
    Part,
    Series,
)
from faultatlas.data.results import Listing as Table
from faultatlas.data.results import Status as ClaimStatus

__all__ = [
    "STATUSES", "Bar", "Box", "Cell", "Claim", "ClaimStatus", "Column", "ColumnKind", "Exit",
    "Figure", "FigureKind", "Link", "Node", "Part", "Result", "Series", "Table", "old_status",
    "rows_of",
]  # fmt: skip

# The statuses that these packages use, whatever a number was computed from.
STATUSES: tuple[ClaimStatus, ...] = (
    "reproduced", "near", "not reproduced", "inconsistent", "no data",
)  # fmt: skip
_OLD_STATUS: dict[ClaimStatus, ClaimStatus] = {
    "consistent": "reproduced", "does not follow": "not reproduced", "cannot be checked": "no data",
}  # fmt: skip


def old_status(status: ClaimStatus) -> ClaimStatus:
    """The status in the words of these packages, which make no difference between data and text."""
    return _OLD_STATUS.get(status, status)


def rows_of(
    columns: Sequence[Column], records: Iterable[Mapping[str, Any]]
) -> tuple[tuple[Cell, ...], ...]:
    """The rows of a table from dictionaries by column key."""
    return tuple(tuple(record[column.key] for column in columns) for record in records)


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

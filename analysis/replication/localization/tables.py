"""Values beside what the paper prints, as a table."""

from __future__ import annotations

from collections.abc import Iterable

from faultatlas.analysis.replication.claims import unit_of
from faultatlas.analysis.replication.figures import Value
from faultatlas.analysis.replication.outcomes import judged_beside, shown
from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.report import formatting

_COLUMNS = (
    Column("what", "What"),
    Column("printed", "Printed"),
    Column("ours", "Ours"),
    Column("interval", "Interval", "interval"),
    Column("count", "Count", "count"),
    Column("total", "Of", "count"),
    Column("status", "Status", "status"),
)


def beside_table(
    name: str, title: str, values: Iterable[Value], note: str = "", *, folded: bool = False
) -> Table:
    """A row for each value."""
    records = []
    for each in values:
        printed, judged = judged_beside(each)
        records.append(
            {
                "what": each.statement,
                "printed": each.printed or None,
                "ours": shown(each.value, printed),
                "interval": None
                if each.low is None
                else formatting.interval(each.low, each.high, unit_of(each)),
                "count": each.count,
                "total": each.total,
                "status": judged.status or None,
            }
        )
    return Table(name, title, _COLUMNS, rows_of(_COLUMNS, records), note, folded)

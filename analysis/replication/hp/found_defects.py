"""The defects that the study itself found and reported."""

from __future__ import annotations

from collections import Counter

from faultatlas.analysis.replication.figures import Also, Found, Value
from faultatlas.analysis.replication.package import Package
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.data.taxonomy import folded

FILE = "defects.xlsx"
_COLUMNS = ("Description", "Confirmed", "Fixed", "Type", "Framework")


def _sheet(package: Package) -> str:
    return package.sheets(FILE)[0]


def found_confirmed_fixed(package: Package) -> Found:
    """Defects, those that developers confirmed, and those that were fixed."""
    rows = package.records(FILE, _COLUMNS, _sheet(package))
    confirmed = Counter(folded(row["Confirmed"]) for row in rows)
    fixed = Counter(folded(row["Fixed"]) for row in rows)
    told = ", ".join(f"{word} {count}" for word, count in sorted(confirmed.items()))
    total = len(rows)
    return Found(
        (
            Value("unique", total, "defects"),
            Value("confirmed", confirmed["true"], "defects", confirmed["true"], total,
                  rows="lower(cells[2]) = 'true'"),
            Value("fixed", fixed["true"], "defects", fixed["true"], total,
                  rows="lower(cells[3]) = 'true'"),
        ),
        note=f"confirmed: {told}",
    )  # fmt: skip


def by_type(package: Package) -> Also:
    """The defects by what the sheet calls their type, and by framework."""
    if not package.names(FILE):
        return Also()
    rows = package.records(FILE, _COLUMNS, _sheet(package))
    counts = Counter((folded(row["Type"]), folded(row["Framework"])) for row in rows)
    types = sorted({kind for kind, _framework in counts})
    frameworks = sorted({framework for _kind, framework in counts})
    columns = (
        Column("type", "Type in the sheet", "code"),
        *(Column(each, each, "count") for each in frameworks),
        Column("all", "All", "count"),
    )
    table_rows: tuple[tuple[Cell, ...], ...] = tuple(
        (kind, *(counts[kind, each] for each in frameworks),
         sum(counts[kind, each] for each in frameworks))
        for kind in types
    )  # fmt: skip
    note = "The sheet names neither the tool nor the report of a defect: no tool by type."
    return Also(
        tables=(
            Table("found-defects", "Found defects by type", columns, table_rows, note, folded=True),
        )
    )

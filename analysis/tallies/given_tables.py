"""Tables that a user gives: counts on the command line, a printed table as a file.

What is read goes into the parameters of the result, so that it can be computed again without
the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import plain

MOST_CELLS = 10_000
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_COUNT = re.compile(r"(?:(?P<name>.+)=)?(?P<part>\d{1,15})/(?P<whole>\d{1,15})")


def counts_table(texts: Sequence[str]) -> dict[str, Any]:
    """`154/385` or `deep=154/385`, one for each group: the event and the rest."""
    rows, counts = [], []
    for at, text in enumerate(texts, 1):
        found = _COUNT.fullmatch(text.strip())
        if not found or int(found["part"]) > int(found["whole"]):
            raise StudyError(
                f"{plain(text)!r} is no count of a group",
                "Write the part and the whole of each group: --counts 154/385 41/385, or with "
                "names: --counts deep=154/385 others=41/385.",
            )
        rows.append(found["name"] or f"group {at}")
        counts.append([int(found["part"]), int(found["whole"]) - int(found["part"])])
    if len(rows) < 2:
        raise StudyError("one group has nothing to be compared with", "Give two counts or more.")
    _refuse_twice("group", rows)
    return {"name": "counts", "rows": rows, "columns": ["yes", "no"], "counts": counts}


def file_table(path: Path) -> dict[str, Any]:
    """A table of counts: names in the first column and the first row."""
    from faultatlas.data.sheets import read_sheet

    grid = read_sheet(path)
    name, *columns = grid.columns
    if len(columns) < 2 or len(grid.rows) < 2:
        raise StudyError(
            f"{path} has no two rows and two columns of counts",
            "The first row and the first column are names, the other cells counts.",
        )
    if len(columns) * len(grid.rows) > MOST_CELLS:
        raise StudyError(f"{path} is too large for a table of counts", "Group rows or columns.")
    rows = [grid.cell(row, name) for row in grid.rows]
    _refuse_twice("row", rows)
    counts = [
        [_whole(path, row.number, grid.cell(row, each)) for each in columns] for row in grid.rows
    ]
    return {"name": path.name, "rows": rows, "columns": columns, "counts": counts}


def without_thousands(text: str) -> str:
    """`12,345.6` as `12345.6`; another comma stays, as `0,5` is no 5."""
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _whole(path: Path, line: int, cell: str) -> int:
    text = without_thousands(cell.strip())
    if not re.fullmatch(r"\d{1,15}(?:\.0+)?", text or "0"):
        raise StudyError(f"{path}:{line}: {plain(cell)!r} is no count", "Counts are whole numbers.")
    return int(float(text or 0))


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise StudyError(f"the {what} {plain(twice[0])!r} stands twice", "Give each its own name.")

"""Spreadsheets that come with a set: which bug shows which symptom, and where it was reported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.importing.texts import line

_LARGEST = 4 << 20
_MOST_ROWS = 5_000
_COLUMNS = {
    "url": re.compile(r"\burls?\b|link|patch|post", re.IGNORECASE),
    "cause": re.compile(r"cause|fault|type", re.IGNORECASE),
    "symptom": re.compile(r"symptom|effect|impact", re.IGNORECASE),
}


@dataclass(frozen=True)
class Row:
    """What a row says; `number` counts the rows of the same sheet and cause, from 1."""

    sheet: str
    url: str
    cause: str
    symptom: str
    number: int


def rows(path: Path) -> list[Row]:
    """The rows of a workbook whose columns have names that are known; [] where none have."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
        return []
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True)
        return [row for sheet in book.worksheets for row in _of_sheet(sheet)]
    except Exception:  # noqa: BLE001  (a damaged file raises anything; a set can do without)
        return []


def _of_sheet(sheet: Any) -> list[Row]:
    columns: dict[str, int] = {}
    found: list[Row] = []
    counts: dict[str, int] = {}
    for number, values in enumerate(sheet.iter_rows(values_only=True)):
        if number > _MOST_ROWS:
            break
        cells = [line(str(value), 500) if value is not None else "" for value in values]
        if not columns:
            columns = {
                key: index
                for key, pattern in _COLUMNS.items()
                for index, cell in reversed(list(enumerate(cells)))
                if pattern.search(cell)
            }
            continue
        said = {key: cells[index] for key, index in columns.items() if index < len(cells)}
        if not said.get("url"):
            continue
        cause = re.sub(r"^[A-Z]\.\s*", "", said.get("cause", ""))
        counts[cause] = counts.get(cause, 0) + 1
        symptom = said.get("symptom", "")
        found.append(Row(sheet.title, said["url"], cause, symptom, counts[cause]))
    return found

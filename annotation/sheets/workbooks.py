"""XLSX workbooks as grids. They are strangers' files: sizes are limited, entities refused."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from annotation.sheets.cells import original, text_of
from annotation.sheets.grids import Grid, Row
from data.errors import StudyError
from data.taxonomy import folded

SUFFIXES = (".xlsx", ".xlsm")
OTHER_SUFFIXES = (".xls", ".xlsb", ".ods", ".numbers")
MOST_BYTES = 512 * 1024 * 1024  # unpacked
MOST_COLUMNS = 2000
# What openpyxl, zipfile and the XML parser raise for files that are no workbooks.
_BROKEN = (
    zipfile.BadZipFile, KeyError, ValueError, TypeError, SyntaxError, EOFError, AttributeError,
    IndexError, NotImplementedError, RuntimeError,
)  # fmt: skip


def read_workbook(path: Path, *, sheet: str = "") -> Grid:
    """One sheet of a workbook: the one that is named, or the first."""
    _check_size(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells what it does not show; we show cells
            return _read(path, sheet)
    except StudyError:
        raise
    except _BROKEN as error:
        raise StudyError(
            f"{path} is no XLSX workbook that can be read: {type(error).__name__}",
            "Open it in a spreadsheet program and save it as .xlsx without a password, or as CSV.",
        ) from error


def _check_size(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile:
        return  # said later
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    if unpacked > MOST_BYTES:
        raise StudyError(
            f"{path} is larger than {MOST_BYTES // 1024**2} MB when it is unpacked",
            "Save the sheet as CSV.",
        )


def _read(path: Path, wanted: str) -> Grid:
    from openpyxl import load_workbook

    with closing(load_workbook(path, read_only=True, data_only=True)) as book:
        titles = [each.title for each in book.worksheets]
        title = _chosen(path, titles, wanted)
        names, values = _table(path, book[title])
    with closing(load_workbook(path, read_only=True)) as book:
        _names, formulas = _table(path, book[title])
    nothing = (None,) * len(names)
    uncomputed = frozenset(
        (number, name)
        for number, row in formulas.items()
        for name, formula, value in zip(names, row, values.get(number, nothing), strict=True)
        if value is None and formula is not None and name
    )
    rows = []
    for number in formulas:
        cells = values.get(number, nothing)
        named = {
            name: original(text_of(value)) for name, value in zip(names, cells, strict=True) if name
        }
        waits = not uncomputed.isdisjoint((number, name) for name in named)
        if waits or any(cell.strip() for cell in named.values()):
            rows.append(Row(number, named))
    if not rows:
        raise StudyError(
            f"{path} has no rows below the header of its sheet {title!r}",
            f"Its sheets: {', '.join(titles)}. Choose one: --sheet NAME.",
        )
    others = tuple(each for each in titles if each != title)
    return Grid(path, tuple(filter(None, names)), tuple(rows), title, others, uncomputed)


def _chosen(path: Path, titles: Sequence[str], wanted: str) -> str:
    fits = [title for title in titles if title == wanted] or [
        title for title in titles if folded(title) == folded(wanted)
    ]
    if wanted and len(fits) != 1:
        raise StudyError(
            f"{path} has no sheet {wanted!r}", f"Its sheets: {', '.join(titles) or 'none'}."
        )
    if not titles:
        raise StudyError(f"{path} has no sheet", "Check the file.")
    return fits[0] if wanted else titles[0]


def _table(path: Path, sheet: Any) -> tuple[list[str], dict[int, tuple[Any, ...]]]:
    """The names of the columns, and the rows below them, as wide as the names."""
    # What a file says of its size is often wrong: a sheet of 29 rows claims 1,000.
    sheet.reset_dimensions()
    header: Iterable[Any] = next(sheet.iter_rows(max_row=1, values_only=True), ())
    names = [original(text_of(value)) for value in header]
    names = [name if name.strip() else "" for name in names]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise StudyError(f"{path}:1: the first row names no columns", "It must be the header.")
    if len(names) > MOST_COLUMNS:
        raise StudyError(f"{path} has more than {MOST_COLUMNS:,} columns", "Save what you need.")
    rows = sheet.iter_rows(min_row=2, max_col=len(names), values_only=True)
    return names, {
        number: cells
        for number, cells in enumerate(rows, start=2)
        if any(value is not None for value in cells)
    }

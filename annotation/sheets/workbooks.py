"""XLSX workbooks as grids. They are strangers' files: see `workbook_limits`."""

from __future__ import annotations

import lzma
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faultatlas.annotation.sheets import workbook_limits
from faultatlas.annotation.sheets.cells import original, text_of
from faultatlas.annotation.sheets.grids import Grid, Row
from faultatlas.annotation.sheets.workbook_limits import check_workbook, too_many_cells
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded

SUFFIXES = (".xlsx", ".xlsm")
OTHER_SUFFIXES = (".xls", ".xlsb", ".ods", ".numbers")
MOST_COLUMNS = 2000
# What openpyxl, zipfile and the XML parser raise for files that are no workbooks.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, KeyError, ValueError, TypeError,
    SyntaxError, EOFError, AttributeError, IndexError, ArithmeticError, NotImplementedError,
    RuntimeError, AssertionError, OSError,
)  # fmt: skip


def read_workbook(path: Path, *, sheet: str = "") -> Grid:
    """One sheet of a workbook: the one that is named, or the first that is not hidden."""
    with _opening(path):
        return _read(path, sheet)


def workbook_rows(path: Path) -> dict[str, list[list[str | None]]]:
    """All sheets of a workbook as they are, hidden ones too: rows of text, None for empty cells."""
    with _opening(path):
        from openpyxl import load_workbook

        with closing(load_workbook(path, read_only=True, data_only=True)) as book:
            return {sheet.title: _texts(path, sheet) for sheet in book.worksheets}


def _texts(path: Path, sheet: Any) -> list[list[str | None]]:
    found: list[list[str | None]] = []
    kept = 0
    for _number, cells in _rows(sheet):
        texts = [None if cell.value is None else text_of(cell.value) for cell in cells]
        while texts and texts[-1] is None:
            texts.pop()
        kept += len(texts)
        if kept > workbook_limits.MOST_CELLS:
            raise too_many_cells(path)
        found.append(texts)
    while found and not found[-1]:
        found.pop()
    return found


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """A workbook that was looked through first; what is none is said in one way."""
    try:
        check_workbook(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells what it does not show; we show cells
            yield
    except StudyError:
        raise
    except _BROKEN as error:
        raise StudyError(
            f"{path} is no XLSX workbook that can be read: {type(error).__name__}",
            "Open it in a spreadsheet program and save it as .xlsx without a password, or as CSV.",
        ) from error


@dataclass
class _Sheet:
    """What was found in a sheet; empty cells are not kept."""

    names: list[str]
    texts: dict[int, dict[str, str]] = field(default_factory=dict)
    empty: set[tuple[int, str]] = field(default_factory=set)  # computed, and to nothing
    numbers: set[tuple[int, str]] = field(default_factory=set)
    outside: list[int] = field(default_factory=list)


def _read(path: Path, wanted: str) -> Grid:
    from openpyxl import load_workbook

    with closing(load_workbook(path, read_only=True, data_only=True)) as book:
        titles = {each.title: each.sheet_state == "visible" for each in book.worksheets}
        title = _chosen(path, titles, wanted)
        found = _values(path, book[title])
    with closing(load_workbook(path, read_only=True)) as book:
        uncomputed = frozenset(_uncomputed(book[title], found))
    waiting = {number for number, _name in uncomputed}
    texts = {
        number: cells
        for number, cells in found.texts.items()
        if any(cell.strip() for cell in cells.values())
    }
    rows = tuple(Row(number, texts.get(number, {})) for number in sorted({*texts, *waiting}))
    if not rows:
        raise StudyError(
            f"{path} has no rows below the header of its sheet {title!r}",
            f"Its sheets: {', '.join(titles)}. Choose one: --sheet NAME.",
        )
    others = tuple(
        repr(each) if is_visible else f"{each!r} (hidden)"
        for each, is_visible in titles.items()
        if each != title
    )
    return Grid(
        path, tuple(filter(None, found.names)), rows, title, others, uncomputed,
        frozenset(found.numbers), tuple(found.outside),
    )  # fmt: skip


def _chosen(path: Path, titles: dict[str, bool], wanted: str) -> str:
    """The title that is wanted; of `titles` with whether they are visible, the first that is."""
    if not titles:
        raise StudyError(f"{path} has no sheet", "Check the file.")
    if not wanted:
        visible = [title for title, is_visible in titles.items() if is_visible]
        return next(iter([*visible, *titles]))
    fits = [title for title in titles if title == wanted] or [
        title for title in titles if folded(title) == folded(wanted)
    ]
    if len(fits) != 1:
        raise StudyError(f"{path} has no sheet {wanted!r}", f"Its sheets: {', '.join(titles)}.")
    return fits[0]


def _rows(sheet: Any) -> Iterator[tuple[int, Sequence[Any]]]:
    # What a file says of its size is often wrong: a sheet of 29 rows claims 1,000.
    sheet.reset_dimensions()
    yield from enumerate(sheet.iter_rows(), start=1)


def _values(path: Path, sheet: Any) -> _Sheet:
    rows = _rows(sheet)
    found = _Sheet(_header(path, next(rows, (1, ()))[1]))
    names = found.names
    padded = 0
    for number, cells in rows:
        padded += len(cells) and len(names)
        if padded > workbook_limits.MOST_CELLS:
            raise too_many_cells(path)
        texts = {}
        for name, cell in zip(names, cells, strict=False):
            if not name:
                continue
            if cell.value is not None:
                texts[name] = original(text_of(cell.value))
                if cell.data_type == "n":
                    found.numbers.add((number, name))
            elif cell.data_type == "str":  # a formula's text, of no letters
                found.empty.add((number, name))
        if texts:
            found.texts[number] = texts
        if any(text_of(cell.value).strip() for cell in cells[len(names) :]):
            found.outside.append(number)
    return found


def _uncomputed(sheet: Any, found: _Sheet) -> Iterator[tuple[int, str]]:
    """Formulas whose value no program has put beside them."""
    for number, cells in _rows(sheet):
        there = found.texts.get(number, {})
        for name, cell in zip(found.names, cells, strict=False):
            place = (number, name)
            is_formula = name and number > 1 and cell.data_type == "f"
            if is_formula and name not in there and place not in found.empty:
                yield place


def _header(path: Path, cells: Sequence[Any]) -> list[str]:
    names = [original(text_of(cell.value)) for cell in cells]
    names = [name if name.strip() else "" for name in names]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise StudyError(f"{path}:1: the first row names no columns", "It must be the header.")
    if len(names) > MOST_COLUMNS:
        raise StudyError(f"{path} has more than {MOST_COLUMNS:,} columns", "Save what you need.")
    return names

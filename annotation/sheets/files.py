"""Finds out what kind of file a sheet is in."""

from __future__ import annotations

from pathlib import Path

from faultatlas.annotation.sheets.csv_files import read_csv
from faultatlas.annotation.sheets.grids import Grid
from faultatlas.annotation.sheets.workbooks import OTHER_SUFFIXES, SUFFIXES, read_workbook
from faultatlas.data.errors import StudyError


def read_grid(path: Path, *, sheet: str = "", encoding: str = "", delimiter: str = "") -> Grid:
    """The sheet in a file, by the end of the file's name: .xlsx, or else CSV."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return read_workbook(path, sheet=sheet)
    if suffix in OTHER_SUFFIXES:
        raise StudyError(
            f"{path}: {suffix} is not read here",
            "Open it in a spreadsheet program and save it as .xlsx or as CSV in UTF-8.",
        )
    if sheet:
        raise StudyError(f"{path} is a CSV file and has no sheet {sheet!r}", "Leave --sheet out.")
    return read_csv(path, encoding=encoding, delimiter=delimiter)

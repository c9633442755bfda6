"""CSV files as grids: UTF-8 unless said otherwise; what separates the columns is found out."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path

from faultatlas.annotation.sheets.cells import original
from faultatlas.annotation.sheets.grids import Grid, Row
from faultatlas.data.errors import StudyError

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MOST_BYTES = 256 * 1024 * 1024
_LONGEST_CELL = 16 * 1024 * 1024
_AS_CSV = "Save it as CSV in UTF-8, or name its encoding: --encoding cp1252, or utf-16."


def read_csv(path: Path, *, encoding: str = "", delimiter: str = "") -> Grid:
    """The sheet of a CSV file."""
    text = _text(path, encoding)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=_delimiter(text, delimiter), strict=True
    )
    rows: list[Row] = []
    start = 1
    try:
        names = [original(name) for name in next(reader, [])]
        start = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells[len(names) :]):
                raise StudyError(
                    f"{path}:{reader.line_num}: has {len(cells)} cells; "
                    f"the header has {len(names)} columns",
                    "Put text that holds the separator into quotes.",
                )
            named = {
                name: original(cell)
                for name, cell in zip(names, cells, strict=False)
                if name.strip()
            }
            if any(cell.strip() for cell in named.values()):
                rows.append(Row(reader.line_num, named))
            start = reader.line_num + 1
    except csv.Error as error:
        # Where the row starts: an open quote runs to the file's end.
        raise StudyError(f"{path}:{start}: is no CSV: {error}", _AS_CSV) from error
    if names and not rows:
        raise StudyError(f"{path} has no rows below its header", "Check the file.")
    return Grid(path, tuple(name for name in names if name.strip()), tuple(rows))


def csv_records(path: Path, *, encoding: str = "") -> Iterator[list[str]]:
    """The records of a CSV file as they are, the header among them; short and long ones, too."""
    text = _text(path, encoding)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, ""), strict=True)
    start = 1
    try:
        for record in reader:
            start = reader.line_num + 1
            yield record
    except csv.Error as error:
        raise StudyError(f"{path}:{start}: is no CSV: {error}", _AS_CSV) from error


def _text(path: Path, encoding: str) -> str:
    try:
        size = path.stat().st_size
        content = b"" if size > MOST_BYTES else path.read_bytes()
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    if size > MOST_BYTES:
        raise StudyError(
            f"{path} is larger than {MOST_BYTES // 1024**2} MB", "Split it into several files."
        )
    try:
        codec = codecs.lookup(encoding or "utf-8-sig")
        return content.decode("utf-8-sig" if codec.name == "utf-8" else codec.name)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise StudyError(f"{path}:{line}: is not {encoding or 'UTF-8'}", _next_step(content)) from (
            error
        )
    except (LookupError, UnicodeError) as error:
        raise StudyError(
            f"{path} cannot be read as {encoding!r}", "Encodings: utf-8, utf-16, cp1252, gb18030."
        ) from error


def _next_step(content: bytes) -> str:
    if content.startswith(b"PK"):
        return "It is a workbook: give it a name that ends with .xlsx."
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "Save it as CSV in UTF-8, or name its encoding: --encoding utf-16."
    return _AS_CSV


def _delimiter(text: str, wanted: str) -> str:
    if wanted:
        found = DELIMITERS.get(wanted, wanted)
        if len(found) != 1 or found in '"\r\n':
            raise StudyError(
                f"{wanted!r} cannot separate columns",
                f"Give one character, or a word: {', '.join(DELIMITERS)}.",
            )
        return found
    return max(DELIMITERS.values(), key=lambda each: (_width(text, each), each == ","))


def _width(text: str, delimiter: str) -> int:
    """Columns of the header, if that separated them."""
    try:
        return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), []))
    except csv.Error:
        return 0

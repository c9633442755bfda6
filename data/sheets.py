"""Sheets that people send and open: CSV and XLSX files as text, and CSV that no program executes.

A file may cost more than its size suggests: a row may claim to be the ten-thousand-millionth, a few
bytes of XML may expand to gigabytes. So a workbook is first measured by a parser that builds
nothing, and only as many columns are read as the header names.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import lzma
import re
import struct
import warnings
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded

WORKBOOKS = (".xlsx", ".xlsm")
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MOST_BYTES = 256 * 2**20  # of a CSV file
MOST_UNPACKED = 256 * 2**20  # bytes of all parts of a workbook
MOST_CELLS = 2_000_000  # of a sheet; and strings or elements of another part of a workbook
MOST_COLUMNS = 2_000
MOST_ROWS = 1_048_576  # of a sheet, in every spreadsheet program

_OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods", ".numbers")
_LONGEST_CELL = 16 * 2**20
_MOST_IN_ROW = 250_000  # elements; openpyxl builds a whole row at once
_PIECE = 2**20
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
_AS_CSV = "Save it as CSV in UTF-8, or name its encoding: --encoding cp1252, or utf-16."
# What openpyxl, zipfile and the XML parser raise for files that are not workbooks.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, KeyError, ValueError, TypeError,
    SyntaxError, EOFError, AttributeError, IndexError, ArithmeticError, NotImplementedError,
    RuntimeError, AssertionError, OSError,
)  # fmt: skip


# --- a sheet -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is not empty: its number in the file, and the text below each column."""

    number: int
    cells: Mapping[str, str]
    numbers: frozenset[str] = frozenset()  # columns with a number, where 1.10 is kept as 1.1
    uncomputed: frozenset[str] = frozenset()  # columns with a formula whose value is not stored


@dataclass(frozen=True)
class Sheet:
    """A table of text. Its first row names the columns; columns without a name are not read."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    name: str = ""  # of the sheet, in a workbook
    others: tuple[str, ...] = ()  # sheets of the workbook that were not read, for messages
    outside: tuple[int, ...] = ()  # numbers of rows with cells beyond the columns of the header

    def column(self, wanted: str) -> str:
        """The column of that name: as written, or ignoring case and blanks, or by a pattern."""
        return self.require([wanted])[0]

    def require(self, names: Sequence[str]) -> list[str]:
        """The columns of these names; those that are missing are reported together."""
        columns = [self._find(name) for name in names]
        if missing := [name for name, column in zip(names, columns, strict=True) if not column]:
            raise StudyError(
                f"{self.path}:1: there is no column {', '.join(map(repr, missing))}",
                f"Its columns: {', '.join(self.columns) or 'none'}.",
            )
        return columns

    def _find(self, wanted: str) -> str:
        """The column that is meant, or an empty text."""
        rules: tuple[Callable[[str], bool], ...] = (
            lambda column: column == wanted,
            lambda column: folded(column) == folded(wanted),
            lambda column: fnmatchcase(folded(column), folded(wanted)),
        )
        for is_meant in rules:
            matches = list(filter(is_meant, self.columns))
            if len(matches) > len(set(matches)) == 1:
                problem = f"two columns are called {matches[0]!r}"
                raise StudyError(f"{self.path}:1: {problem}", "Rename one of them.")
            if len(matches) > 1:
                problem = f"{wanted!r} may be {' or '.join(map(repr, matches))}"
                raise StudyError(f"{self.path}:1: {problem}", "Write the column as the sheet does.")
            if matches:
                return matches[0]
        return ""

    def matching(self, pattern: str) -> list[str]:
        """The columns that a pattern such as `volunteer_*` means, in their order."""
        matches = [
            column
            for column in self.columns
            if fnmatchcase(column, pattern) or folded(column) == folded(pattern)
        ] or [column for column in self.columns if fnmatchcase(folded(column), folded(pattern))]
        for column in matches:
            self.column(column)  # no two columns have that name
        return matches

    def cell(self, row: Row, column: str) -> str:
        """The text of a cell; a formula without a stored value is refused."""
        if column in row.uncomputed:
            raise StudyError(f"the formula in {column!r} has no value")
        return row.cells.get(column, "")

    def code_cell(self, row: Row, column: str, codes: Iterable[str]) -> str:
        """The text of a cell with one of these codes, or several.

        A number that may be two codes is refused: what was typed as 1.10 is stored as 1.1.
        """
        text = self.cell(row, column)
        if column in row.numbers:
            alike = sorted(code for code in codes if _number_of(code) == float(text))
            if len(alike) > 1:
                raise StudyError(
                    f"the cell holds the number {text}, which may be {' or '.join(alike)}: format "
                    "the column as text, and type the code"
                )
        return text

    def place(self, row: Row) -> str:
        """The file and the number of a row, for messages."""
        return f"{self.path.name} row {row.number}"


class RawRow(NamedTuple):
    """A row as it is in a file: no header, None for empty cells."""

    sheet: str  # of a workbook
    number: int
    cells: list[str | None]


@lru_cache(maxsize=4096)  # there are few codes and many cells
def _number_of(code: str) -> float | None:
    return float(code) if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", code) else None


# --- reading -----------------------------------------------------------------------------


def read_sheet(path: Path, *, sheet: str = "", encoding: str = "", delimiter: str = "") -> Sheet:
    """The sheet in a file: of a workbook the named one or the first visible one, else CSV."""
    suffix = path.suffix.lower()
    if suffix in WORKBOOKS:
        return _read_workbook(path, sheet)
    if suffix in _OTHER_WORKBOOKS:
        raise StudyError(
            f"{path}: faultatlas does not read {suffix} files",
            "Open it in a spreadsheet program and save it as .xlsx or as CSV in UTF-8.",
        )
    if sheet:
        raise StudyError(f"{path} is a CSV file and has no sheet {sheet!r}", "Omit --sheet.")
    return _read_csv(path, encoding, delimiter)


def raw_rows(path: Path, *, encoding: str = "") -> list[RawRow]:
    """The rows of a file that are not empty, of a workbook those of all its sheets."""
    if path.suffix.lower() not in WORKBOOKS:
        records = enumerate(csv_records(path, encoding=encoding), start=1)
        return [
            RawRow("", number, [cell or None for cell in record])
            for number, record in records
            if any(record)
        ]
    rows = []
    with _measured(path), closing(_opened(path)) as book:
        for sheet in book.worksheets:
            size = 0
            sheet.reset_dimensions()  # what a file states is often wrong
            for number, cells in enumerate(sheet.iter_rows(), start=1):
                texts = [None if cell.value is None else text_of(cell.value) for cell in cells]
                while texts and texts[-1] is None:
                    texts.pop()
                size += len(texts)
                if size > MOST_CELLS:
                    raise _too_many_cells(path)
                if texts:
                    rows.append(RawRow(sheet.title, number, texts))
    return rows


# CSV


def csv_records(path: Path, *, encoding: str = "", delimiter: str = "") -> Iterator[list[str]]:
    """The records of a CSV file as they are, the header included; lengths may differ."""
    return (record for _line, record in _records(path, encoding, delimiter))


def _read_csv(path: Path, encoding: str, delimiter: str) -> Sheet:
    records = _records(path, encoding, delimiter)
    names = [original(name) for name in next(records, (0, []))[1]]
    rows, size = [], 0
    for line, cells in records:
        if any(cell.strip() for cell in cells[len(names) :]):
            raise StudyError(
                f"{path}:{line}: has {len(cells)} cells; the header has {len(names)} columns",
                "Put text that contains the separator into quotes.",
            )
        named = zip(names, cells, strict=False)
        texts = {name: original(cell) for name, cell in named if cell and name.strip()}
        size += len(texts)
        if size > MOST_CELLS:
            raise StudyError(
                f"{path} has more than {MOST_CELLS:,} cells", "Split it into several files."
            )
        if any(map(str.strip, texts.values())):
            rows.append(Row(line, texts))
    if names and not rows:
        raise StudyError(f"{path} has no rows below its header", "Check the file.")
    return Sheet(path, tuple(name for name in names if name.strip()), tuple(rows))


def _records(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Records with the line that each ends on."""
    codec = _codec(path, encoding)
    csv.field_size_limit(_LONGEST_CELL)
    start = 1
    try:
        separator = _separator(path, codec, delimiter)
        with path.open(encoding=codec, newline="") as file:
            reader = csv.reader(file, delimiter=separator, strict=True)
            for record in reader:
                yield reader.line_num, record
                start = reader.line_num + 1
    except csv.Error as error:
        # The line on which the record starts: an open quote extends to the end of the file.
        raise StudyError(f"{path}:{start}: is not valid CSV: {error}", _AS_CSV) from error
    except UnicodeDecodeError as error:
        raise _undecodable(path, codec, encoding) from error
    except (LookupError, UnicodeError) as error:
        raise _unknown_encoding(path, encoding) from error


def _codec(path: Path, encoding: str) -> str:
    """The codec of a CSV file that is not too large."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            beginning = file.read(2)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    if size > MOST_BYTES:
        raise StudyError(
            f"{path} is larger than {MOST_BYTES // 2**20} MB", "Split it into several files."
        )
    try:
        name = codecs.lookup(encoding or "utf-8").name
    except LookupError as error:
        raise _unknown_encoding(path, encoding) from error
    if name == "utf-16" and beginning not in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return "utf-16-le"
    return "utf-8-sig" if name == "utf-8" else name


def _separator(path: Path, codec: str, wanted: str) -> str:
    """The separator that was asked for, or the one that gives the header the most columns."""
    if wanted:
        separator = DELIMITERS.get(wanted, wanted)
        if len(separator) != 1 or separator in '"\r\n':
            raise StudyError(
                f"{wanted!r} cannot separate columns",
                f"Give one character, or a word: {', '.join(DELIMITERS)}.",
            )
        return separator

    def width(separator: str) -> int:
        with path.open(encoding=codec, newline="") as file:
            try:
                return len(next(csv.reader(file, delimiter=separator), []))
            except csv.Error:
                return 0

    return max(DELIMITERS.values(), key=lambda separator: (width(separator), separator == ","))


def _undecodable(path: Path, codec: str, encoding: str) -> StudyError:
    content = path.read_bytes()
    line = 1
    try:
        content.decode(codec)
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
    hint = _AS_CSV
    if content.startswith(b"PK"):
        hint = "It is a workbook: give it a name that ends with .xlsx."
    elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        hint = "Save it as CSV in UTF-8, or name its encoding: --encoding utf-16."
    return StudyError(f"{path}:{line}: is not {encoding or 'UTF-8'}", hint)


def _unknown_encoding(path: Path, encoding: str) -> StudyError:
    return StudyError(
        f"{path} cannot be read as {encoding!r}", "Encodings: utf-8, utf-16, cp1252, gb18030."
    )


# XLSX


def _read_workbook(path: Path, wanted: str) -> Sheet:
    with _measured(path) as parts, closing(_opened(path)) as book:
        titles = {sheet.title: sheet.sheet_state == "visible" for sheet in book.worksheets}
        title = _chosen(path, titles, wanted)
        # Which part holds the sheet; openpyxl has no public name for it.
        part = parts[book[title]._worksheet_path]  # noqa: SLF001
        names = _header(path, book[title])
        if part.has_formulas:
            with closing(_opened(path, values=False)) as formulas:
                rows = tuple(_rows(path, names, book[title], formulas[title]))
        else:
            rows = tuple(_rows(path, names, book[title]))
    if not rows:
        raise StudyError(
            f"{path} has no rows below the header of its sheet {title!r}",
            f"Its sheets: {', '.join(titles)}. Choose one: --sheet NAME.",
        )
    others = tuple(
        repr(other) if is_visible else f"{other!r} (hidden)"
        for other, is_visible in titles.items()
        if other != title
    )
    outside = tuple(part.rows_beyond(len(names)))
    return Sheet(path, tuple(filter(None, names)), rows, title, others, outside)


def _opened(path: Path, *, values: bool = True) -> Any:
    from openpyxl import load_workbook

    return load_workbook(path, read_only=True, data_only=values, keep_links=False)


def _chosen(path: Path, titles: Mapping[str, bool], wanted: str) -> str:
    """The wanted sheet, or the first visible one; `titles` says which are visible."""
    if not titles:
        raise StudyError(f"{path} has no sheet", "Check the file.")
    if not wanted:
        visible = [title for title, is_visible in titles.items() if is_visible]
        return next(iter([*visible, *titles]))
    matches = [title for title in titles if title == wanted] or [
        title for title in titles if folded(title) == folded(wanted)
    ]
    if len(matches) != 1:
        raise StudyError(f"{path} has no sheet {wanted!r}", f"Its sheets: {', '.join(titles)}.")
    return matches[0]


def _header(path: Path, sheet: Any) -> list[str]:
    """The names of the columns up to the last one with a name; empty for those without."""
    sheet.reset_dimensions()  # a sheet of 29 rows may state 1,000
    cells = next(sheet.iter_rows(max_row=1), ())
    names = [original(text_of(cell.value)) for cell in cells]
    names = [name if name.strip() else "" for name in names]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise StudyError(f"{path}:1: the first row names no columns", "It must be the header.")
    if len(names) > MOST_COLUMNS:
        raise StudyError(
            f"{path} has more than {MOST_COLUMNS:,} columns", "Keep the columns that you need."
        )
    return names


def _rows(path: Path, names: Sequence[str], sheet: Any, formulas: Any = None) -> Iterator[Row]:
    """The rows below the header, from the values of a sheet and, if it has any, its formulas."""
    columns = {"min_row": 2, "max_col": len(names)}
    beside: Iterable[Any] = repeat(())
    if formulas is not None:
        formulas.reset_dimensions()
        beside = formulas.iter_rows(**columns)
    pairs = zip(sheet.iter_rows(**columns), beside, strict=False)
    blank, size = None, 0
    for number, (cells, written) in enumerate(pairs, start=2):
        if cells is blank:  # openpyxl gives one and the same tuple for all missing rows
            continue
        size += len(names)
        if size > MOST_CELLS:
            raise _too_many_cells(path)
        row = _row(number, names, cells, written)
        if row.uncomputed or any(map(str.strip, row.cells.values())):
            yield row
        elif not row.cells:
            blank = cells


def _row(number: int, names: Sequence[str], cells: Sequence[Any], written: Sequence[Any]) -> Row:
    texts, numbers, uncomputed = {}, [], []
    for place, (name, cell) in enumerate(zip(names, cells, strict=False)):
        if not name:
            continue
        if cell.value is not None:
            texts[name] = original(text_of(cell.value))
            if cell.data_type == "n":
                numbers.append(name)
        # A formula that gives an empty text has the type "str" and no value.
        elif written and written[place].data_type == "f" and cell.data_type != "str":
            uncomputed.append(name)
    return Row(number, texts, _shared(tuple(numbers)), _shared(tuple(uncomputed)))


@lru_cache(maxsize=1024)  # most rows of a sheet have numbers in the same columns
def _shared(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


# --- what a workbook costs ---------------------------------------------------------------


@contextmanager
def _measured(path: Path) -> Iterator[dict[str, _Part]]:
    """The parts of a workbook that is not too large; whatever is wrong with it is one message."""
    try:
        parts = _measure(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl reports what it does not show
            yield parts
    except StudyError:
        raise
    except _BROKEN as error:
        raise StudyError(
            f"{path} is not an XLSX workbook that can be read ({type(error).__name__})",
            "Open it in a spreadsheet program and save it as .xlsx without a password, or as CSV.",
        ) from error


def _measure(path: Path) -> dict[str, _Part]:
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    with archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > MOST_UNPACKED:
            raise StudyError(
                f"{path} is larger than {MOST_UNPACKED // 2**20} MB when it is unpacked",
                "Save the sheet as CSV.",
            )
        parts = {}
        for member in members:
            parts[member.filename] = part = _Part(path)
            with archive.open(member) as file:
                part.read(file)
    return parts


class _Part:
    """What one part of a workbook would cost: refused as soon as that is too much."""

    def __init__(self, path: Path) -> None:
        self.has_formulas = False
        self._path = path
        self._counted = ""  # the element that is counted; empty for all
        self._count = 0
        self._row, self._in_row, self._cells = 0, 0, 0
        self._cell = ""
        self._in_value = False
        self._last_column = 0
        self._numbers, self._last_columns = array("L"), array("L")
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._root

    def rows_beyond(self, width: int) -> Iterator[int]:
        """The numbers of rows below the header with a value in a column beyond the first ones."""
        for number, column in zip(self._numbers, self._last_columns, strict=True):
            if column > width and number > 1:
                yield number

    def read(self, file: Any) -> None:
        piece = file.read(_PIECE)
        if not piece[:64].lstrip(_BEFORE_XML).startswith(b"<"):
            return  # a picture
        try:
            while piece:
                self._parser.Parse(piece, False)
                piece = file.read(_PIECE)
            self._parser.Parse(b"", True)  # the parser holds back elements that are not complete
        except expat.ExpatError:
            return  # drawings of old programs are not XML; a broken sheet is reported later

    def _doctype(self, *_about: object) -> None:
        raise StudyError(
            f"{self._path} is not an XLSX workbook that can be read: its XML has a document type, "
            "which no spreadsheet program writes",
            "Do not trust the file. Ask for the sheet as CSV.",
        )

    def _root(self, name: str, _attributes: Mapping[str, str]) -> None:
        kind = name.rpartition(":")[2]
        self._parser.StartElementHandler = self._element
        if kind == "worksheet":
            self._parser.StartElementHandler = self._sheet_element
            self._parser.EndElementHandler = self._sheet_end
            self._parser.CharacterDataHandler = self._text
        elif kind == "sst":  # the strings of all sheets
            self._counted = "si"

    def _element(self, name: str, _attributes: Mapping[str, str]) -> None:
        if self._counted in {"", name.rpartition(":")[2]}:
            self._count += 1
            if self._count > MOST_CELLS:
                raise _too_many_cells(self._path)

    def _sheet_element(self, name: str, attributes: Mapping[str, str]) -> None:
        kind = name.rpartition(":")[2]
        self._in_row += 1
        if kind == "row":
            self._begin_row(attributes.get("r", ""))
        elif kind == "c":
            self._count += 1
            self._cells += 1
            self._cell = attributes.get("r", "")
        elif kind in {"v", "t"}:
            self._in_value = True
        elif kind == "f":
            self.has_formulas = True
        if self._count > MOST_CELLS or self._in_row > _MOST_IN_ROW:
            raise _too_many_cells(self._path)

    def _begin_row(self, number: str) -> None:
        try:
            value = float(number) if number else self._row + 1
            is_possible = 1 <= value <= MOST_ROWS
        except ValueError:
            is_possible = False
        if not is_possible:
            raise StudyError(
                f"{self._path} has a row {number[:20]}: a sheet has at most {MOST_ROWS:,}",
                "Save the sheet again in a spreadsheet program, or as CSV.",
            )
        self._row, self._in_row, self._cells, self._last_column = int(value), 0, 0, 0

    def _text(self, text: str) -> None:
        if self._in_value and text.strip():
            self._last_column = _column_number(self._cell) or self._cells

    def _sheet_end(self, name: str) -> None:
        kind = name.rpartition(":")[2]
        if kind in {"v", "t"}:
            self._in_value = False
        elif kind == "row" and self._last_column:
            self._numbers.append(self._row)
            self._last_columns.append(self._last_column)


def _column_number(coordinate: str) -> int:
    """The column of a cell such as `XFD12`; 0 where a file does not say."""
    number = 0
    for letter in coordinate.rstrip("0123456789")[:4].upper():
        number = number * 26 + ord(letter) - 64
    return number


def _too_many_cells(path: Path) -> StudyError:
    return StudyError(
        f"{path} has a sheet with more than {MOST_CELLS:,} cells", "Save the sheet as CSV."
    )


# --- cells -------------------------------------------------------------------------------

# Whoever opens a sheet with a cell such as `=HYPERLINK(...)` executes it. Programs skip blanks
# before the sign, and some also a line break.
_FORMULA = r"(?:[\s\x00-\x1f\ufeff]*[=+\-@]|[\t\r\n])"
_LIKE_FORMULA = re.compile(rf"'*{_FORMULA}")
_ESCAPED = re.compile(rf"'+{_FORMULA}")
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def safe_cell(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet program would execute it."""
    return f"'{text}" if _LIKE_FORMULA.match(text) else text


def original(text: str) -> str:
    """The text that `safe_cell` was given."""
    return text[1:] if _ESCAPED.match(text) else text


def workbook_text(text: str) -> str:
    """The text without characters that a workbook cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", text)


def kept_text(text: str) -> str:
    """What sheets of every kind keep of a text: equal ones were not changed by a round trip."""
    return workbook_text(text).replace("\r\n", "\n").replace("\r", "\n")


def text_of(value: Any) -> str:
    """A value of a workbook roughly as its program shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # spreadsheets have one kind of number: issue 12 is 12.0
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


# --- writing -----------------------------------------------------------------------------


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV that every reader splits at the same places and no spreadsheet executes."""
    return "".join(map(_line, rows))


def _line(row: Sequence[object]) -> str:
    line = io.StringIO(newline="")
    # The writer quotes the characters of its line end, and only those: so also a bare CR.
    csv.writer(line, lineterminator="\r\n").writerow([_cell_text(value) for value in row])
    return line.getvalue().removesuffix("\r\n") + "\n"


def _cell_text(value: object) -> str:
    """Exact numbers, times in ISO 8601, lists as JSON; text is made safe."""
    if isinstance(value, str):
        return safe_cell(value)
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)

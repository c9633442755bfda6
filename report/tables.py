"""Tables as files and on the terminal: CSV and JSON for programs, LaTeX for the paper.

CSV and JSON keep the values as they are; LaTeX and terminal show them as the page
does. Not for computing anything: a table arrives finished.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from faultatlas.data.old.results import Cell, Claim, Column, ColumnKind, Result, Table
from faultatlas.data.sheets import csv_text
from faultatlas.report import formatting, latex
from faultatlas.report.formatting import NUMERIC_KINDS

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table as ConsoleTable
    from rich.text import Text

CLAIMS_FILE = "claims.csv"
RESULT_FILE = "result.json"


def write_tables(result: Result, folder: Path) -> list[Path]:
    """Write every table as CSV and LaTeX, the claims as CSV, and the result as JSON."""
    texts = {CLAIMS_FILE: claims_csv(result.claims), RESULT_FILE: result_json(result)}
    for table in result.tables:
        stem = formatting.file_stem(table.name)
        texts[f"{stem}.csv"] = table_csv(table)
        texts[f"{stem}.tex"] = latex.render(table)
    paths = []
    for name, text in texts.items():
        path = folder / name
        # Half a surrogate pair, which broken sources deliver, has no bytes in UTF-8.
        path.write_bytes(text.encode("utf-8", errors="backslashreplace"))
        paths.append(path)
    return paths


def table_csv(table: Table) -> str:
    """The table as CSV (RFC 4180, line feeds): keys as header, exact values."""
    return csv_text([[column.key for column in table.columns], *table.rows])


def claims_csv(claims: Iterable[Claim]) -> str:
    """The claims as CSV, one column for each field."""
    return csv_text([[field.name for field in fields(Claim)], *map(astuple, claims)])


def result_json(result: Result) -> str:
    """The whole result."""
    return plain_json(result.to_json())


def filled(table: Table) -> Table:
    """The table for a reader: without the columns in which no row says anything."""

    def is_empty(at: int, column: Column) -> bool:
        said = (row[at] is not None and row[at] != "" for row in table.rows)
        return column.key != table.grouped_by and not any(said)

    return table.without(is_empty) if table.rows else table


def readable(table: Table) -> Table:
    """The table for a page: filled, and what is aside and the same in every row is said once."""
    return _said_once(filled(table))


def _said_once(table: Table) -> Table:
    """The table without what is aside and empty, or the same in every row: a remark says that."""

    def values(at: int) -> set[Cell]:
        return {row[at] for row in table.rows}

    def is_spare(at: int, column: Column) -> bool:
        spare = column.aside and column.key != table.grouped_by
        return spare and (len(values(at)) == 1 or values(at) <= {None, ""})

    if len(table.rows) < 2:
        return table
    said = ", ".join(
        f"{column.title} {formatting.cell(table.rows[0][at], column.kind)}"
        for at, column in enumerate(table.columns)
        if is_spare(at, column) and not values(at) <= {None, ""}
    )
    note = " ".join(filter(None, (table.note, f"In every row: {said}." if said else "")))
    return replace(table.without(is_spare), note=note)


def parted(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The table without what stands below its rows; and that, a text for each row, if any.

    Where there are several, each needs its heading.
    """
    at = [index for index, column in enumerate(table.columns) if column.below]
    texts = tuple(
        "; ".join(
            (f"{table.columns[index].title}: " if len(at) > 1 else "")
            + formatting.cell(row[index], table.columns[index].kind)
            for index in at
            if row[index] is not None and row[index] != ""
        )
        for row in table.rows
    )
    return table.without(lambda _at, column: column.below), texts if at else ()


def plain_json(value: dict[str, Any]) -> str:
    """Plain values as JSON, which has no NaN and no infinity: these become null."""
    plain = _without_nan(value)
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n"


def console_table(
    table: Table, width: int | None = None, *, with_aside: bool = False, one_line: bool = False
) -> Group:
    """The table for a terminal of that width, or of this one's.

    Texts give way, numbers and the words of a status never break; a column that is aside is
    left out unless asked for, and if the rest is still too wide, further ones are, those that are
    aside first, and the table says so. A text that is `below` stands under its row. With
    `one_line` no text is broken as long as a column is left to be left out.
    """
    from rich.console import Group

    from faultatlas.report.wrapping import Unbroken

    aside = [] if with_aside else [column.title for column in table.columns if column.aside]
    bare, texts = parted(_said_once(table) if with_aside else table.narrow())
    laid = _laid_out(bare, width, aside, one_line=one_line)
    rows = _with_texts(laid, texts) if any(texts) else [_plain_rows(laid, len(table.rows))]
    # Above and below the table, not in it: a narrow one would squeeze its title and its note.
    title = Unbroken(formatting.plain(table.title), style="bold")
    return Group(title, *rows, *([Unbroken(laid.note)] if laid.note else []))


def _plain_rows(laid: _LaidOut, count: int) -> ConsoleTable:
    """All rows as one table."""
    shown = _console_frame(laid.columns, laid.widths)
    for index in range(count):
        shown.add_row(*_cells(laid.columns, index))
    return shown


def _with_texts(laid: _LaidOut, texts: Sequence[str]) -> Iterator[RenderableType]:
    """Rows, each with a long text below it, over the whole width."""
    from rich.padding import Padding

    from faultatlas.report.wrapping import Unbroken

    yield _console_frame(laid.columns, laid.widths)
    for index, text in enumerate(texts):
        line = _console_frame(laid.columns, laid.widths)
        line.show_header = False
        line.add_row(*_cells(laid.columns, index))
        yield line
        if text:
            said = Unbroken(formatting.plain(text), overflow="fold")
            yield Padding(said, (0, 0, 0, 2))


@dataclass(frozen=True)
class _LaidOut:
    """The columns that are shown, how wide, and what is said below them."""

    columns: list[_ConsoleColumn]
    widths: list[int]
    note: str


def _laid_out(table: Table, width: int | None, aside: Sequence[str], *, one_line: bool) -> _LaidOut:
    """What of the table fits; `aside` are headings of what was not asked for."""
    columns = _console_columns(table)
    room = width or shutil.get_terminal_size().columns
    kept, least = _fitting(columns, room, one_line=one_line)
    hidden = [column.title for column in columns if column not in kept]
    notes = [
        formatting.plain(table.note),
        f"Not shown: {', '.join(map(formatting.plain, hidden))}." if hidden else "",
        f"With -v: {', '.join(map(formatting.plain, aside))}." if aside else "",
    ]
    return _LaidOut(kept, _widened(kept, least, room), " ".join(filter(None, notes)))


def _console_frame(columns: list[_ConsoleColumn], widths: list[int]) -> ConsoleTable:
    from rich import box
    from rich.table import Table as ConsoleTable
    from rich.text import Text

    shown = ConsoleTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    # Every width is fixed: rich, left to shrink a table, knows of no least widths.
    for column, wide in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        shown.add_column(Text(column.title), justify=justify, overflow="fold", width=wide)
    return shown


def _cells(columns: list[_ConsoleColumn], index: int) -> list[Text]:
    from faultatlas.report.wrapping import Unbroken

    # Text, not str: brackets in mined text are no markup.
    return [Unbroken(column.cells[index]) for column in columns]


@dataclass(frozen=True)
class _ConsoleColumn:
    title: str
    cells: tuple[str, ...]
    kind: ColumnKind
    aside: bool = False

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC_KINDS

    def least(self, longest_word: int) -> int:
        """A heading breaks at its spaces; a number, a code or a status never breaks."""
        if self.numeric:
            return max(_longest(self.cells), _longest(self.title.split()))
        if self.kind in {"code", "status"}:
            return _longest(word for text in (self.title, *self.cells) for word in text.split())
        from faultatlas.report.wrapping import syllables

        parts = (part for text in (self.title, *self.cells) for part in syllables(text))
        return min(_longest(parts), longest_word)

    @property
    def whole(self) -> int:
        """The width at which no text is broken; numbers need no more than the least."""
        return self.least(0) if self.numeric else _longest((self.title, *self.cells))


def _console_columns(table: Table) -> list[_ConsoleColumn]:
    return [
        _ConsoleColumn(
            formatting.plain(column.title),
            tuple(formatting.cell(row[index], column.kind) for row in table.rows),
            column.kind,
            column.aside,
        )
        for index, column in enumerate(table.columns)
    ]


def _fitting(
    columns: list[_ConsoleColumn], room: int, *, one_line: bool
) -> tuple[list[_ConsoleColumn], list[int]]:
    """The columns that fit and their least widths; what is aside goes first, then the longest
    texts, never the key or a status. What names a row, its value and its interval go only where
    nothing else is left to go.
    """
    first = next(iter(columns), None)
    key = next((column for column in columns if column.kind == "text"), first)
    chief = _chief(columns)
    # An id that names a row stays: people copy it into the next command.
    is_id = first is not None and first.kind == "code" and room >= max(60, 5 * first.whole // 3)
    never = (key, first) if is_id else (key,)
    spare = sorted(
        (column for column in columns if column not in never and column.kind != "status"),
        key=lambda column: (
            column.aside,
            column not in chief,
            column.kind == "text",
            _longest(column.cells),
            columns.index(column),
        ),
    )
    kept = list(columns)
    while True:
        if one_line and spare:
            if _total(whole := [column.whole for column in kept]) <= room:
                return kept, whole
            kept.remove(spare.pop())
            continue
        for longest_word in (16, 13, 10) if spare else (16, 13, 10, 4):
            widths = [column.least(longest_word) for column in kept]
            if _total(widths) <= room:
                return kept, widths
        if not spare:
            return kept, widths
        kept.remove(spare.pop())


def _chief(columns: list[_ConsoleColumn]) -> list[_ConsoleColumn]:
    """The first two columns before any number, and the first number and interval."""
    naming = list(takewhile(lambda column: not column.numeric, columns))
    if len(naming) == len(columns):  # texts only: nothing says which of them name a row
        return naming[:1]
    numbers = [column for column in columns if column.kind == "number"]
    intervals = [column for column in columns if column.kind == "interval"]
    return [*naming[:2], *numbers[:1], *intervals[:1]]


def _widened(columns: list[_ConsoleColumn], least: list[int], room: int) -> list[int]:
    """What room is left goes, a character at a time, to the column whose text is tallest."""
    widths, whole = list(least), [column.whole for column in columns]
    while columns and _total(widths) < room:
        tallest = max(range(len(columns)), key=lambda index: whole[index] / widths[index])
        if widths[tallest] >= whole[tallest]:
            break
        widths[tallest] += 1
    return widths


def _total(widths: list[int]) -> int:
    return sum(widths) + 2 * len(widths)


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=1)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value

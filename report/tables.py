"""Tables as files and on the terminal: CSV and JSON for programs, LaTeX for the paper.

CSV and JSON keep the values as they are; LaTeX and terminal show them as the page
does. Not for computing anything: a table arrives finished.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from data.results import Cell, Claim, ColumnKind, Result, Table
from report import formatting, latex
from report.formatting import NUMERIC_KINDS

if TYPE_CHECKING:
    from rich.table import Table as ConsoleTable

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
    return _csv([column.key for column in table.columns], table.rows)


def claims_csv(claims: Iterable[Claim]) -> str:
    """The claims as CSV, one column for each field."""
    return _csv([field.name for field in fields(Claim)], map(astuple, claims))


def result_json(result: Result) -> str:
    """The whole result."""
    return plain_json(result.to_json())


def filled(table: Table) -> Table:
    """The table for a reader: without the columns in which no row says anything."""
    kept = [
        index
        for index, column in enumerate(table.columns)
        if column.key == table.grouped_by
        or any(row[index] is not None and row[index] != "" for row in table.rows)
    ]
    if not table.rows or len(kept) == len(table.columns):
        return table
    return replace(
        table,
        columns=tuple(table.columns[index] for index in kept),
        rows=tuple(tuple(row[index] for index in kept) for row in table.rows),
    )


def plain_json(value: dict[str, Any]) -> str:
    """Plain values as JSON, which has no NaN and no infinity: these become null."""
    plain = _without_nan(value)
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n"


def console_table(
    table: Table, width: int | None = None, *, with_aside: bool = False
) -> ConsoleTable:
    """The table for a terminal of that width, or of this one's.

    Texts give way, numbers and the words of a status never break; a column that is aside is
    left out unless asked for, and if the rest is still too wide, further ones are, and the
    table says so.
    """
    from rich import box
    from rich.table import Table as ConsoleTable
    from rich.text import Text

    columns = _console_columns(table if with_aside else table.narrow())
    room = width or shutil.get_terminal_size().columns
    kept, least = _fitting(columns, room)
    hidden = [column.title for column in columns if column not in kept]
    aside = [] if with_aside else [column.title for column in table.columns if column.aside]
    notes = [
        formatting.plain(table.note),
        f"Not shown: {', '.join(map(formatting.plain, hidden))}." if hidden else "",
        f"With -v: {', '.join(map(formatting.plain, aside))}." if aside else "",
    ]
    note = " ".join(filter(None, notes))
    shown = ConsoleTable(
        title=Text(formatting.plain(table.title), style="bold"),
        title_justify="left",
        caption=Text(note) if note else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    # Every width is fixed: rich, left to shrink a table, knows of no least widths.
    for column, wide in zip(kept, _widened(kept, least, room), strict=True):
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        shown.add_column(Text(column.title), justify=justify, overflow="fold", width=wide)
    for index in range(len(table.rows)):
        # Text, not str: brackets in mined text are no markup.
        shown.add_row(*(Text(column.cells[index]) for column in kept))
    return shown


@dataclass(frozen=True)
class _ConsoleColumn:
    title: str
    cells: tuple[str, ...]
    kind: ColumnKind

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC_KINDS

    def least(self, longest_word: int) -> int:
        """A heading breaks at its spaces; a number, a code or a status never breaks."""
        if self.numeric:
            return max(_longest(self.cells), _longest(self.title.split()))
        words = (word for text in (self.title, *self.cells) for word in text.split())
        longest = _longest(words)
        return longest if self.kind in {"code", "status"} else min(longest, longest_word)

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
        )
        for index, column in enumerate(table.columns)
    ]


def _fitting(columns: list[_ConsoleColumn], room: int) -> tuple[list[_ConsoleColumn], list[int]]:
    """The columns that fit and their least widths; the longest texts go first, never the
    key or a status. What names a row, its value and its interval go only where nothing else
    is left to go.
    """
    key = next((column for column in columns if column.kind == "text"), next(iter(columns), None))
    chief = _chief(columns)
    spare = sorted(
        (column for column in columns if column is not key and column.kind != "status"),
        key=lambda column: (
            column not in chief,
            column.kind == "text",
            _longest(column.cells),
            columns.index(column),
        ),
    )
    kept = list(columns)
    while True:
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


def _csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    return "".join(_csv_line([_exact(value) for value in row]) for row in (header, *rows))


def _csv_line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    # The writer quotes a cell with a line end only if its own lines end with that, too.
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def _exact(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value

"""Tables as files and on the terminal: CSV and JSON for programs, LaTeX for the paper.

CSV and JSON keep the values as they are; LaTeX and terminal show them as the page
does. Not for computing anything: a table arrives finished.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.results import Cell, Claim, Result, Table
from report import formatting, latex
from report.formatting import NUMERIC_KINDS

if TYPE_CHECKING:
    from rich.table import Table as ConsoleTable

CLAIMS_FILE = "claims.csv"
RESULT_FILE = "result.json"

TERMINAL = 80  # columns


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
    """The whole result; JSON has no NaN and no infinity, so that these become null."""
    plain = _without_nan(result.to_json())
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n"


def console_table(table: Table) -> ConsoleTable:
    """The table for a terminal; texts give way, numbers never break."""
    from rich import box  # noqa: PLC0415  (light --help)
    from rich.table import Table as ConsoleTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown = ConsoleTable(
        title=Text(formatting.plain(table.title), style="bold"),
        title_justify="left",
        caption=Text(formatting.plain(table.note)) if table.note else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    rows = [
        [formatting.cell(v, column.kind) for v, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    titles = [formatting.plain(column.title) for column in table.columns]
    numeric = [column.kind in NUMERIC_KINDS for column in table.columns]
    cells = list(zip(*rows, strict=True)) or [()] * len(titles)
    widths = _least_widths(titles, cells, numeric)
    for title, width, right in zip(titles, widths, numeric, strict=True):
        shown.add_column(
            Text(title),
            justify="right" if right else "left",
            overflow="fold",
            min_width=width,
            max_width=width if right else None,
        )
    for row in rows:
        # Text, not str: brackets in mined text are no markup.
        shown.add_row(*map(Text, row))
    return shown


def _least_widths(
    titles: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> list[int]:
    """A heading breaks at its spaces before a number, or a word, breaks anywhere."""
    for longest_word in (16, 12, 8, 5):
        widths = [
            max(_longest(texts), _longest(title.split()))
            if right
            else min(
                _longest(word for text in (title, *texts) for word in text.split()), longest_word
            )
            for title, texts, right in zip(titles, cells, numeric, strict=True)
        ]
        if sum(widths) + 2 * len(widths) <= TERMINAL:
            break
    return widths


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=1)


def _csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_exact(value) for value in row] for row in rows)
    return text.getvalue()


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

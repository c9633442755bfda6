"""Rows as lines of CSV that every reader splits in the same places."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, a line each; a cell with any line break is quoted, also with a bare CR."""
    return "".join(map(_line, rows))


def _line(row: Sequence[object]) -> str:
    written = io.StringIO(newline="")
    # The writer quotes the characters of its line end, and only those.
    csv.writer(written, lineterminator="\r\n").writerow(row)
    return written.getvalue().removesuffix("\r\n") + "\n"

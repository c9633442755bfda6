"""Totals of tables: columns of whole numbers above a row that says it is the total.

Tables of LaTeX (&), Markdown (|) and text with tabs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Found = tuple[int, str, dict[str, Any]]

_TOTAL = re.compile(r"(?:grand |sub-?)?(?:totals?|sum|all|overall)\W*", re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,3}(?:,\d{3}){1,3}|\d{1,9}")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|cline\{[^}]{0,20}\})")
_LONGEST = 2_000  # characters of a row
_MOST_ROWS = 500


def found(text: str, *, tex: bool = False) -> Iterator[Found]:
    """Every total, with the parts above it."""
    above: list[list[str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        cells = _cells(line, tex=tex)
        if cells is None:
            if line.strip() and not _is_rule(line):
                above = []
            continue
        if not any(_WHOLE.fullmatch(cell) for cell in cells[1:]):
            above = []  # a heading
            continue
        if any(_TOTAL.fullmatch(cell) for cell in cells[:2]):
            yield from _totals(number, above, cells)
            above = []
        elif len(above) <= _MOST_ROWS:
            above.append(cells)


def _totals(number: int, above: list[list[str]], total: list[str]) -> Iterator[Found]:
    rows = [row for row in above if len(row) == len(total)]
    if not 2 <= len(rows) <= _MOST_ROWS or len(rows) != len(above):
        return
    for column, printed in enumerate(total):
        parts = [row[column] for row in rows]
        numbered = parts == [str(place) for place in range(1, len(parts) + 1)]
        if _WHOLE.fullmatch(printed) and all(map(_WHOLE.fullmatch, parts)) and not numbered:
            yield number, "sum", {"printed": printed, "parts": parts}


def _cells(line: str, *, tex: bool) -> list[str] | None:
    """The cells of a row; None if the line is none."""
    if len(line) > _LONGEST:
        return None
    if tex:
        if "&" not in line:
            return None
        row = _RULES.sub("", line).replace("\\\\", "")
        return [cell.strip(" {}") for cell in row.split("&")]
    if line.lstrip().startswith("|"):
        cells = [cell.strip(" *") for cell in line.strip().strip("|").split("|")]
        return None if all(set(cell) <= set("-: ") for cell in cells) else cells
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    return None


def _is_rule(line: str) -> bool:
    """A line of a table that holds nothing."""
    return not _RULES.sub("", line).strip() or set(line.strip()) <= set("|-: +=")

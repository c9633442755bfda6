"""A sheet as rows of text under named columns, whichever file it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is not empty: its number in the file, and the text below each column."""

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Grid:
    """A sheet. Columns are named by its first row; nameless ones are not read."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    sheet: str = ""  # of a workbook: which one was read
    others: tuple[str, ...] = ()  # sheets of the workbook that were not read, for people
    uncomputed: frozenset[tuple[int, str]] = field(default=frozenset())  # formulas without a value
    numbers: frozenset[tuple[int, str]] = field(default=frozenset())  # 1.1, which may be 1.10
    outside: tuple[int, ...] = ()  # rows with cells outside the columns that the header names

    def column(self, wanted: str) -> str:
        """The column that is meant: as written, or but for case and blanks, or by a pattern."""
        for fits in (
            [column for column in self.columns if column == wanted],
            [column for column in self.columns if folded(column) == folded(wanted)],
            [column for column in self.columns if fnmatchcase(folded(column), folded(wanted))],
        ):
            if len(fits) > 1:
                if len(set(fits)) == 1:
                    raise StudyError(
                        f"{self.path}:1: the column {fits[0]!r} stands twice",
                        "Rename one of them.",
                    )
                raise StudyError(
                    f"{self.path}:1: {wanted!r} may be {' or '.join(map(repr, fits))}",
                    "Write the column as the sheet does.",
                )
            if fits:
                return fits[0]
        raise no_column(self, [wanted])

    def found(self, wanted: list[str]) -> list[str]:
        """Columns that must all be there; those that are not are named together."""
        missing = []
        found = []
        for name in wanted:
            try:
                found.append(self.column(name))
            except MissingColumnError:
                missing.append(name)
        if missing:
            raise no_column(self, missing)
        return found

    def matching(self, pattern: str) -> list[str]:
        """The columns that a pattern such as `volunteer_*` means, in their order."""
        fits = [
            column
            for column in self.columns
            if fnmatchcase(column, pattern) or folded(column) == folded(pattern)
        ] or [column for column in self.columns if fnmatchcase(folded(column), folded(pattern))]
        for column in fits:
            self.column(column)  # none of them stands twice
        return fits

    def cell(self, row: Row, column: str) -> str:
        """The text of a cell; a formula that nobody has computed is refused."""
        if (row.number, column) in self.uncomputed:
            raise StudyError(f"the formula in {column!r} has no value")
        return row.cells.get(column, "")

    def code_cell(self, row: Row, column: str, codes: Iterable[str]) -> str:
        """The text of a cell that names one of these codes, or several.

        A number is refused that may be two of them: what was typed as 1.10 is kept as 1.1.
        """
        text = self.cell(row, column)
        if self.is_number(row, column):
            alike = sorted(code for code in codes if _number(code) == float(text))
            if len(alike) > 1:
                raise StudyError(
                    f"the cell holds the number {text}, which may be {' or '.join(alike)}: format "
                    "the column as text, and type the code"
                )
        return text

    def is_number(self, row: Row, column: str) -> bool:
        """Whether a workbook holds it as a number: 1.1 and 1.10 are the same one."""
        return (row.number, column) in self.numbers

    def place(self, row: Row) -> str:
        """Where a row stands, for people."""
        return f"{self.path.name} row {row.number}"


@lru_cache(maxsize=4096)  # codes are few, and cells many
def _number(code: str) -> float | None:
    return float(code) if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", code) else None


class MissingColumnError(StudyError):
    """A sheet has no column of that name."""


def no_column(grid: Grid, wanted: list[str]) -> MissingColumnError:
    """That columns are missing, with those that are there."""
    return MissingColumnError(
        f"{grid.path}:1: there is no column {', '.join(map(repr, wanted))}",
        f"Its columns: {', '.join(grid.columns) or 'none'}.",
    )

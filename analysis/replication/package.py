"""The stored rows of a package, as the functions of a study read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

Cells = list[str | None]


@dataclass(frozen=True)
class Record:
    """A row below a header: its number in the file, and its cells by column; "" for empty ones."""

    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]


@dataclass
class Package:
    """The files of one study that were imported; each is read once."""

    reader: Reader | None  # none: there is no study, so nothing was imported
    name: str
    seed: int = 0  # of bootstrap intervals
    _read: dict[tuple[str, str], list[tuple[int, Cells]]] = field(default_factory=dict)

    def other(self, name: str) -> Package:
        """The package of another study."""
        return Package(self.reader, name, self.seed)

    def names(self, pattern: str = "*") -> list[str]:
        """The files that are there, by a pattern such as `mutation/*.csv`."""
        rows = self._query(
            "SELECT file FROM package_files WHERE package = ? ORDER BY file", [self.name]
        )
        return [row["file"] for row in rows if fnmatchcase(row["file"], pattern)]

    def missing(self, needs: Iterable[str]) -> list[str]:
        """Which of these files are not there; `dl-faults:round_1.xlsx` is of another package."""
        return [need for need in needs if not self._of(need)]

    def files_of(self, needs: Iterable[str]) -> list[tuple[str, str]]:
        """The files that are meant, each with its package."""
        return [found for need in needs for found in self._of(need)]

    def sheets(self, file: str) -> list[str]:
        """The sheets of a workbook by name; of a CSV file the one that is called nothing."""
        rows = self._query(
            "SELECT DISTINCT sheet FROM package_rows WHERE package = ? AND file = ? ORDER BY sheet",
            [self.name, file],
        )
        return [row["sheet"] for row in rows]

    def rows(self, file: str, sheet: str = "") -> list[tuple[int, Cells]]:
        """The rows of a sheet as they are, each with its number."""
        key = (file, sheet)
        if key not in self._read:
            found = self._query(
                "SELECT line, cells FROM package_rows "
                "WHERE package = ? AND file = ? AND sheet = ? ORDER BY line",
                [self.name, file, sheet],
            )
            self._read[key] = [(row["line"], row["cells"]) for row in found]
        return self._read[key]

    def records(
        self, file: str, columns: Sequence[str] = (), sheet: str = "", header_line: int = 1
    ) -> list[Record]:
        """The rows below the header; `columns` must be there, by name but for case and blanks.

        They are called what `columns` calls them; the others what the header calls them.
        """
        rows = [row for row in self.rows(file, sheet) if row[0] >= header_line]
        header = [cell or "" for cell in rows[0][1]] if rows else []
        known = {folded(name): name for name in columns}
        names = [known.get(folded(name), name) for name in header]
        missing = [name for name in columns if name not in names]
        if missing:
            raise StudyError(
                f"{file} of {self.name} has no column {', '.join(map(repr, missing))}",
                f"Its columns: {', '.join(filter(None, header)) or 'none'}.",
            )
        found = []
        for line, cells in rows[1:]:
            named = dict.fromkeys(filter(None, names), "")
            for name, cell in zip(names, cells, strict=False):
                if name and not named[name]:  # of columns with one name the first that says it
                    named[name] = cell or ""
            if any(cell.strip() for cell in named.values()):
                found.append(Record(line, named))
        return found

    def _query(self, sql: str, parameters: list[str]) -> list[dict[str, Any]]:
        return self.reader.rows(sql, parameters) if self.reader else []

    def _of(self, need: str) -> list[tuple[str, str]]:
        package, separator, pattern = need.partition(":")
        of = self.other(package) if separator else self
        return [(of.name, name) for name in of.names(pattern if separator else need)]


def number_of(cell: str | None) -> float | None:
    """A cell as a number, `nan` and `inf` among them; None if it is none."""
    try:
        return float((cell or "").strip())
    except ValueError:
        return None

"""Which item a row is about: a column with URLs or ids, or a template that puts one together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import artifact_id
from faultatlas.data.sheets import Row
from faultatlas.data.sheets import Sheet as Grid

_FIELD = re.compile(r"\{([^{}]+)\}")
_AGAIN = re.compile(r"(.+)~([1-9][0-9]*)")


@dataclass(frozen=True)
class ItemRule:
    """How the item of a row is read in one sheet."""

    text: str  # the column, or the template
    columns: tuple[str, ...]

    @classmethod
    def of(cls, wanted: str, grid: Grid) -> ItemRule:
        """The rule that `--item` means: a template has columns in braces."""
        fields = _FIELD.findall(wanted)
        if not fields or wanted in grid.columns:
            return cls("", (grid.column(wanted),))
        return cls(wanted, tuple(grid.require(fields)))

    def of_row(self, grid: Grid, row: Row) -> str:
        """What names the item; "" if the row has nothing to say about it.

        In a template `+` in a cell stands for `/`, as in `apache+incubator-mxnet`.
        """
        cells = [grid.cell(row, column).strip() for column in self.columns]
        if not self.text:
            return cells[0]
        parts = [cell.replace("+", "/").strip("/") for cell in cells]
        if not all(parts):
            return ""
        given = iter(parts)
        return _FIELD.sub(lambda _match: next(given), self.text)


@dataclass
class Numbering:
    """Gives rows of one sheet their item ids: an artifact that stands there again gets ~2, ~3."""

    seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def item(self, text: str, rater: str = "") -> tuple[str, str]:
        """Item and artifact. Where each row has one rater, an artifact is new for each of them."""
        artifact = _artifact(text)
        marked = _AGAIN.fullmatch(text)
        if artifact is None and marked and _artifact(marked[1]):  # as an export writes it
            return exported_item(text)
        artifact = artifact or artifact_id(text)  # which complains
        self.seen[artifact, rater] += 1
        count = self.seen[artifact, rater]
        return (artifact if count == 1 else f"{artifact}~{count}"), artifact

    @property
    def repeated(self) -> set[str]:
        """Artifacts that stand in several rows."""
        return {artifact for (artifact, _rater), count in self.seen.items() if count > 1}


def exported_item(text: str, url: str = "") -> tuple[str, str]:
    """Item and artifact of a row that an export wrote: its id says which, the URL what of."""
    marked = _AGAIN.fullmatch(text)
    whole, before = _artifact(text), _artifact(marked[1]) if marked else None
    if marked and before and (whole is None or whole != _artifact(url)):
        return f"{before}~{marked[2]}", before
    artifact = whole or artifact_id(text)  # which complains
    return artifact, artifact


def _artifact(text: str) -> str | None:
    try:
        return artifact_id(text)
    except StudyError:
        return None


def filled_down(grid: Grid, columns: list[str]) -> Grid:
    """The grid with empty cells of these columns filled from above: merged cells, groups."""
    if not columns:
        return grid
    names = grid.require(columns)
    last = dict.fromkeys(names, "")
    rows = []
    for row in grid.rows:
        for name in names:
            last[name] = row.cells.get(name, "").strip() or last[name]
        rows.append(replace(row, cells={**row.cells, **last}))
    return replace(grid, rows=tuple(rows))

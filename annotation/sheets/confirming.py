"""Refuses sheets with wrong cells, and writes the table of spellings for a person to confirm."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from faultatlas.annotation.sheets.codes import Codebook
from faultatlas.annotation.sheets.importing import Sheets
from faultatlas.annotation.sheets.problems import listed
from faultatlas.annotation.sheets.spellings import FOLDER, Proposal, table_text
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import read_sheet
from faultatlas.data.taxonomy import folded


def table_path(directory: Path, round_name: str) -> Path:
    """Where the table of a round is proposed: in the study's directory."""
    name = re.sub(r"[^\w.-]+", "-", round_name)
    return directory / FOLDER / f"{name}.csv"


def check(sheets: Sheets, book: Codebook, table: Path, confirmed: Path | None) -> None:
    """Refuse what is wrong, all at once. Spellings are proposed in a table."""
    if not sheets.problems:
        if book.accepted or (book.accepting and confirmed is not None):
            _write(table, book.proposals, confirmed)
        return
    hint = (
        f"Mend the sheet; the codes: annotation taxonomy show {book.taxonomy.name}; the items: "
        "annotation import --help."
    )
    if book.unknown:
        _write(table, book.proposals, confirmed)
        what = "it" if len(book.unknown) == 1 else f"{len(book.unknown):,} spellings"
        hint = (
            f"What {what} may mean is proposed in {table}: check its column `code` (- leaves cells "
            f"out), then add --spellings {typed(table)}."
        )
    raise StudyError(listed(sheets.problems), f"{hint} Nothing was stored.")


def _write(table: Path, proposals: Iterable[Proposal], confirmed: Path | None) -> None:
    """Write the table; what a person has put into it, or into the confirmed one, stays."""
    rows: dict[str, Proposal] = {}
    for path in (table, confirmed):
        if path is not None and path.exists():
            rows |= {folded(each.spelling): each for each in _rows(path)}
    for each in proposals:
        there = rows.get(folded(each.spelling))
        decided = there is not None and bool(there.code)
        rows[folded(each.spelling)] = (
            Proposal(each.spelling, each.count, there.code, there.why)
            if there is not None and decided
            else each
        )
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(table_text(rows.values()), encoding="utf-8", newline="")


def _rows(path: Path) -> Iterable[Proposal]:
    grid = read_sheet(path)
    for row in grid.rows:
        spelling, count, code, why = (
            row.cells.get(name, "").strip() for name in ("spelling", "count", "code", "why")
        )
        yield Proposal(spelling, int(count) if count.isdecimal() else 0, code, why)

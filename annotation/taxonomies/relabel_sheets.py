"""The labels that have to be given again as a sheet: written, filled in, read back."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.rounds import find_round
from annotation.sheets.cells import harmless
from annotation.sheets.files import read_grid
from annotation.taxonomies.relabelling import Waiting, checked, give, relabel_queue
from annotation.taxonomies.versions import Versions
from data import provenance
from data.errors import StudyError
from data.identity import url_of

if TYPE_CHECKING:
    from annotation.rounds import Round
    from annotation.sheets.grids import Grid, Row
    from data.provenance import Run
    from data.store import Study
    from data.taxonomy import Taxonomy

COLUMNS = ("answer", "item", "url", "rater", "stage", "said", "code", "choices", "new")
SEPARATOR = "; "
_MOST_SHOWN = 5

# (answer, old code) -> new codes, and where they stand.
Decisions = dict[tuple[str, str], tuple[list[str], str]]


def write_sheet(path: Path, queue: Sequence[Waiting]) -> None:
    """A row for each label that waits, with `new` to be filled in; .xlsx, or else CSV."""
    if path.exists():
        raise StudyError(
            f"{path} exists already", "Choose another name: it may hold somebody's answers."
        )
    rows = [COLUMNS, *([harmless(cell) for cell in _cells(each)] for each in queue)]
    if path.suffix.lower() == ".xlsx":
        from openpyxl import Workbook

        book = Workbook()
        sheet = book.worksheets[0]
        for row in rows:
            sheet.append(list(row))
        book.save(path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def read_sheet(path: Path, of: Round, queue: Sequence[Waiting], taxonomy: Taxonomy) -> Decisions:
    """What was filled in. Every wrong row is named, all at once; empty ones still wait."""
    grid = read_grid(path)
    answer, code, new = grid.found(["answer", "code", "new"])
    open_ones = {(each.said.answer_id, each.code): each for each in queue}
    decisions: Decisions = {}
    problems: list[str] = []
    for row in grid.rows:
        try:
            key = (grid.cell(row, answer).strip(), grid.cell(row, code).strip())
            chosen = _chosen(grid, row, new)
            if not chosen:
                continue
            if key not in open_ones:
                continue  # given already, or the rater has said something else since
            codes = checked(chosen, open_ones[key], taxonomy, single=of.choice == "single")
            if decisions.setdefault(key, (codes, grid.place(row)))[0] != codes:
                raise StudyError("another row says something else of the same label")  # noqa: TRY301
        except StudyError as error:
            problems.append(f"{path}:{row.number}: {error.message}")
    if problems:
        more = len(problems) - _MOST_SHOWN
        shown = problems[:_MOST_SHOWN] + ([f"... and {more:,} more"] if more > 0 else [])
        raise StudyError(
            "\n".join(shown),
            f"Mend the sheet; the codes: annotation taxonomy show {taxonomy.name}. "
            "Nothing was stored.",
        )
    return decisions


def _cells(each: Waiting) -> list[str]:
    said = each.said
    return [
        said.answer_id, said.item_id, url_of(said.artifact_id) or "", said.rater, said.stage,
        SEPARATOR.join(said.codes), each.code, SEPARATOR.join(each.choices) or "any code", "",
    ]  # fmt: skip


def _chosen(grid: Grid, row: Row, column: str) -> list[str]:
    parts = grid.cell(row, column).split(SEPARATOR.strip())
    return [part for part in map(str.strip, parts) if part]


@dataclass(frozen=True)
class Taken:
    """What a filled-in sheet brought."""

    stored: int
    left: int


def take_sheet(study: Study, round_name: str, path: Path, run: Run) -> Taken:
    """Read a filled-in sheet and store its answers; again, it stores nothing."""
    with study.writing() as writer:
        of = find_round(writer, round_name)
        queue = relabel_queue(writer, of)
        if not queue:
            return Taken(0, 0)
        taxonomy = Versions.stored(writer, of.taxonomy).taxonomy(queue[0].version)
        decisions = read_sheet(path, of, queue, taxonomy)
        if decisions:
            provenance.record(writer, run, "ok")
            given = give(writer, of, decisions, run)
            return Taken(given.new + given.changed, len(relabel_queue(writer, of)))
    return Taken(0, len(queue))

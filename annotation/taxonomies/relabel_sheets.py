"""The labels that have to be given again as a sheet: written, filled in, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.annotation.rounds import find_round, require_rater
from faultatlas.annotation.sheets.exporting import Exported
from faultatlas.annotation.sheets.problems import listed
from faultatlas.annotation.taxonomies.relabelling import (
    Waiting,
    checked,
    give,
    migrated_version,
    relabel_queue,
)
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.data import provenance, sheets
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import url_of
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.provenance import Run
    from faultatlas.data.sheets import Row
    from faultatlas.data.sheets import Sheet as Grid
    from faultatlas.data.study import Study, Writer
    from faultatlas.data.taxonomy import Taxonomy

COLUMNS = ("answer", "item", "url", "rater", "stage", "said", "code", "choices", "new")
SEPARATOR = "; "

_MARK = "L"  # before the ids of answers: a spreadsheet program takes 123e45 for a number

# (answer, old code) -> new codes, and where they stand.
Decisions = dict[tuple[str, str], tuple[list[str], str]]
# (answer, old code) -> item and rater, of all labels of a round.
Known = Mapping[tuple[str, str], Mapping[str, str]]


@dataclass
class Filled:
    """What a filled-in sheet says."""

    decisions: Decisions = field(default_factory=dict)
    answered: int = 0  # rows of labels that do not wait any more


def sheet_of(queue: Sequence[Waiting]) -> Exported:
    """A row for each label that waits, with `new` to be filled in."""
    return Exported(COLUMNS, tuple(_cells(each) for each in queue))


def read_sheet(
    path: Path, of: Round, queue: Sequence[Waiting], known: Known, taxonomy: Taxonomy
) -> Filled:
    """What was filled in. Every wrong row is named, all at once; empty ones still wait."""
    grid = sheets.read_sheet(path)
    answer, code, new = grid.require(["answer", "code", "new"])
    open_ones = {(each.said.answer_id, each.code): each for each in queue}
    selectable = [node.code for node in taxonomy.selectable]
    filled = Filled()
    problems: list[str] = []
    for row in grid.rows:
        try:
            key = (_answer_id(grid.cell(row, answer)), grid.cell(row, code).strip())
            chosen = _chosen(grid.code_cell(row, new, selectable))
            if not chosen:
                continue
            if key not in known:
                raise StudyError(f"round {of.name} has no such label to give again")  # noqa: TRY301  (told with its row)
            _check_columns(grid, row, known[key])
            if key not in open_ones:  # given already, or the rater has said something else since
                filled.answered += 1
                continue
            codes = checked(chosen, open_ones[key], taxonomy, single=of.choice == "single")
            said = filled.decisions.setdefault(key, (codes, grid.place(row)))[0]
            if said != codes:
                raise StudyError("another row says something else of the same label")  # noqa: TRY301  (the same)
        except StudyError as error:
            problems.append(f"{path}:{row.number}: {error.message}")
    if problems:
        raise StudyError(
            listed(problems),
            f"Mend the sheet; the codes: annotation taxonomy show {taxonomy.name}. "
            "Nothing was stored.",
        )
    return filled


def _check_columns(grid: Grid, row: Row, said: Mapping[str, str]) -> None:
    """The row must still be about what it was written for: cells may have been sorted apart."""
    for column in ("item", "rater"):
        names = [name for name in grid.columns if name.lower() == column]
        text = grid.cell(row, names[0]).strip() if names else ""
        if text not in ("", said[column]):
            raise StudyError(f"the label is of {column} {said[column]}, not of {text}")


def _answer_id(text: str) -> str:
    return text.strip().removeprefix(_MARK)


def _cells(each: Waiting) -> tuple[str, ...]:
    said = each.said
    return (
        f"{_MARK}{said.answer_id}", said.item_id, url_of(said.artifact_id) or "",
        said.rater, said.stage, SEPARATOR.join(said.codes), each.code,
        SEPARATOR.join(each.choices) or "any code", "",
    )  # fmt: skip


def _chosen(cell: str) -> list[str]:
    parts = cell.split(SEPARATOR.strip())
    return [part for part in map(str.strip, parts) if part]


@dataclass(frozen=True)
class Taken:
    """What a filled-in sheet brought."""

    stored: int
    left: int
    answered: int  # rows of labels that were given before

    @property
    def sentence(self) -> str:
        """In words."""
        before = f", {self.answered:,} rows were answered before" if self.answered else ""
        return f"{counted(self.stored, 'answer')} stored{before}, {self.left:,} labels are left"


def take_sheet(study: Study, round_name: str, path: Path, run: Run) -> Taken:
    """Read a filled-in sheet and store its answers; again, it stores nothing."""
    with study.writing() as writer:
        of = find_round(writer, round_name)
        queue = relabel_queue(writer, of)
        version = migrated_version(writer, of.taxonomy)
        if version is None:
            raise StudyError(
                f"no label of round {of.name} waits: {of.taxonomy} has not been changed here",
                f"See what a change does: annotation taxonomy diff {of.taxonomy}",
            )
        taxonomy = Versions.stored(writer, of.taxonomy).taxonomy(version)
        filled = read_sheet(path, of, queue, _known(writer, of), taxonomy)
        stored = 0
        if filled.decisions:
            given = give(writer, of, filled.decisions, run)
            stored = given.new + given.changed
        if stored:
            provenance.record(writer, run, "ok")
        return Taken(stored, len(relabel_queue(writer, of)), filled.answered)


def refuse_unknown_rater(of: Round, queue: Sequence[Waiting], rater: str) -> None:
    """A name that nobody in the round has is a mistake, not a rater who is done."""
    if rater:
        require_rater(of, rater, sorted({each.said.rater for each in queue}))


def _known(reader: Writer, of: Round) -> Known:
    rows = reader.rows(
        "SELECT answer_id, item_id, rater, unnest(codes) AS code FROM store.answer WHERE round = ?",
        [of.name],
    )
    return {
        (row["answer_id"], row["code"]): {"item": row["item_id"], "rater": row["rater"]}
        for row in rows
    }

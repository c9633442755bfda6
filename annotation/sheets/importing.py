"""Reads sheets: items, what raters said of them, final codes; every wrong cell is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annotation.labels import STAGES, Answer, Stage
from annotation.rounds import Item, checked_name
from annotation.sheets.asking import Asked, Layout, layout_of
from annotation.sheets.codes import Codebook, Said
from annotation.sheets.files import read_grid
from annotation.sheets.grids import Grid, Row
from annotation.sheets.items import Numbering, filled_down
from annotation.sheets.shapes import Rating
from data.errors import StudyError
from data.taxonomy import folded

_NO_MARK = {"", "0", "no", "false", "n"}


@dataclass
class Sheets:
    """What sheets say, and what is remarkable about them."""

    stage: Stage
    rows: int = 0
    items: dict[str, Item] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # item, rater, stage
    finals: dict[str, Said] = field(default_factory=dict)
    has_ratings: bool = False
    has_finals: bool = False
    raters: dict[str, None] = field(default_factory=dict)  # in their order
    unlabelled: int = 0  # rows that say nothing
    unsettled: int = 0  # rows without a final code
    nameless: list[str] = field(default_factory=list)  # places of rows that name no item
    repeated: set[str] = field(default_factory=set)
    conflicts: int | None = None  # that the sheets mark themselves
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def artifacts(self) -> int:
        """How many artifacts the items are about."""
        return len({item.artifact_id for item in self.items.values()})


def read_sheets(
    files: Mapping[Path, str], asked: Asked, book: Codebook, stage: Stage = "independent"
) -> Sheets:
    """Read sheets; what is wrong with them is collected in `problems`.

    An artifact that stands in several rows of one sheet becomes several items; in several
    sheets it is the same item, as if the sheets were imported one after another.
    """
    sheets = Sheets(stage)
    for path, rater in files.items():
        grid = filled_down(
            read_grid(path, sheet=asked.sheet, encoding=asked.encoding, delimiter=asked.delimiter),
            list(asked.fill_down),
        )
        layout = layout_of(asked, grid, book, rater)
        _GridReader(sheets, grid, layout, book, skip_nameless=asked.skip_nameless).read()
        if grid.others and not asked.sheet:
            sheets.notes.append(
                f"{path.name}: read sheet {grid.sheet!r}, not {', '.join(map(repr, grid.others))}"
            )
        if layout.shape:
            sheets.notes += [f"{path.name}: {note}" for note in layout.shape.notes]
    return sheets


@dataclass
class _GridReader:
    """Reads one sheet into `sheets`."""

    sheets: Sheets
    grid: Grid
    layout: Layout
    book: Codebook
    skip_nameless: bool
    numbering: Numbering = field(default_factory=Numbering)

    def read(self) -> None:
        sheets, grid, layout = self.sheets, self.grid, self.layout
        sheets.has_ratings |= layout.shape is not None
        sheets.has_finals |= bool(layout.final)
        if layout.conflict:
            sheets.conflicts = (sheets.conflicts or 0) + sum(
                folded(grid.cell(row, layout.conflict)) not in _NO_MARK for row in grid.rows
            )
        for row in grid.rows:
            sheets.rows += 1
            try:
                self._read_row(row)
            except StudyError as error:
                sheets.problems.append(f"{grid.path}:{row.number}: {error.message}")
        sheets.repeated |= self.numbering.repeated

    def _read_row(self, row: Row) -> None:
        sheets, grid, layout, book = self.sheets, self.grid, self.layout, self.book
        ratings = list(layout.shape.ratings(grid, row, book)) if layout.shape else []
        final = book.read(grid.cell(row, layout.final)) if layout.final else None
        errors = book.taken_errors()
        if errors:
            sheets.problems += [f"{grid.path}:{row.number}: {error}" for error in errors]
            return
        sheets.unsettled += bool(layout.final) and final is None
        if not ratings and final is None:
            sheets.unlabelled += 1
            return
        name = layout.item.of_row(grid, row)
        if not name and self.skip_nameless:
            sheets.nameless.append(grid.place(row))
            return
        item_id, artifact = self.numbering.item(name, self._whose(ratings))
        stratum = grid.cell(row, layout.stratum).strip() if layout.stratum else ""
        sheets.items.setdefault(item_id, Item(item_id, artifact, stratum, grid.place(row)))
        for answer in self._answers(row, item_id, ratings):
            sheets.raters.setdefault(answer.rater)
            key = (item_id, answer.rater, answer.stage)
            before = sheets.answers.setdefault(key, answer)
            if before.codes != answer.codes:
                raise StudyError(f"{item_id} has another code of {answer.rater} in {before.origin}")
        if final and set(sheets.finals.setdefault(item_id, final).codes) != set(final.codes):
            raise StudyError(f"{item_id} has another code in another sheet")

    def _whose(self, ratings: list[Rating]) -> str:
        """Of sheets with one rater a row: who, since an artifact has a row for each of them."""
        if not ratings or self.layout.shape is None or not self.layout.shape.one_rater_a_row:
            return ""
        return f"{ratings[0].rater}\0{ratings[0].stage}"

    def _answers(self, row: Row, item_id: str, ratings: list[Rating]) -> Iterator[Answer]:
        for rating in ratings:
            given = rating.stage or self.sheets.stage
            stage = next((each for each in STAGES if each == given), None)
            if stage is None:
                raise StudyError(f"{given!r} is no stage: it is {', '.join(STAGES)}")
            yield Answer(
                item_id=item_id,
                rater=checked_name(rating.rater, "rater"),
                codes=tuple(sorted(rating.said.codes)),
                taxonomy_version=self.book.taxonomy.version,
                origin=f"{self.grid.place(row)} rater {rating.number}",
                stage=stage,
                confidence=rating.confidence,
                comment=rating.said.comment,
                proposed=rating.said.proposed,
                labelled_at=rating.labelled_at,
            )

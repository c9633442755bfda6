"""Reads sheets: items, what raters said of them, final codes; every wrong cell is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from faultatlas.annotation.labels import STAGES, Answer, Stage, checked_stage
from faultatlas.annotation.rounds import Item, checked_name
from faultatlas.annotation.sheets.asking import Asked, Layout, layout_of
from faultatlas.annotation.sheets.codes import Codebook, Said
from faultatlas.annotation.sheets.items import Numbering, exported_item, filled_down
from faultatlas.annotation.sheets.shapes import RaterColumns, Rating
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import Row, read_sheet
from faultatlas.data.sheets import Sheet as Grid
from faultatlas.data.taxonomy import Taxonomy, folded
from faultatlas.report.formatting import counted

_MOST_SHOWN = 5
_NO_MARK = {"", "0", "no", "false", "n"}


@dataclass
class Sheets:
    """What sheets say, and what is remarkable about them."""

    stage: Stage  # of what says nothing of it
    rows: int = 0
    items: dict[str, Item] = field(default_factory=dict)
    answers: dict[tuple[str, str, str, str], Answer] = field(default_factory=dict)
    finals: dict[str, Said] = field(default_factory=dict)
    final_stages: dict[str, Stage] = field(default_factory=dict)  # of items, if the sheet says so
    versions: dict[str, Taxonomy] = field(default_factory=dict)  # that answers were given in
    repeats_study: bool = False  # whether an export wrote a column for each rater
    has_ratings: bool = False
    has_finals: bool = False
    raters: dict[str, None] = field(default_factory=dict)  # in their order
    unlabelled: int = 0  # rows that say nothing
    unsettled: int = 0  # rows without a final code
    nameless: list[str] = field(default_factory=list)  # places of rows that name no item
    repeated: set[str] = field(default_factory=set)
    often: dict[str, dict[str, int]] = field(default_factory=dict)  # artifact -> where, how often
    conflicts: int | None = None  # that the sheets mark themselves
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def artifacts(self) -> int:
        """How many artifacts the items are about."""
        return len({item.artifact_id for item in self.items.values()})

    @property
    def stages(self) -> dict[str, int]:
        """How many answers are of which stage."""
        counts = Counter(answer.stage for answer in self.answers.values())
        return {stage: counts[stage] for stage in STAGES if counts[stage]}

    def unlike(self) -> list[str]:
        """Artifacts that stand in one sheet more often than in another."""
        return [
            f"{artifact} ({', '.join(f'{count} in {where}' for where, count in places.items())})"
            for artifact, places in self.often.items()
            if len(set(places.values())) > 1
        ]


def read_sheets(
    files: Mapping[Path, str], asked: Asked, book: Codebook, stage: Stage | None = None
) -> Sheets:
    """Read sheets; what is wrong with them is collected in `problems`.

    An artifact that stands in several rows of one sheet becomes several items; in several
    sheets it is the same item, as if the sheets were imported one after another.
    """
    sheets = Sheets(stage or "independent")
    for path, rater in files.items():
        grid = filled_down(
            read_sheet(path, sheet=asked.sheet, encoding=asked.encoding, delimiter=asked.delimiter),
            list(asked.fill_down),
        )
        layout = layout_of(asked, grid, book, rater)
        if stage and layout.stage:
            _check_stage(grid, layout.stage, stage)
        _GridReader(sheets, grid, layout, book, skip_nameless=asked.skip_nameless).read()
        others = () if layout.is_exported else grid.others  # beside labels an export has the codes
        if others and not asked.sheet:
            sheets.notes.append(f"{path.name}: read sheet {grid.name!r}, not {', '.join(others)}")
        if grid.outside:
            sheets.notes.append(
                f"{path.name}: cells outside the columns that the header names are not read: row "
                + ", ".join(map(str, grid.outside[:_MOST_SHOWN]))
                + (" ..." if len(grid.outside) > _MOST_SHOWN else "")
            )
        if layout.shape:
            sheets.notes += [f"{path.name}: {note}" for note in layout.shape.notes]
    unlike = sheets.unlike()
    if unlike:
        sheets.notes.append(
            f"{counted(len(unlike), 'artifact')} in one sheet more often than in another, so that "
            f"rows may be taken for the wrong item: {'; '.join(unlike[:_MOST_SHOWN])}"
        )
    return sheets


def _check_stage(grid: Grid, column: str, stage: Stage) -> None:
    says = {grid.cell(row, column).strip() for row in grid.rows} - {"", stage}
    if says:
        raise StudyError(
            f"{grid.path} says in its column {column!r} {', '.join(sorted(says))}; --stage says "
            f"{stage}",
            "Write into the column what holds for its rows, or leave --stage out. Nothing was "
            "stored.",
        )


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
        sheets.repeats_study |= layout.is_exported and isinstance(layout.shape, RaterColumns)
        if layout.conflict:
            sheets.conflicts = (sheets.conflicts or 0) + sum(
                folded(grid.cell(row, layout.conflict)) not in _NO_MARK for row in grid.rows
            )
        for row in grid.rows:
            sheets.rows += 1
            try:
                self._read_row(row)
            except StudyError as error:
                wrong = [*self.book.taken_errors(), error.message]
                sheets.problems += [f"{grid.path}:{row.number}: {each}" for each in wrong]
        sheets.repeated |= self.numbering.repeated
        for (artifact, whose), count in self.numbering.seen.items():
            rater = whose.partition("\0")[0]
            where = f"{grid.path.name}, {rater}" if rater else grid.path.name
            sheets.often.setdefault(artifact, {})[where] = count

    def _read_row(self, row: Row) -> None:
        sheets, grid, layout, book = self.sheets, self.grid, self.layout, self.book
        item, wrong = self._item(row)  # before all: every row that names an artifact is counted
        ratings = list(layout.shape.ratings(grid, row, book)) if layout.shape else []
        final = book.of_cell(grid, row, layout.final) if layout.final else None
        errors = book.taken_errors()
        if errors:
            sheets.problems += [f"{grid.path}:{row.number}: {error}" for error in errors]
            return
        sheets.unsettled += bool(layout.final) and final is None
        if not ratings and final is None:
            sheets.unlabelled += 1
            return
        if wrong:
            raise wrong
        if item is None:
            sheets.nameless.append(grid.place(row))
            return
        item_id = item[0]
        self._keep_item(row, *item)
        for answer in self._answers(row, item_id, ratings):
            sheets.raters.setdefault(answer.rater)
            key = (item_id, answer.rater, answer.stage, answer.taxonomy_version)
            before = sheets.answers.setdefault(key, answer)
            if before.codes != answer.codes:
                raise StudyError(f"{item_id} has another code of {answer.rater} in {before.origin}")
        if final and set(sheets.finals.setdefault(item_id, final).codes) != set(final.codes):
            raise StudyError(f"{item_id} has another code in another sheet")
        if final and layout.stage and grid.cell(row, layout.stage).strip():
            sheets.final_stages[item_id] = checked_stage(grid.cell(row, layout.stage).strip())

    def _item(self, row: Row) -> tuple[tuple[str, str] | None, StudyError | None]:
        """Item and artifact of a row, or what is wrong with it, in case that it says anything."""
        grid, layout = self.grid, self.layout
        try:
            name = layout.item.of_row(grid, row)
            if not name and self.skip_nameless:
                return None, None
            if layout.is_exported:
                return exported_item(name, grid.cell(row, layout.url).strip()), None
            whose = layout.shape.whose(grid, row) if layout.shape else ""
            return self.numbering.item(name, whose), None
        except StudyError as error:
            return None, error

    def _keep_item(self, row: Row, item_id: str, artifact: str) -> None:
        sheets, grid, layout = self.sheets, self.grid, self.layout
        stratum = grid.cell(row, layout.stratum).strip() if layout.stratum else ""
        there = sheets.items.get(item_id)
        if there and there.artifact_id != artifact:
            raise StudyError(f"{item_id} is also {there.place}, a row of {there.artifact_id}")
        if there is None or not there.stratum:
            place = there.place if there else grid.place(row)
            sheets.items[item_id] = Item(item_id, artifact, stratum, place)
        elif stratum and stratum != there.stratum:
            raise StudyError(f"{item_id} has another stratum, {there.stratum!r}, in {there.place}")

    def _answers(self, row: Row, item_id: str, ratings: list[Rating]) -> Iterator[Answer]:
        for rating in ratings:
            taxonomy = self.book.of_version(rating.version).taxonomy
            self.sheets.versions[taxonomy.version] = taxonomy
            yield Answer(
                item_id=item_id,
                rater=checked_name(rating.rater, "rater"),
                codes=tuple(sorted(rating.said.codes)),
                taxonomy_version=taxonomy.version,
                origin=f"{self.grid.place(row)} rater {rating.number}",
                stage=checked_stage(rating.stage) if rating.stage else self.sheets.stage,
                confidence=rating.confidence,
                comment=rating.said.comment,
                proposed=rating.said.proposed,
                labelled_at=rating.labelled_at,
            )

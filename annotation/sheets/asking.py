"""What a user asks an import for, and what that means for one sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faultatlas.annotation.sheets.codes import Codebook
from faultatlas.annotation.sheets.items import ItemRule
from faultatlas.annotation.sheets.layout import is_long, is_wide, misspelt_codes, raters_of
from faultatlas.annotation.sheets.shapes import CodeFrom, Long, OneRater, Pairs, RaterColumns, Shape
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import Sheet as Grid
from faultatlas.report.formatting import counted


@dataclass(frozen=True)
class Asked:
    """The options of `annotation import`; columns are named as the user writes them."""

    item: str = ""
    rater_columns: tuple[str, ...] = ()
    pairs: str = ""
    rater: str = ""
    rater_column: str = ""
    code: str = ""
    codes_from: tuple[str, ...] = ()
    comment: str = ""
    final: str = ""
    stratum: str = ""
    conflict: str = ""
    fill_down: tuple[str, ...] = ()
    sheet: str = ""
    encoding: str = ""
    delimiter: str = ""
    skip_nameless: bool = False

    @property
    def says_who(self) -> bool:
        """Whether an option says where the ratings are."""
        return bool(
            self.rater_columns or self.pairs or self.rater or self.rater_column or self.codes_from
            or self.code
        )  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Where one sheet has what."""

    item: ItemRule
    shape: Shape | None
    final: str = ""
    stratum: str = ""
    conflict: str = ""
    stage: str = ""  # of a sheet that an export wrote
    url: str = ""
    is_exported: bool = False  # so that the id of an item says which it is


def layout_of(asked: Asked, grid: Grid, book: Codebook, rater: str = "") -> Layout:
    """The columns of a sheet that the options mean; `rater` if the file is named after one."""
    exported = not asked.says_who and not rater and not asked.item
    if exported and (is_long(grid.columns) or is_wide(grid.columns)):
        return _exported(asked, grid)
    if not asked.item:
        raise StudyError(
            f"{grid.path} was not written by annotation export: say which column names the item",
            "Add --item COL, and --rater-columns, --pairs, --rater or --final."
            + "".join(
                f" If it was: is the column {each!r} called 'codes' there?"
                for each in misspelt_codes(grid.columns)
            ),
        )
    if not (asked.says_who or rater or asked.final):
        raise StudyError(
            "nothing says where the labels are",
            "Add --rater-columns GLOB, --pairs 'Evaluator*/Tag*', --rater NAME --code COL, or "
            "--final COL.",
        )
    if asked.final and not asked.item.count("{"):
        grid.require([asked.item, asked.final])  # both are named, if both are missing
    item = ItemRule.of(asked.item, grid)
    final, stratum, conflict = (
        grid.column(wanted) if wanted else ""
        for wanted in (asked.final, asked.stratum, asked.conflict)
    )
    taken = {*item.columns, final, stratum, conflict}
    shape = _shape(asked, grid, book, rater, taken)
    is_export = is_long(grid.columns) or is_wide(grid.columns)
    knows = is_export and item == ItemRule("", ("item",))
    return Layout(
        item, shape, final, stratum, conflict, url="url" if knows else "", is_exported=knows
    )


def _exported(asked: Asked, grid: Grid) -> Layout:
    """The columns of a sheet that `annotation export` wrote."""
    _refuse_idle(
        asked, ("comment", "final", "stratum", "conflict"),
        f"{grid.path}, which annotation export wrote: its columns are known",
    )  # fmt: skip
    item = ItemRule.of("item", grid)
    if is_long(grid.columns):
        _refuse_misspelt(grid)
        shape: Shape | None = Long(
            "rater", "codes", "comment", "proposed", "confidence", "labelled_at", "stage",
            "taxonomy_version",
        )  # fmt: skip
        return Layout(item, shape, "", "stratum", "", "stage", "url", is_exported=True)
    found = [grid.column(each) for each in raters_of(grid.columns)]  # none stands twice
    shape = RaterColumns(found, "stage") if found else None
    return Layout(item, shape, "final", "stratum", "", "stage", "url", is_exported=True)


def _refuse_misspelt(grid: Grid) -> None:
    """Refuse codes that stand beside the column for them, which is empty there."""
    for column in misspelt_codes(grid.columns):
        beside = [
            row.number
            for row in grid.rows
            if grid.cell(row, column).strip() and not grid.cell(row, "codes").strip()
        ]
        if beside:
            raise StudyError(
                f"{grid.path}:{beside[0]}: {counted(len(beside), 'row')} without a code: column "
                f"{column!r} is not read; did you mean 'codes'?",
                "Write the codes into the column 'codes'. Nothing was stored.",
            )


def _refuse_idle(asked: Asked, names: Sequence[str], where: str) -> None:
    """Refuse options that would do nothing: whoever wrote them expects something."""
    idle = [f"--{name.replace('_', '-')}" for name in names if getattr(asked, name)]
    if idle:
        raise StudyError(
            f"{' and '.join(idle)} would do nothing with {where}",
            "Leave it out, or see which go together: annotation import --help",
        )


def _shape(asked: Asked, grid: Grid, book: Codebook, rater: str, taken: set[str]) -> Shape | None:
    name = asked.rater or rater
    ways = {
        "--rater-columns": asked.rater_columns,
        "--pairs": asked.pairs,
        "--rater": name,
        "--rater-column": asked.rater_column,
    }
    chosen = [way for way, value in ways.items() if value]
    if len(chosen) > 1:
        raise StudyError(f"{' and '.join(chosen)} exclude each other", "Choose one of them.")
    if asked.rater and rater:
        raise StudyError(
            f"{rater}={grid.path} names the rater, and so does --rater {asked.rater}",
            "Leave --rater out, or write the file without a name.",
        )
    idle = {
        "--rater-columns": ("code", "codes_from", "comment"),
        "--pairs": ("code", "codes_from", "comment"),
        "--rater-column": ("codes_from",),
        "--final alone": () if asked.code or asked.codes_from else ("comment",),
    }
    way = chosen[0] if chosen else "--final alone"
    _refuse_idle(asked, idle.get(way, ()), way)
    if asked.rater_columns:
        return RaterColumns.of(asked.rater_columns, grid, taken)
    if asked.pairs:
        return Pairs.of(asked.pairs, grid)
    code = grid.column(asked.code) if asked.code else ""
    comment = grid.column(asked.comment) if asked.comment else ""
    if asked.rater_column:
        if not code:
            raise StudyError("--rater-column names who, but not what", "Add --code COL.")
        return Long(grid.column(asked.rater_column), code, comment)
    if not name:
        if code or asked.codes_from:
            raise StudyError(
                f"whose labels are in {grid.path}?",
                "Add --rater NAME, or write the file as NAME=FILE.",
            )
        return None
    if not (code or asked.codes_from):
        raise StudyError(
            f"where are the codes of {name!r}?", "Add --code COL, or --codes-from 'COL=Yes:CODE'."
        )
    meant = [CodeFrom.of(text, grid, book) for text in asked.codes_from]
    return OneRater(name, code, meant, comment)


def named_files(files: Sequence[str]) -> Mapping[Path, str]:
    """Files with their raters: `NAME=FILE` names one."""
    found: dict[Path, str] = {}
    for text in files:
        name, separator, rest = text.partition("=")
        if separator and rest and not Path(text).exists():
            path, rater = Path(rest), name.strip()
        else:
            path, rater = Path(text), ""
        if path.resolve() in {each.resolve() for each in found}:
            raise StudyError(
                f"{path} is given twice", "Each file once; a file of its own for each rater."
            )
        found[path] = rater
    return found

"""Sheets for a discussion or a third rater: written without names, read when filled in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.annotation.labels import NEW_CODE
from faultatlas.annotation.settling.queue import named, said
from faultatlas.annotation.settling.situation import letters
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded

if TYPE_CHECKING:
    from faultatlas.annotation.settling.queue import Case
    from faultatlas.annotation.settling.situation import Situation
    from faultatlas.data.taxonomy import Taxonomy

ITEM, FINAL, COMMENT = "item", "final", "comment"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a row of a filled-in sheet says."""

    item_id: str
    codes: tuple[str, ...]
    comment: str | None
    place: str


@dataclass(frozen=True)
class Outcomes:
    """What a filled-in sheet says."""

    settled: tuple[Outcome, ...]
    empty: int  # rows without a final code
    waiting: int  # rows that say that a code must be made first


def write_template(cases: list[Case], situation: Situation, path: Path) -> None:
    """The open items, hardest first, with what raters said and room for the final code."""
    from faultatlas.annotation.sheets.exporting import Exported, write_sheet

    most = max((len(case.voices) for case in cases), default=0)
    columns = (
        ITEM, "url", "title", *map(letters, range(most)), "remarks", FINAL, COMMENT,
    )  # fmt: skip
    rows = []
    for case in cases:
        labels = [said(voice, situation.taxonomy) for _, voice in case.voices]
        remarks = [f"{name}: {voice.comment}" for name, voice in case.voices if voice.comment]
        remarks = [case.before, *remarks] if case.before else remarks
        rows.append((
            case.about.item_id, case.about.url, case.about.title,
            *labels, *[""] * (most - len(labels)), "\n".join(remarks), "", "",
        ))  # fmt: skip
    write_sheet(Exported(columns, tuple(rows)), path)


def _as_shown(taxonomy: Taxonomy) -> dict[str, str]:
    """Codes with their names: as the sheet shows labels, which may be copied."""
    return {
        folded(named(frozenset((node.code,)), taxonomy)): node.code for node in taxonomy.selectable
    }


def read_outcomes(path: Path, situation: Situation) -> Outcomes:
    """Read a filled-in sheet; every wrong cell is named with its row, all at once."""
    from faultatlas.annotation.sheets.codes import Codebook
    from faultatlas.annotation.sheets.problems import listed
    from faultatlas.data.sheets import read_sheet

    grid = read_sheet(path)
    item_column, final_column = grid.require([ITEM, FINAL])
    comment_column = next((name for name in grid.columns if name.lower() == COMMENT), None)
    book = Codebook(situation.taxonomy, _as_shown(situation.taxonomy))
    found: dict[str, Outcome] = {}
    problems: list[str] = []
    empty = waiting = 0
    for row in grid.rows:
        place = f"{path}:{row.number}"
        try:
            item = grid.cell(row, item_column).strip()
            comment = grid.cell(row, comment_column).strip() if comment_column else ""
        except StudyError as error:
            problems.append(f"{place}: {error.message}")
            continue
        if item not in situation.items:
            problems.append(f"{place}: {item!r} is no item of round {situation.round.name}")
            continue
        meant = book.of_cell(grid, row, final_column)
        problems += [f"{place}: {error}" for error in book.taken_errors()]
        if meant is None:
            empty += 1
            continue
        if NEW_CODE in meant.codes:
            waiting += 1
            continue
        if situation.round.choice == "single" and len(meant.codes) > 1:
            problems.append(f"{place}: {item} has several final codes, the round asks for one")
        outcome = Outcome(item, tuple(sorted(meant.codes)), comment or None, grid.place(row))
        if found.setdefault(item, outcome).codes != outcome.codes:
            problems.append(f"{place}: {item} has another final code in {found[item].place}")
    if problems:
        raise StudyError(
            listed(problems),
            f"Mend the sheet; the codes: annotation taxonomy show {situation.taxonomy.name}. "
            "Nothing was stored.",
        )
    return Outcomes(tuple(found.values()), empty, waiting)

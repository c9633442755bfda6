"""Reads sheets of places: which code a paper has, how far it says so, where, in which words."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from faultatlas.annotation.rounds import checked_name
from faultatlas.annotation.screening.paper_names import PaperNames
from faultatlas.data.errors import StudyError
from faultatlas.data.evidence import Support
from faultatlas.data.sheets import read_sheet
from faultatlas.report.formatting import plain

if TYPE_CHECKING:
    from faultatlas.data.sheets import Row
    from faultatlas.data.sheets import Sheet as Grid
    from faultatlas.data.taxonomy import Taxonomy
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

SUPPORTS: tuple[str, ...] = get_args(Support)
WITHDRAWN = "withdrawn"  # instead of a support: the place is no more
LONGEST_QUOTE = 1_000  # characters: the words that bear a code out, not the paper
_LONGEST_PLACE = 200
_NEEDED = ["paper", "taxonomy", "code"]


@dataclass(frozen=True, slots=True)
class Place:
    """A row: a code of a paper, and where the paper says so."""

    row: int
    paper: str
    taxonomy: str
    code: str
    support: str  # "" where the row is about the code only
    place: str
    quote: str | None
    rater: str
    origin: str


@dataclass
class PlaceSheet:
    """What a sheet says, and what is wrong with it."""

    places: list[Place] = field(default_factory=list)
    problems: dict[int, str] = field(default_factory=dict)  # by the number of the row
    rows: int = 0


def read_places(
    path: Path, names: PaperNames, library: TaxonomyLibrary, rater: str, *, with_codes: bool
) -> PlaceSheet:
    """Read a sheet; a row that is wrong is noted with its number, and the others are kept.

    Where codes are taken as well, a row may be about its code only.
    """
    grid = read_sheet(path)
    columns = dict(zip(_NEEDED, grid.require(_NEEDED), strict=True))
    for name in ("support", "place", "quote", "rater"):
        if not with_codes and name in {"support", "place"}:
            columns[name] = grid.column(name)
        else:
            columns[name] = next((each for each in grid.columns if each.lower() == name), "")
    sheet = PlaceSheet()
    taxonomies: dict[str, Taxonomy] = {}
    for row in grid.rows:
        sheet.rows += 1
        try:
            cells = {name: _cell(grid, row, column) for name, column in columns.items()}
            taxonomy = taxonomies.setdefault(cells["taxonomy"], library.taxonomy(cells["taxonomy"]))
            sheet.places.append(
                Place(
                    row.number,
                    names.find(cells["paper"]),
                    taxonomy.name,
                    _code(grid, row, columns["code"], taxonomy),
                    *_said(cells, with_codes=with_codes),
                    checked_name(cells["rater"] or rater, "rater"),
                    grid.place(row),
                )
            )
        except StudyError as error:
            sheet.problems[row.number] = error.message
    return sheet


def _said(cells: dict[str, str], *, with_codes: bool) -> tuple[str, str, str | None]:
    """Support, place and quote."""
    support, place, quote = cells["support"].lower(), cells["place"], cells["quote"]
    if with_codes and not (support or place or quote):
        return "", "", None
    if support not in (*SUPPORTS, WITHDRAWN):
        raise StudyError(
            f"{_short(support)} is no support: it is {', '.join(SUPPORTS)}, or {WITHDRAWN}"
        )
    if not place:
        raise StudyError("no place is named: section, page or line")
    for text, longest, called in (
        (place, _LONGEST_PLACE, "place"),
        (quote, LONGEST_QUOTE, "quote"),
    ):
        if len(text) > longest:
            raise StudyError(
                f"the {called} has {len(text):,} characters, more than {longest:,}: give less of it"
            )
    return support, place, quote or None


def _code(grid: Grid, row: Row, column: str, taxonomy: Taxonomy) -> str:
    text = _on_one_line(grid.code_cell(row, column, (node.code for node in taxonomy.nodes)))
    code = taxonomy.find(text)
    if code is None:
        raise StudyError(
            f"{_short(text)} is no code of {taxonomy.name}: annotation taxonomy show "
            f"{taxonomy.name}"
        )
    return code


def _cell(grid: Grid, row: Row, column: str) -> str:
    return _on_one_line(grid.cell(row, column)) if column else ""


def _on_one_line(text: str) -> str:
    """With what could deceive a reader made visible."""
    return " ".join(plain(text).split())


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")

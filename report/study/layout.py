"""Where everything of a report stands: numbers, anchors and files, the same for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from faultatlas.data.old.results import Claim, Figure, Table
from faultatlas.report.formatting import file_stem
from faultatlas.report.sections import Point, Section, checklist, threats

STUDY, RESULTS = "study", "results"  # folders of the report


@dataclass(frozen=True)
class Placed:
    """A table or a figure: its number in the report, its anchor, and its files without suffix."""

    number: int
    anchor: str
    file: str


@dataclass(frozen=True)
class PlacedTable(Placed):
    """A table and its place."""

    table: Table


@dataclass(frozen=True)
class PlacedFigure(Placed):
    """A figure and its place."""

    figure: Figure


@dataclass(frozen=True)
class PlacedClaim:
    """A claim and its anchor."""

    claim: Claim
    anchor: str


@dataclass(frozen=True)
class PlacedPoint:
    """A point and its anchor."""

    point: Point
    anchor: str


@dataclass(frozen=True)
class PlacedSection:
    """A section or a part of one, with all that is in it."""

    section: Section
    anchor: str
    claims: tuple[PlacedClaim, ...]
    points: tuple[PlacedPoint, ...]
    tables: tuple[PlacedTable, ...]
    figures: tuple[PlacedFigure, ...]
    parts: tuple[PlacedSection, ...]

    def flat(self) -> Iterator[PlacedSection]:
        """The section, then its parts."""
        yield self
        yield from self.parts


@dataclass
class _Counters:
    tables: int = 0
    figures: int = 0
    anchors: set[str] = field(default_factory=set)

    def anchor(self, wanted: str) -> str:
        """An anchor that no other has; without what an address would break at."""
        plain = re.sub(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+", "-", wanted) or "x"
        name, again = plain, 2
        while name in self.anchors:
            name, again = f"{plain}-{again}", again + 1
        self.anchors.add(name)
        return name


def placed(sections: Sequence[Section]) -> list[PlacedSection]:
    """The sections with numbers, anchors and files."""
    counters = _Counters()
    counters.anchors.add("content")
    # Sections and parts first: links lead to them by their keys.
    names = {
        id(each): counters.anchor(each.key)
        for section in sections
        for each in (section, *section.parts)
    }
    return [_placed(section, names, counters) for section in sections]


def everything(sections: Iterable[PlacedSection]) -> Iterator[PlacedSection]:
    """All sections and parts, in their order."""
    for each in sections:
        yield from each.flat()


@dataclass(frozen=True)
class Glance:
    """What a reader who has a minute is told of a part."""

    title: str
    anchor: str
    text: str


def glance(sections: Sequence[PlacedSection]) -> list[Glance]:
    """The first sentence of every result, then how sure one can be; nothing without results."""
    results = [part for each in sections for part in each.parts if part.section.result]
    rest = [each for each in sections if each.section.key in {threats.KEY, checklist.KEY}]
    return [
        Glance(each.section.title, each.anchor, each.section.text[0])
        for each in (*results, *rest)
        if results and each.section.text
    ]


def _placed(section: Section, names: dict[int, str], counters: _Counters) -> PlacedSection:
    folder = (
        f"{RESULTS}/{file_stem(section.result)}/" if section.result else f"{STUDY}/{section.key}-"
    )
    figures, tables = [], []
    for figure in section.figures:
        counters.figures += 1
        anchor = counters.anchor(f"figure-{counters.figures}")
        file = folder + file_stem(figure.name)
        figures.append(PlacedFigure(counters.figures, anchor, file, figure))
    for table in section.tables:
        counters.tables += 1
        anchor = counters.anchor(f"table-{counters.tables}")
        file = folder + file_stem(table.name)
        tables.append(PlacedTable(counters.tables, anchor, file, table))
    return PlacedSection(
        section,
        names[id(section)],
        tuple(PlacedClaim(claim, counters.anchor(claim.claim_id)) for claim in section.claims),
        tuple(
            PlacedPoint(point, counters.anchor(f"{section.key}-{point.key}"))
            for point in section.points
        ),
        tuple(tables),
        tuple(figures),
        tuple(_placed(part, names, counters) for part in section.parts),
    )

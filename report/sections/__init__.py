"""The report of a study in sections: one file a section, found by discovery.

A section is a pure function of the study: `POSITION` says where it stands, and
`section(material)` gives it, or None where the study has nothing to tell. How it is shown is the
business of `faultatlas.report.study`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultatlas.data.old.results import Claim, Figure, Result, Table

if TYPE_CHECKING:
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class Point:
    """A remark: what the data show, what follows, and the command that helps."""

    key: str
    title: str
    text: str
    command: str = ""


@dataclass(frozen=True)
class Section:
    """A section; `key` is its anchor and part of the names of its files."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    points: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    parts: tuple[Section, ...] = ()
    result: str = ""  # of a part that shows a stored result: its name
    headlines: int | None = None  # claims of it that are shown large


@dataclass(frozen=True)
class Material:
    """What sections are made of: the open study, its stored results, and those that are shown."""

    reader: Reader
    results: Sequence[Result]
    shown: Sequence[str] = ()  # names of results; none means all
    failed: dict[str, str] = field(default_factory=dict)  # why results cannot be computed again

    def of(self, analysis: str) -> list[Result]:
        """The results of an analysis."""
        return [each for each in self.results if each.analysis == analysis]

    def has(self, rows: str) -> bool:
        """Whether a query gives any row."""
        return bool(self.reader.rows(f"SELECT 1 FROM ({rows}) LIMIT 1"))


def sections(material: Material) -> list[Section]:
    """All sections that have something to tell, in their order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    kinds = sorted(
        (module for module in modules if hasattr(module, "POSITION")),
        key=lambda module: (module.POSITION, module.__name__),
    )
    found = (module.section(material) for module in kinds)
    return [each for each in found if each is not None]


def part_of(result: Result) -> Section:
    """A stored result as a part of a section."""
    return Section(
        key=f"result-{result.name}",
        title=result.title,
        text=result.summary,
        claims=result.claims,
        tables=result.tables,
        figures=result.figures,
        notes=result.notes,
        sources=result.sources,
        result=result.name,
        headlines=result.headlines,
    )

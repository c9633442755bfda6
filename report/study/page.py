"""The report as one HTML page: no network, and no script but a small one that sorts tables."""

from __future__ import annotations

import base64
import functools
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from faultatlas.data.old.results import Claim, Table
from faultatlas.report import figures, formatting, pages, tables
from faultatlas.report.figures import DOUBLE, SINGLE
from faultatlas.report.study.layout import (
    PlacedFigure,
    PlacedSection,
    PlacedTable,
    everything,
    glance,
)

PAGE = "index.html"

MOST_ROWS = 500  # of a table on the page; its file has them all
HEADLINES = 4  # claims of a result that are shown large

_TEMPLATES = Path(__file__).parents[1] / "templates"
_WIDTHS = {SINGLE: "PDF, one column", DOUBLE: "PDF, two columns"}


@dataclass(frozen=True)
class _Figure:
    title: str
    description: str
    svg: Markup
    narrow: Markup
    number: int
    anchor: str
    file: str
    pdfs: list[tuple[str, str]]


@dataclass(frozen=True)
class _Table:
    table: Table
    rows: int
    number: int
    anchor: str
    file: str


@dataclass(frozen=True)
class _Point:
    title: str
    text: str
    command: str
    anchor: str


@dataclass(frozen=True)
class _View:
    title: str
    anchor: str
    text: tuple[str, ...]
    cards: list[tuple[Claim, str]]
    claims: list[tuple[Claim, str]]
    points: list[_Point]
    figures: list[_Figure]
    tables: list[_Table]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    parts: list[_View]


def render(
    title: str,
    lead: Sequence[str],
    sections: Sequence[PlacedSection],
    drawings: Mapping[str, str],
    widths: Mapping[str, Sequence[str]],
) -> str:
    """The page; `drawings` are the SVGs by file, `widths` those that a figure was written in."""
    script = (_TEMPLATES / "sort.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    css = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            lead=lead,
            glance=glance(sections),
            views=[_view(each, drawings, widths) for each in sections],
            links={each.anchor: each.section.title for each in everything(sections)},
            script=Markup(script),  # noqa: S704  (our own file)
            script_hash=Markup(f"sha256-{digest}"),  # noqa: S704  (letters of base 64)
            report_css=Markup(css),  # noqa: S704  (our own file)
        )
    )


@functools.cache
def _environment() -> Environment:
    made = pages.environment().overlay()
    made.filters = {**made.filters, "trace": trace, "coded": _coded}
    return made


def trace(claim_id: str) -> str:
    """The command that shows the way back from a number, as it is typed."""
    return f"report trace {shlex.quote(formatting.plain(claim_id))}"


def _coded(text: str) -> Markup:
    """A sentence; what stands in backquotes is a command."""
    parts = formatting.plain(text).split("`")
    if len(parts) % 2 == 0:
        return Markup("{}").format(formatting.plain(text))
    code, plain = Markup("<code>{}</code>"), Markup("{}")
    return Markup("").join(
        (code if at % 2 else plain).format(each) for at, each in enumerate(parts)
    )


def _view(
    placed: PlacedSection, drawings: Mapping[str, str], widths: Mapping[str, Sequence[str]]
) -> _View:
    section = placed.section
    claims = [(each.claim, each.anchor) for each in placed.claims]
    return _View(
        title=section.title,
        anchor=placed.anchor,
        text=section.text,
        cards=claims[: section.headlines or HEADLINES] if section.result else [],
        claims=claims,
        points=[
            _Point(each.point.title, each.point.text, each.point.command, each.anchor)
            for each in placed.points
        ],
        figures=[_figure(each, drawings, widths) for each in placed.figures],
        tables=[_table(each, whole=bool(section.result)) for each in placed.tables],
        notes=section.notes,
        sources=section.sources,
        parts=[_view(each, drawings, widths) for each in placed.parts],
    )


def _figure(
    placed: PlacedFigure, drawings: Mapping[str, str], widths: Mapping[str, Sequence[str]]
) -> _Figure:
    figure = placed.figure
    pdfs = [(_WIDTHS[width], f"{placed.file}-{width}.pdf") for width in widths[placed.file]]
    svg = pages.inline(figure, drawings[placed.file], placed.anchor)
    narrow = pages.inline(figure, figures.narrow_svg(figure), f"{placed.anchor}-narrow")
    return _Figure(
        figure.title, figure.description, svg, narrow, placed.number, placed.anchor, placed.file,
        pdfs,
    )  # fmt: skip


def _table(placed: PlacedTable, *, whole: bool) -> _Table:
    """As a reader sees it; what is aside in a table of the study itself is in its files."""
    table = tables.readable(placed.table if whole else placed.table.narrow())
    rows = len(table.rows)
    if rows > MOST_ROWS:
        told = f"The first {MOST_ROWS} of {formatting.count(rows)} rows; the CSV file has all."
        note = " ".join(filter(None, (table.note, told)))
        table = replace(table, rows=table.rows[:MOST_ROWS], note=note, folded=True)
    return _Table(table, rows, placed.number, placed.anchor, placed.file)

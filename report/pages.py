"""The page of a result: one HTML file that needs no network and no script.

Everything that a result says may have been written by a stranger. So all of it is
escaped, in one place, and the page's own policy forbids whatever could load or run.
How numbers look is `formatting`'s business, how the page looks that of its template.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import urlize
from markupsafe import Markup

from faultatlas.data.errors import StudyError
from faultatlas.data.files import replace_folder
from faultatlas.data.old.results import Cell, Claim, Column, Figure, Result, Table
from faultatlas.report import figures, formatting, tables
from faultatlas.report.formatting import NUMERIC_KINDS, file_stem
from faultatlas.report.inks import PART_INKS

PAGE = "report.html"

# A reader takes in this many numbers at a glance; the table below the cards has them all.
HEADLINES = 8

# A status is told by a sign and its words, so that no reader depends on its colour.
SIGNS = {
    "reproduced": "✓",
    "consistent": "✓",
    "near": "≈",
    "not reproduced": "✗",
    "does not follow": "✗",
    "inconsistent": "≠",
    "no data": "∅",
    "cannot be checked": "∅",
}
STATE_SIGNS = {"filled": "✓", "partly": "◐", "missing": "✗", "not applicable": "∅"}

# Characters of a cell that a page shows.
LONGEST_CELL = 600

# A figure may grow on a wide screen, and scrolls on a narrow one before its type gets small.
LEAST_SCALE, MOST_SCALE = 0.92, 1.3

_TEMPLATES = Path(__file__).parent / "templates"


def write_result(result: Result, folder: Path, *, draw: bool = True) -> Path:
    """Write figures, tables and `report.html`, and return the page's path.

    Without `draw` there are no figures, neither on the page nor as files.

    The folder is replaced as a whole: an interrupted run leaves the earlier report as it
    was, a finished one leaves nothing of it but what others put there.
    """
    _check_names(result)
    with replace_folder(folder, _files_of_earlier_run) as new:
        tables.write_tables(result, new)
        shown = result if draw else replace(result, figures=())
        drawings = {figure.name: figures.save(figure, new)[0] for figure in shown.figures}
        svgs = {name: path.read_text(encoding="utf-8") for name, path in drawings.items()}
        narrow = {figure.name: figures.narrow_svg(figure) for figure in shown.figures}
        (new / PAGE).write_text(render(shown, svgs, narrow), encoding="utf-8", newline="\n")
    return folder / PAGE


def render(
    result: Result, figure_svgs: Mapping[str, str], narrow_svgs: Mapping[str, str] | None = None
) -> str:
    """The page, with the drawings of `figures.save`; a figure without one is told in words.

    A phone shows the narrow drawing of a figure, if there is one.
    """
    _check_names(result)
    template = environment().get_template("result.html.j2")
    narrow = narrow_svgs or {}
    return template.render(
        result=replace(result, tables=tuple(map(tables.readable, result.tables))),
        figures=[
            _drawn(figure, figure_svgs.get(figure.name, ""), narrow.get(figure.name, ""))
            for figure in result.figures
        ],
        parameters=[(name, _worded(value)) for name, value in sorted(result.parameters.items())],
    )


# --- names and files -----------------------------------------------------------------


def _check_names(result: Result) -> None:
    """Names become paths and anchors, so that each must be safe and there only once."""
    for kind, things in (("tables", result.tables), ("figures", result.figures)):
        # Some file systems hold "Faults" and "faults" for the same.
        names = [file_stem(thing.name).casefold() for thing in things]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise StudyError(
                f"two {kind} of {formatting.plain(result.name)!r} are called {twice[0]!r}",
                "Give every table and figure of a result a name of its own.",
            )
    if any(table.name.casefold() == "claims" for table in result.tables):
        raise StudyError(
            f"a table of {formatting.plain(result.name)!r} is called 'claims'",
            f"Name it otherwise: {tables.CLAIMS_FILE} holds the result's claims.",
        )


def _files_of_earlier_run(folder: Path) -> set[str]:
    """What the result in the folder says it consists of; the folder may hold more."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return set()
    try:
        plain = json.loads((folder / tables.RESULT_FILE).read_text(encoding="utf-8"))
        earlier = Result.from_json(plain)
    except (OSError, ValueError, KeyError, TypeError) as error:
        # Most likely somebody's own folder, given by mistake.
        raise StudyError(
            f"{folder} holds files, but no report of ours",
            "Name an empty or a new folder, or remove its files yourself.",
        ) from error
    return {
        *(PAGE, tables.RESULT_FILE, tables.CLAIMS_FILE),
        *(f"{table.name}.{suffix}" for table in earlier.tables for suffix in ("csv", "tex")),
        *(f"{figure.name}.{suffix}" for figure in earlier.figures for suffix in ("svg", "pdf")),
    }


# --- figures -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    name: str
    title: str
    description: str
    svg: Markup
    narrow: Markup


def _drawn(figure: Figure, svg: str, narrow: str) -> _Drawn:
    drawings = inline(figure, svg, figure.name), inline(figure, narrow, f"{figure.name}-narrow")
    return _Drawn(figure.name, figure.title, figure.description, *drawings)


def inline(figure: Figure, svg: str, prefix: str) -> Markup:
    """The drawing as a part of the page: sized in its own points, named, ids with a prefix."""
    opening = re.search(r'<svg[^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"[^>]*>', svg)
    if not opening:
        return Markup()
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[opening.end() :], flags=re.DOTALL)
    # Several drawings on one page, all of which number their parts from one.
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", body)
    wide, tall = opening.groups()
    pixels = float(wide) * 4 / 3
    tag = Markup(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}" '
        'style="min-width:{:.0f}px;max-width:{:.0f}px">'
    ).format(
        wide,
        tall,
        formatting.plain(f"{figure.title}. {figure.description}"),
        LEAST_SCALE * pixels,
        MOST_SCALE * pixels,
    )
    return tag + Markup(body.strip())  # noqa: S704  (matplotlib drew it; letters are outlines)


# --- what the template asks ----------------------------------------------------------


@functools.cache
def environment() -> Environment:
    """Templates, with everything escaped and how values are written."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_made_visible,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "cell": formatting.cell,
        "count": formatting.count,
        "counts": formatting.counts,
        "measure": formatting.measure,
        "printed": formatting.printed,
        "interval": formatting.interval,
        "looks": _looks,
        "short": shortened,
        "sort_key": _sort_key,
        "whole": _whole,
        "parted": tables.parted,
        "key_column": _key_column,
        "scale": _scale,
        "linked": _linked,
    }
    css = (_TEMPLATES / "result.css").read_text(encoding="utf-8")
    fills = {name: ink.fill for name, ink in PART_INKS.items()}
    made.globals |= {
        "css": Markup(css),  # noqa: S704  (our own file)
        "headlines": HEADLINES,
        "signs": SIGNS | STATE_SIGNS,
        "fills": fills | {name.lower(): fill for name, fill in fills.items()},
    }
    return made


def _made_visible(value: Any) -> Any:
    """What every expression of the template passes through before it is escaped."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    # No line ends between a number and its percent sign.
    return re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", formatting.plain(value))


def shortened(text: str) -> str:
    """A cell that a page can hold; the file beside the table has the whole."""
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1].rstrip() + "…"


def _sort_key(value: Cell, kind: str) -> Markup:
    """By what a cell is sorted: its number, where its text would be another order."""
    if kind not in NUMERIC_KINDS or isinstance(value, str | bool) or value is None:
        return Markup()
    return Markup(' data-sort="{}"').format(repr(value))


def _whole(table: Table) -> Table:
    """All rows of a table in the columns that it is shown with."""
    groups = [part for _, part in table.groups()]
    if not groups:
        return table
    return replace(groups[0], rows=tuple(row for part in groups for row in part.rows))


def _looks(table: Table) -> list[str]:
    """The classes of the cells of each column; what is aside is left out on a phone."""
    return [
        _look(column, [row[i] for row in table.rows]) + " aside" * column.aside
        for i, column in enumerate(table.columns)
    ]


def _look(column: Column, values: Sequence[Cell]) -> str:
    if column.kind in NUMERIC_KINDS:
        return "right"
    if column.kind in {"code", "status"}:
        return "code" if column.kind == "code" else "nowrap"
    longest = max((len(formatting.cell(value)) for value in values), default=0)
    return "wide" if longest > 24 else "nowrap" if longest <= 14 else ""


def _key_column(table: Table) -> int:
    """The column that names a row: the first that is words, else the first."""
    words = (i for i, column in enumerate(table.columns) if column.kind in {"text", "code"})
    return next(words, 0)


@dataclass(frozen=True)
class _Scale:
    """Where the marks of an interval stand between 0 and `end`, in percent of its length."""

    end: str
    style: str
    printed: bool


def _scale(claim: Claim) -> _Scale | None:
    if claim.value is None or claim.low is None or claim.high is None:
        return None
    percent = formatting.is_percent(claim.unit)
    end = 100.0 if percent else 1.0
    marks = {"low": claim.low, "high": claim.high, "value": claim.value}
    if claim.printed is not None:
        marks["printed"] = claim.printed
    if not _all_within(marks.values(), end):
        return None
    style = ";".join(f"--{name}:{100 * value / end:.2f}%" for name, value in marks.items())
    return _Scale("100 %" if percent else "1", style, "printed" in marks)


def _all_within(values: Iterable[float], end: float) -> bool:
    return all(0 <= value <= end for value in values)


def _linked(text: str) -> Markup:
    """The text with its web addresses as links; other schemes stay words."""
    linked = urlize(formatting.plain(text), rel="noopener noreferrer")
    return Markup(linked)  # noqa: S704  (urlize escapes all but its own links)


def _worded(value: Any) -> str:
    """A parameter as a reader would write it."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float):
        return formatting.cell(value, "text") if not isinstance(value, float) else repr(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)

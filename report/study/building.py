"""`report build`: results computed again, their pages, and the report of the whole study."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.files import replace_folder
from faultatlas.data.old.results import Result, Table
from faultatlas.data.results import Result as Shown
from faultatlas.data.settings import read_settings
from faultatlas.data.study import Study
from faultatlas.report import figures, latex, tables
from faultatlas.report.claims import check
from faultatlas.report.command import command
from faultatlas.report.console import Console, explained
from faultatlas.report.formatting import counted, plain
from faultatlas.report.pages import shortened
from faultatlas.report.sections import Material, Section, sections, summary
from faultatlas.report.study import markdown, own, page, paper
from faultatlas.report.study.layout import RESULTS, STUDY, PlacedSection, everything, placed

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

REPORT = "report.json"
MARKDOWN = "report.md"
FOLDER = "report"  # in out/
UNTITLED = "Report of the study"

_MARK = "faultatlas report of a study"


@command("build")
def build_reports(
    study: Study,
    console: Console,
    results: Annotated[
        tuple[str, ...], Argument(metavar="RESULT", help="Results to show; without any, all.")
    ] = (),
    *,
    as_stored: Annotated[
        bool, Option("--as-stored", help="Compute nothing again; store nothing.")
    ] = False,
    out: Annotated[
        Path | None, Option(help="Folder of the report; else out/report of the study.")
    ] = None,
) -> Shown:
    """Compute the results again and write the report of the study: HTML, LaTeX, Markdown, data.

    A result that cannot be computed again is shown as stored, and the exit code is 1.

    Examples:

        report build

        report build coverage-gap --as-stored
    """
    built = build_report(study, results, as_stored=as_stored, out=out, console=console)
    missing = tuple(
        f"Could not recompute {plain(name)} ({plain(reason)}); the report shows the stored version."
        for name, reason in built.failed.items()
    )
    return Shown(
        "Report of the study",
        summary=tuple(_summary(built, verbose=console.verbose)),
        missing=missing,
        data={
            "report": str(built.page),
            "reports": [str(page) for page in built.results],
            "sections": built.sections,
            "claims": built.claims,
            "changed": built.changed,
            "new": built.new,
            "failed": built.failed,
        },
    )


def _summary(built: Built, *, verbose: bool) -> Iterator[str]:
    if built.changed:
        yield f"Updated: {', '.join(map(plain, built.changed))}."
        yield "Export numbers for LaTeX again: report claims export --latex FILE"
    if built.new:
        yield f"Stored for the first time: {', '.join(map(plain, built.new))}."
    if verbose:
        yield from (f"Result: {page}" for page in built.results)
    sections, claims = counted(len(built.sections), "section"), counted(built.claims, "claim")
    yield f"Report: {built.page} ({sections}, {claims})"


@dataclass(frozen=True)
class Built:
    """What was written."""

    page: Path
    results: list[Path]  # the pages of single results
    sections: list[str]
    claims: int
    changed: list[str] = field(default_factory=list)  # results with other numbers, tables or words
    failed: dict[str, str] = field(default_factory=dict)  # by name, why a result is shown as stored
    new: list[str] = field(default_factory=list)  # results stored for the first time


def build_report(
    study: Study,
    names: Sequence[str],
    *,
    as_stored: bool = False,
    out: Path | None = None,
    console: Console | None = None,
) -> Built:
    """Compute results again unless they are to stay as stored, and write everything."""
    from faultatlas.report.publish import build

    wanted = [] if as_stored else _stored(study, names)
    refreshed = check.refresh(study, wanted, console) if wanted else None
    failed = dict(refreshed.failed) if refreshed else {}
    changed = [result.name for result in refreshed.changed] if refreshed else []
    with study.reading() as reader:
        results = stored_results(reader)
        found = sections(Material(reader, results, tuple(names), failed))
        settings = read_settings(study.directory)
        has_own = own.NAME in provenance.names(reader)
    new: list[str] = []
    if not as_stored and _keep(study, own.own_numbers(found)):
        (changed if has_own else new).append(own.NAME)
    shown = list(names) or [result.name for result in results]
    pages = build(study, shown) if shown else []
    folder = out or study.directory / "out" / FOLDER
    try:
        written = write(settings.title or UNTITLED, found, folder, draw=settings.figures)
    except OSError as error:
        raise explained(error, folder) from error
    claims = sum(len(placed_section.claims) for placed_section in everything(placed(found)))
    return Built(written, pages, [section.title for section in found], claims, changed, failed, new)


def stored_results(reader: Reader) -> list[Result]:
    """All results in the order of their names, without the study's own numbers."""
    names = [name for name in provenance.names(reader) if name != own.NAME]
    return [provenance.latest(reader, name) for name in names]


def write(title: str, found: Sequence[Section], folder: Path, *, draw: bool = True) -> Path:
    """Write the report of these sections as a folder, and return its page."""
    lead, found = _led(found if draw else [_undrawn(section) for section in found])
    laid = placed(found)
    with replace_folder(folder, _files_of_earlier_run) as new:
        widths, drawings = _draw(laid, new)
        for each in everything(laid):
            for table in each.tables:
                _put(new / f"{table.file}.csv", tables.table_csv(table.table))
                text = latex.render(_printable(table.table), paper.label(table.file))
                _put(new / f"{table.file}.tex", text)
        claims = [claim.claim for each in everything(laid) for claim in each.claims]
        _put(new / tables.CLAIMS_FILE, tables.claims_csv(claims))
        _put(new / REPORT, _json(title, laid))
        _put(new / MARKDOWN, markdown.render(title, lead, laid))
        _put(new / paper.DOCUMENT, paper.render(title, lead, laid, widths))
        _put(new / page.PAGE, page.render(title, lead, laid, drawings, widths))
    return folder / page.PAGE


def _undrawn(section: Section) -> Section:
    """The section without figures, so that nothing in the report counts or names them."""
    parts = tuple(_undrawn(part) for part in section.parts)
    return replace(section, figures=(), parts=parts)


def _led(found: Sequence[Section]) -> tuple[tuple[str, ...], list[Section]]:
    """What stands at the top, which is the summary's first sentence, and the rest below it."""
    lead = next((each.text[:1] for each in found if each.key == summary.KEY), ())
    rest = [
        replace(each, text=each.text[1:]) if each.key == summary.KEY else each for each in found
    ]
    return lead, rest


def _stored(study: Study, names: Sequence[str]) -> list[str]:
    if names:
        return list(names)
    with study.reading() as reader:
        return [name for name in provenance.names(reader) if name != own.NAME]


def _keep(study: Study, now: Result) -> bool:
    """Store the study's own numbers, unless they are stored already; whether that was needed."""
    with study.reading() as reader:
        known = own.NAME in provenance.names(reader)
        if known and check.same(provenance.latest(reader, own.NAME).to_json(), now.to_json()):
            return False
    if not now.claims and not known:
        return False
    provenance.save(study, now, provenance.begin("report build", {}))
    return True


def _draw(
    laid: Sequence[PlacedSection], folder: Path
) -> tuple[dict[str, Sequence[str]], dict[str, str]]:
    """The figures as files; gives by file the widths of each, and the drawing for the page."""
    widths: dict[str, Sequence[str]] = {}
    drawings: dict[str, str] = {}
    for each in everything(laid):
        for figure in each.figures:
            place = folder / figure.file
            place.parent.mkdir(parents=True, exist_ok=True)
            named = replace(figure.figure, name=place.name)
            widths[figure.file] = figures.save_for_paper(named, place.parent)
            drawings[figure.file] = figures.save_svg(named, place.parent)
    return widths, drawings


def _printable(table: Table) -> Table:
    """The table for a paper, which has no room for empty columns and whole texts of strangers."""
    table = tables.filled(table)
    rows = tuple(
        tuple(shortened(cell) if isinstance(cell, str) else cell for cell in row)
        for row in table.rows
    )
    return replace(table, rows=rows, title=shortened(table.title), note=shortened(table.note))


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Half a surrogate pair, which broken sources deliver, has no bytes in UTF-8.
    path.write_bytes(text.encode("utf-8", errors="backslashreplace"))


def _json(title: str, laid: Sequence[PlacedSection]) -> str:
    sections_json = [asdict(each.section) for each in laid]
    return tables.plain_json({"kind": _MARK, "title": title, "sections": sections_json})


def _files_of_earlier_run(folder: Path) -> set[str]:
    """What a report of a study consists of; its two folders are replaced as a whole."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return set()
    try:
        earlier: Any = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        ours = isinstance(earlier, dict) and earlier.get("kind") == _MARK
    except (OSError, ValueError):
        ours = False
    if not ours:
        raise StudyError(
            f"{folder} holds files, but no report of a study",
            "Name an empty or a new folder with --out, or remove its files yourself.",
        )
    return {page.PAGE, REPORT, MARKDOWN, paper.DOCUMENT, tables.CLAIMS_FILE, STUDY, RESULTS}

"""From a fresh result to what a user sees: stored, written to `out/`, shown on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import TemplateError

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.data.provenance import Run, program_version
from faultatlas.data.settings import read_settings
from faultatlas.data.study import Study
from faultatlas.report.console import explained
from faultatlas.report.formatting import file_stem, plain
from faultatlas.report.old.console import Output
from faultatlas.report.pages import PAGE, write_result
from faultatlas.report.tables import (
    CLAIMS_FILE,
    RESULT_FILE,
    console_table,
    plain_json,
    result_json,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

# What comes of content that another version wrote, or a hand: fields that are missing, strange
# or of another type.
_STRANGE = (LookupError, TypeError, ValueError, AttributeError, TemplateError)


def publish(study: Study, result: Result, run: Run, *, keep: bool = False) -> Path:
    """Store a result and write its report; returns the page.

    A run whose report could not be written has stored its result all the same: it is partial; one
    that was killed while it wrote never ended. With `keep`, what this version has stored and
    written already is left as it is.
    """
    folder = folder_of(study, result.name)
    if keep and _stands(study, result, folder):
        with study.writing() as writer:
            provenance.record(writer, run, "ok")
        return folder / PAGE
    provenance.save(study, result, run, "running")
    try:
        page = write_result(result, folder, draw=_draws(study))
    except BaseException as error:
        # A disk that is full may not take this either; the first error is the one to tell.
        with suppress(StudyError), study.writing() as writer:
            provenance.record(writer, run, "partial")
        if isinstance(error, OSError | StudyError):
            raise _only_stored(error, result.name, folder) from error
        raise
    with study.writing() as writer:
        provenance.record(writer, run, "ok")
    return page


def build(study: Study, names: Sequence[str]) -> list[Path]:
    """Write the reports of stored results again, of all if none is named; returns the pages."""
    with study.reading() as reader:
        results = []
        for name in list(names) or provenance.names(reader):
            with _named(name):
                results.append(provenance.latest(reader, name))
    folders = [folder_of(study, result.name) for result in results]
    draw, pages = _draws(study), []
    for result, folder in zip(results, folders, strict=True):
        with _named(result.name):
            try:
                pages.append(write_result(result, folder, draw=draw))
            except OSError as error:
                raise explained(error, folder) from error
    return pages


def _draws(study: Study) -> bool:
    return read_settings(study.directory).figures


def _stands(study: Study, result: Result, folder: Path) -> bool:
    """Whether the newest result of the name is this one, of this version, and its report whole."""
    text = result_json(result)
    names = [PAGE, CLAIMS_FILE]
    names += [f"{table.name}.{end}" for table in result.tables for end in ("csv", "tex")]
    if _draws(study):
        names += [f"{figure.name}.{end}" for figure in result.figures for end in ("svg", "pdf")]
    try:
        if (folder / RESULT_FILE).read_text(encoding="utf-8") != text:
            return False
    except (OSError, UnicodeError):
        return False
    if not all((folder / name).is_file() for name in names):
        return False
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT content, version FROM results JOIN runs USING (run_id) "
            "WHERE result = ? AND is_latest",
            [result.name],
        )
    # The file may be one that was copied here: the study must have stored the same.
    return any(
        row["version"] == program_version() and plain_json(json.loads(row["content"])) == text
        for row in rows
    )


def folder_of(study: Study, name: str) -> Path:
    """Where the report of a result stands."""
    return study.directory / "out" / file_stem(name)


def show(output: Output, result: Result, page: Path, first: Sequence[RenderableType] = ()) -> None:
    """Print a result: JSON if asked for, else its summary, its open tables and its page.

    Who asks for more gets every table with every column that fits, and the notes. `first` stands
    above the tables.
    """
    output.document(
        {
            "analysis": result.analysis,
            "result": result.name,
            "version": program_version(),
            "parameters": result.parameters,
            **result.document,
            "claims": [vars(claim) for claim in result.claims],
            "notes": list(result.notes),
            "report": str(page),
        }
    )
    output.show(result.title, "", *result.summary)
    output.show(*(["", *first] if first else ()))
    for table in result.tables:
        if output.verbose or not table.folded:
            output.show("", console_table(table, with_aside=output.verbose))
    if output.verbose:
        output.show("", "Notes", *(f"- {note}" for note in result.notes))
    output.show("", f"Report: {page}")


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Content that cannot be read or drawn is the fault of this result."""
    try:
        yield
    except _STRANGE as error:
        raise StudyError(
            f"the stored result {plain(name)!r} cannot be rendered "
            f"({type(error).__name__}: {plain(error)})",
            "Another version may have written it: run its analysis again. Name the others to "
            "render them: report build NAME",
        ) from error


def _only_stored(error: OSError | StudyError, name: str, folder: Path) -> StudyError:
    then = f"write the report with: report build {name}"
    if isinstance(error, OSError):
        cause = explained(error, folder, then)
    else:
        cause = StudyError(error.message, f"{error.hint} Then {then}.")
    return StudyError(f"the result is stored, its report is not: {cause.message}", cause.hint)

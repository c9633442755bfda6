"""From a fresh result to what a user sees: stored, written to `out/`, shown on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from data import result_store
from data.provenance import Run, program_version
from data.results import Result
from data.store import Study
from report.console import Output
from report.pages import write_result
from report.tables import console_table


def publish(study: Study, result: Result, run: Run) -> Path:
    """Store a result and write its report; returns the page."""
    result_store.save(study, result, run)
    return write_result(result, folder_of(study, result.name))


def build(study: Study, names: Sequence[str]) -> list[Path]:
    """Write the reports of stored results again, of all if none is named; returns the pages."""
    with study.reading() as reader:
        wanted = list(names) or result_store.names(reader)
        results = [result_store.latest(reader, name) for name in wanted]
    return [write_result(result, folder_of(study, result.name)) for result in results]


def folder_of(study: Study, name: str) -> Path:
    """Where the report of a result stands."""
    return study.directory / "out" / name


def show(output: Output, result: Result, page: Path) -> None:
    """Print a result: JSON if asked for, else its summary, its open tables and its page."""
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
    for table in result.tables:
        if not table.folded:
            output.show("", console_table(table))
    output.show("", f"Report: {page}")

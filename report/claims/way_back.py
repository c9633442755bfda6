"""The way back from a number, as a terminal shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.data.old.results import Cell, Claim, Column, Table
from faultatlas.report import formatting
from faultatlas.report.claims.checking import number
from faultatlas.report.tables import console_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from faultatlas.report.tracing import Trace

_LONGEST = 60  # letters of a cell
_LONGEST_LINE = 400
# What of rows and origins is shown first; JSON has all columns.
_FIRST = ("bug_id", "artifact_id", "item_id", "round", "rater", "code", "origin", "place", "url",
          "status", "fetched_at", "run_id")  # fmt: skip
_WIDEST = 6
_TITLES = {
    "responses": "Answers of sources",
    "git_walks": "Walks through repositories",
    "dumps": "Dumps",
    "labels": "Where labels were given",
    "items": "Where items stand in sheets",
    "files": "Files of packages",
    "executions": "Runs of bugs",
}


def shown(trace: Trace) -> Iterator[RenderableType]:
    """Lines and tables, from the number to what the sources answered."""
    claim = trace.claim
    fields = {name: claim[name] for name in Claim.__dataclass_fields__}
    yield f"{claim['claim_id']}: {number(Claim(**fields))}"
    yield f"  {claim['statement']}"
    if claim["printed"] is not None:
        printed = formatting.printed(claim["printed"], claim["unit"])
        yield f"  printed {printed}: {claim['status'] or 'for comparison'} ({claim['reason']})"
    if claim["method"]:
        yield f"  method: {claim['method']}"
    yield f"  in LaTeX: \\{trace.command}"
    yield ""
    result = trace.result
    yield f"Result: {result['result']} ({result['title']})"
    given = _short(_arguments(result["parameters"]), _LONGEST_LINE)
    with_what = f" with {given}" if result["parameters"] else ""
    yield f"  analysis {result['analysis']}{with_what}"
    yield f"  computed by {_told_run(trace.run)}"
    yield f"  field {claim['query']}"
    yield ""
    yield from _rows(trace)
    for name, found in trace.origins.items():
        yield ""
        yield console_table(_table(name, _TITLES[name], found.count, found.first))
    if trace.never_mined:
        yield ""
        yield (
            f"{formatting.counted(trace.never_mined, 'artifact')} "
            f"{'is' if trace.never_mined == 1 else 'are'} known by id only: never mined, no text."
        )
    if trace.sources:
        yield ""
        yield "Cited:"
        yield from (f"- {source}" for source in trace.sources)


def _rows(trace: Trace) -> Iterator[RenderableType]:
    if trace.problem:
        yield f"Rows: they cannot be listed: {trace.problem}"
    elif trace.rows is None:
        yield "Rows: none of this study; the number is made of shipped facts, cited below."
    else:
        yield f"Rows: {trace.claim['rows_query']}"
        yield console_table(_table("rows", "Rows behind it", trace.rows.count, trace.rows.first))
    if trace.runs:
        yield ""
        yield console_table(_runs(trace.runs))


def _runs(runs: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        "runs",
        "Written by",
        (
            Column("run_id", "Run"),
            Column("command", "Command"),
            Column("arguments", "With"),
            Column("version", "Version"),
            Column("rows", "Rows", "count"),
        ),
        tuple(
            (
                run["run_id"],
                run["command"],
                _short(_arguments(run["arguments"])),
                run["version"],
                run["rows"],
            )
            for run in runs
        ),
    )


def _table(name: str, title: str, count: int, rows: Sequence[Mapping[str, Any]]) -> Table:
    behind = "" if len(rows) == count else f", the first {len(rows):,}"
    names = list(rows[0]) if rows else []
    wanted = [each for each in _FIRST if each in names]
    kept = (wanted + [each for each in names if each not in wanted])[:_WIDEST]
    return Table(
        name,
        f"{title}: {formatting.count(count)}{behind}",
        tuple(Column(each, each) for each in kept),
        tuple(tuple(_cell(row[each]) for each in kept) for row in rows),
    )


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, bool | int | float):
        return value
    return _short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _told_run(run: Mapping[str, Any]) -> str:
    if "command" not in run:
        return f"run {run['run_id']}"
    when = formatting.minute(run["started_at"])
    return f"run {run['run_id']}: {run['command']}, version {run['version']}, {when}"


def _arguments(given: Mapping[str, Any]) -> str:
    said = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
    )
    return ", ".join(said) or "nothing"

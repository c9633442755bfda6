"""`report trace`: from a number to its result, its rows, the runs that wrote them, and what the
sources answered.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from faultatlas.data import queries
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim
from faultatlas.data.old.results import Result as StoredResult
from faultatlas.data.results import Cell, Column, Listing, Result
from faultatlas.data.study import Reader, Study
from faultatlas.report import formatting
from faultatlas.report.claims.check import number
from faultatlas.report.claims.export import PREFIX, command_names, find_claim, require_prefix
from faultatlas.report.command import command

_RUN = "run_id, command, arguments, version, started_at, ended_at, outcome"
_RESPONSES = "SELECT response_id, source, kind, url, status, fetched_at, run_id FROM responses"
_LONGEST = 60  # letters of a cell
_LONGEST_LINE = 400
# Columns that are shown first; JSON has all.
_FIRST = ("bug_id", "artifact_id", "item_id", "round", "rater", "code", "origin", "place", "url",
          "status", "fetched_at", "run_id")  # fmt: skip
_WIDEST = 6
_TITLES = {
    "responses": "Responses of sources",
    "git_walks": "Readings of repositories",
    "dumps": "Dumps",
    "labels": "Where labels were given",
    "items": "Where items are in sheets",
    "files": "Files of packages",
    "executions": "Runs of bugs",
}


@command("trace")
def trace_claim(
    study: Study,
    claim: Annotated[
        str, Argument(metavar="ID", help="A claim: its id, the start of it, or its command.")
    ],
    *,
    rows: Annotated[int, Option(min=0, max=10_000, help="Rows of each kind to show.")] = 5,
    prefix: Annotated[
        str, Option(help="First letters of the names of the LaTeX commands.")
    ] = PREFIX,
) -> Result:
    """Trace a number back to its rows, the runs that wrote them and their sources.

    Examples:

        report trace coverage-gap.faults.untargeted

        report trace FAcoverageGapFaultsUntargeted --rows 20 --json
    """
    require_prefix(prefix)
    found = trace(study, claim, most=rows, prefix=prefix)
    return Result(
        f"Trace of {found.claim['claim_id']}",
        summary=tuple(_lines(found)),
        tables=tuple(_tables(found)),
        data=found.to_json(),
    )


class _Origin(NamedTuple):
    """Where rows came from: a query on the rows `behind` a number, if they have these columns."""

    name: str
    needs: frozenset[str]
    sql: str


_ORIGINS = (
    _Origin(
        "responses",
        frozenset({"response_id"}),
        f"{_RESPONSES} SEMI JOIN behind USING (response_id)",
    ),
    _Origin(
        "responses",
        frozenset({"artifact_id"}),
        f"{_RESPONSES} WHERE response_id IN (SELECT response_id FROM artifacts "
        "SEMI JOIN behind USING (artifact_id))",
    ),
    _Origin(
        "git_walks",
        frozenset({"artifact_id"}),
        "SELECT number, project, place, tips, is_complete, started_at, run_id FROM git_walks "
        "SEMI JOIN (SELECT project, run_id FROM commits SEMI JOIN behind USING (artifact_id)) "
        "USING (project, run_id)",
    ),
    _Origin(
        "dumps",
        frozenset({"artifact_id"}),
        "SELECT stream, name, digest, rows_kept, is_complete, run_id FROM dumps "
        "WHERE run_id IN (SELECT run_id FROM artifacts SEMI JOIN behind USING (artifact_id))",
    ),
    _Origin(
        "labels",
        frozenset({"origin", "run_id"}),
        "SELECT DISTINCT origin, run_id FROM behind",
    ),
    _Origin(
        "labels",
        frozenset({"round", "item_id"}),
        "SELECT DISTINCT origin, run_id FROM labels SEMI JOIN behind USING (round, item_id)",
    ),
    _Origin(
        "items",
        frozenset({"round", "item_id"}),
        "SELECT round, item_id, place, run_id FROM items SEMI JOIN behind USING (round, item_id) "
        "WHERE place IS NOT NULL",
    ),
    _Origin(
        "files",
        frozenset({"package", "file"}),
        "SELECT package, file, digest, size, run_id FROM package_files "
        "SEMI JOIN behind USING (package, file)",
    ),
    _Origin(
        "executions",
        frozenset({"bug_id", "content", "device"}),
        "SELECT bug_id, side, seed, attempt, outcome, exit_code, duration_s, isolation, "
        "environment, run_id FROM executions SEMI JOIN behind USING (bug_id, content, device)",
    ),
)
_KEYS = frozenset({"run_id"}).union(*(origin.needs for origin in _ORIGINS))


@dataclass(frozen=True)
class RowSample:
    """How many rows there are, and the first of them."""

    count: int
    first: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"count": self.count, "first": self.first}


@dataclass(frozen=True)
class Trace:
    """A claim and everything it is based on."""

    claim: dict[str, Any]
    command: str  # in LaTeX
    result: dict[str, Any]
    run: dict[str, Any]  # that computed it
    rows: RowSample | None  # behind the number; None where they are shipped facts
    problem: str  # why the rows cannot be listed
    runs: list[dict[str, Any]]  # that wrote the rows, and what they came from
    origins: dict[str, RowSample]  # responses, git walks, dumps, sheets, runs of bugs
    never_mined: int  # artifacts that are known by their id only
    sources: tuple[str, ...]  # cited by the result

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "claim": {**self.claim, "latex": f"\\{self.command}"},
            "result": self.result,
            "run": self.run,
            "rows": None if self.rows is None else self.rows.to_json(),
            "problem": self.problem,
            "runs": self.runs,
            "origins": {name: sample.to_json() for name, sample in self.origins.items()},
            "never_mined": self.never_mined,
            "sources": list(self.sources),
        }


def trace(study: Study, meant: str, *, most: int, prefix: str = PREFIX) -> Trace:
    """Trace a claim back, with so many rows of each kind."""
    with study.reading() as reader:
        claims = reader.rows("SELECT * FROM claims ORDER BY claim_id")
        ids = [claim["claim_id"] for claim in claims]
        wanted = find_claim(ids, meant, prefix)
        claim = next(row for row in claims if row["claim_id"] == wanted)
        (stored,) = reader.rows(
            "SELECT result, analysis, parameters, content, run_id FROM results "
            "WHERE result = ? AND is_latest",
            [claim["result"]],
        )
        result = StoredResult.from_json(json.loads(stored["content"]))
        behind, problem = _behind(reader, claim, most)
        return Trace(
            claim,
            command_names(ids, prefix)[claim["claim_id"]],
            {
                "result": stored["result"],
                "analysis": stored["analysis"],
                "title": result.title,
                "parameters": json.loads(stored["parameters"]),
            },
            next(iter(_runs(reader, [claim["run_id"]])), {"run_id": claim["run_id"]}),
            behind.rows if behind else None,
            problem,
            behind.runs if behind else [],
            behind.origins if behind else {},
            behind.never_mined if behind else 0,
            result.sources,
        )


@dataclass(frozen=True)
class _Behind:
    rows: RowSample
    runs: list[dict[str, Any]]
    origins: dict[str, RowSample]
    never_mined: int


def _behind(reader: Reader, claim: dict[str, Any], most: int) -> tuple[_Behind | None, str]:
    """The rows of a claim, or why they cannot be listed."""
    if claim["rows_query"] is None:
        return None, ""
    owner = f"claim {claim['claim_id']!r}"
    try:
        query = queries.checked(reader, owner, claim["rows_query"])
        with queries.asking(reader, owner):
            return _listed(reader, query, queries.rows_of(reader, owner, query, most), most), ""
    except StudyError as error:
        return None, error.message


def _listed(reader: Reader, query: str, first: list[dict[str, Any]], most: int) -> _Behind:
    """The rows of a query that was checked, and where they came from."""
    described = reader.rows(f"DESCRIBE WITH behind AS (\n{query}\n) FROM behind")
    columns = {row["column_name"] for row in described}
    # Whoever wrote the query may have called something else so, and have made numbers of it.
    texts = ", ".join(f"{name}::VARCHAR AS {name}" for name in sorted(columns & _KEYS))
    kept = f"* REPLACE ({texts})" if texts else "*"
    behind = f"WITH behind AS MATERIALIZED (SELECT {kept} FROM (\n{query}\n)) "
    wrote: dict[str, int] = {}  # by run how many of the rows
    if "run_id" in columns:
        sql = f"{behind} SELECT run_id, count(*) AS rows FROM behind GROUP BY ALL"
        wrote = {row["run_id"]: row["rows"] for row in reader.rows(sql) if row["run_id"]}
    origins: dict[str, RowSample] = {}
    for name, needs, sql in _ORIGINS:
        sample = _sample(reader, behind, sql, most) if needs <= columns else RowSample(0, [])
        if sample.count and name not in origins:
            origins[name] = sample
            ids = reader.rows(f"{behind} SELECT DISTINCT run_id FROM ({sql})")
            wrote |= {row["run_id"]: wrote.get(row["run_id"], 0) for row in ids}
    never = 0
    if "artifact_id" in columns:
        never = reader.value(
            f"{behind} SELECT count(DISTINCT artifact_id) FROM behind WHERE artifact_id NOT IN "
            "(SELECT artifact_id FROM artifacts WHERE title IS NOT NULL OR body IS NOT NULL)"
        )
    rows = RowSample(
        reader.value(f"{behind} SELECT count(*) FROM behind"), [_plain(row) for row in first]
    )
    runs = [{**run, "rows": wrote[run["run_id"]]} for run in _runs(reader, sorted(wrote))]
    return _Behind(rows, runs, origins, never)


def _sample(reader: Reader, behind: str, sql: str, most: int) -> RowSample:
    rows = reader.rows(f"{behind} SELECT * FROM ({sql}) ORDER BY ALL LIMIT {int(most)}")
    count = reader.value(f"{behind} SELECT count(*) FROM ({sql})")
    return RowSample(count, [_plain(row) for row in rows])


def _runs(reader: Reader, run_ids: Sequence[str]) -> list[dict[str, Any]]:
    rows = reader.rows(
        f"SELECT {_RUN} FROM runs WHERE run_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY run_id",
        [list(run_ids)],
    )
    return [{**_plain(row), "arguments": json.loads(row["arguments"])} for row in rows]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row in values that JSON has."""
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _value(each) for key, each in value.items()}
    return str(value)


# --- what is shown -----------------------------------------------------------------------


def _lines(trace: Trace) -> Iterator[str]:
    """The number, its result, and what is known of its rows."""
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
    result = trace.result
    yield f"Result: {result['result']} ({result['title']})"
    given = _short(_arguments(result["parameters"]), _LONGEST_LINE)
    yield f"  analysis {result['analysis']}" + (f" with {given}" if result["parameters"] else "")
    yield f"  computed by {_run_in_words(trace.run)}"
    yield f"  field {claim['query']}"
    if trace.problem:
        yield f"Rows: they cannot be listed: {trace.problem}"
    elif trace.rows is None:
        yield "Rows: none of this study; the number is made of shipped facts, cited below."
    else:
        yield f"Rows: {trace.claim['rows_query']}"
    if trace.never_mined:
        verb = "is" if trace.never_mined == 1 else "are"
        artifacts = formatting.counted(trace.never_mined, "artifact")
        yield f"{artifacts} {verb} known by id only: never mined, no text."
    if trace.sources:
        yield "Cited:"
        yield from (f"- {source}" for source in trace.sources)


def _tables(trace: Trace) -> Iterator[Listing]:
    if trace.rows is not None:
        yield _rows_table("rows", "Rows behind it", trace.rows)
    if trace.runs:
        yield _runs_table(trace.runs)
    for name, sample in trace.origins.items():
        yield _rows_table(name, _TITLES[name], sample)


def _runs_table(runs: Sequence[Mapping[str, Any]]) -> Listing:
    return Listing(
        "runs",
        "Written by",
        (
            Column("run_id", "Run", "code"),
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


def _rows_table(name: str, title: str, sample: RowSample) -> Listing:
    more = "" if len(sample.first) == sample.count else f", the first {len(sample.first):,}"
    names = list(sample.first[0]) if sample.first else []
    first = [column for column in _FIRST if column in names]
    shown = (first + [column for column in names if column not in first])[:_WIDEST]
    return Listing(
        name,
        f"{title}: {formatting.count(sample.count)}{more}",
        tuple(Column(column, column) for column in shown),
        tuple(tuple(_cell(row[column]) for column in shown) for row in sample.first),
    )


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, bool | int | float):
        return value
    return _short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _run_in_words(run: Mapping[str, Any]) -> str:
    if "command" not in run:
        return f"run {run['run_id']}"
    when = formatting.minute(run["started_at"])
    return f"run {run['run_id']}: {run['command']}, version {run['version']}, {when}"


def _arguments(given: Mapping[str, Any]) -> str:
    words = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
    )
    return ", ".join(words) or "nothing"

"""The way back from a number: to its result, its rows, the runs that wrote them, and what the
sources answered.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from faultatlas.data import queries
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.report.claims.finding import find_claim
from faultatlas.report.claims.naming import PREFIX, command_names

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

_RUN = "run_id, command, arguments, version, started_at, ended_at, outcome"

_RESPONSES = "SELECT response_id, source, kind, url, status, fetched_at, run_id FROM responses"


class _Origin(NamedTuple):
    """Where rows came from: a query on `behind`, which needs these columns of it."""

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
_KEYS = frozenset({"run_id"}).union(*(each.needs for each in _ORIGINS))


@dataclass(frozen=True)
class Found:
    """So many rows, and the first of them."""

    count: int
    first: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"count": self.count, "first": self.first}


@dataclass(frozen=True)
class Trace:
    """A claim and all that it rests on."""

    claim: dict[str, Any]
    command: str  # in LaTeX
    result: dict[str, Any]
    run: dict[str, Any]  # that computed it
    rows: Found | None  # behind the number; None where they are shipped facts
    problem: str  # why the rows cannot be listed
    runs: list[dict[str, Any]]  # that wrote the rows, and what they came from
    origins: dict[str, Found]  # responses, git walks, dumps, sheets, runs of bugs
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
            "origins": {name: found.to_json() for name, found in self.origins.items()},
            "never_mined": self.never_mined,
            "sources": list(self.sources),
        }


def trace(study: Study, meant: str, *, most: int, prefix: str = PREFIX) -> Trace:
    """The way back from a claim, with so many rows of each kind."""
    with study.reading() as reader:
        claims = reader.rows("SELECT * FROM claims ORDER BY claim_id")
        ids = [claim["claim_id"] for claim in claims]
        wanted = find_claim(ids, meant, prefix)
        claim = next(each for each in claims if each["claim_id"] == wanted)
        (stored,) = reader.rows(
            "SELECT result, analysis, parameters, content, run_id FROM results "
            "WHERE result = ? AND is_latest",
            [claim["result"]],
        )
        result = Result.from_json(json.loads(stored["content"]))
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
    rows: Found
    runs: list[dict[str, Any]]
    origins: dict[str, Found]
    never_mined: int


def _behind(reader: Reader, claim: dict[str, Any], most: int) -> tuple[_Behind | None, str]:
    """What the rows of a claim are; why they cannot be listed, if so."""
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
    """The rows of a query that was checked, and what they came from."""
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
    origins: dict[str, Found] = {}
    for name, needs, sql in _ORIGINS:
        found = _found(reader, behind, sql, most) if needs <= columns else Found(0, [])
        if found.count and name not in origins:
            origins[name] = found
            ids = reader.rows(f"{behind} SELECT DISTINCT run_id FROM ({sql})")
            wrote |= {row["run_id"]: wrote.get(row["run_id"], 0) for row in ids}
    never = 0
    if "artifact_id" in columns:
        never = reader.value(
            f"{behind} SELECT count(DISTINCT artifact_id) FROM behind WHERE artifact_id NOT IN "
            "(SELECT artifact_id FROM artifacts WHERE title IS NOT NULL OR body IS NOT NULL)"
        )
    rows = Found(
        reader.value(f"{behind} SELECT count(*) FROM behind"), [_plain(row) for row in first]
    )
    runs = [{**run, "rows": wrote[run["run_id"]]} for run in _runs(reader, sorted(wrote))]
    return _Behind(rows, runs, origins, never)


def _found(reader: Reader, behind: str, sql: str, most: int) -> Found:
    rows = reader.rows(f"{behind} SELECT * FROM ({sql}) ORDER BY ALL LIMIT {int(most)}")
    count = reader.value(f"{behind} SELECT count(*) FROM ({sql})")
    return Found(count, [_plain(row) for row in rows])


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
        return [_value(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _value(each) for key, each in value.items()}
    return str(value)

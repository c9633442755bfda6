"""Runs, and the results that they store: which command wrote, when, with which arguments.

Every command that writes begins a `Run` and records it in the same transaction as its
rows, so that a row never names a run that is not there. Secrets do not reach it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.redaction import redact_arguments

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study, Writer

Outcome = Literal["running", "ok", "partial", "failed", "interrupted"]


@dataclass(frozen=True)
class Run:
    """A command that is about to write."""

    run_id: str
    command: str
    arguments: dict[str, Any]
    version: str
    started_at: datetime


@cache
def program_version() -> str:
    """The installed version of faultatlas."""
    try:
        return version("faultatlas")
    except PackageNotFoundError:  # a source tree on the path, not installed
        return "unknown"


def begin(command: str, arguments: Mapping[str, Any], now: datetime | None = None) -> Run:
    """Note a command before it does its work; nothing is stored yet."""
    started = now or utc_now()
    return Run(
        # Microseconds, so that ids sort by time also within one script.
        run_id=f"{started:%Y%m%dT%H%M%S%fZ}-{secrets.token_hex(3)}",
        command=command,
        arguments=redact_arguments(arguments),
        version=program_version(),
        started_at=started,
    )


def record(writer: Writer, run: Run, outcome: Outcome) -> None:
    """Store the run, or how it ended if it is stored already, in the writer's transaction."""
    writer.put(
        "store.run",
        {"run_id": run.run_id},
        {"ended_at": None if outcome == "running" else utc_now(), "outcome": outcome},
        first={
            "command": run.command,
            "arguments": json.dumps(run.arguments, sort_keys=True, ensure_ascii=False),
            "version": run.version,
            "started_at": run.started_at,
        },
    )


# --- results -----------------------------------------------------------------------------

_CLAIM_COLUMNS = (
    "claim_id", "statement", "value", "unit", "count", "total", "low", "high", "method", "query",
    "rows_query", "printed", "status", "reason",
)  # fmt: skip


def save(study: Study, result: Result, run: Run, outcome: Outcome = "ok") -> None:
    """Store a result, its claims and the run that made it, in one transaction."""
    content = result.to_json()
    with study.writing() as writer:
        record(writer, run, outcome)
        writer.insert(
            "result",
            {
                "run_id": [run.run_id],
                "result": [result.name],
                "analysis": [result.analysis],
                "parameters": [_json(result.parameters)],
                "content": [_json(content)],
            },
        )
        if result.claims:
            rows = [asdict(claim) for claim in result.claims]
            columns = {name: [row[name] for row in rows] for name in _CLAIM_COLUMNS}
            own = {"run_id": [run.run_id] * len(rows), "result": [result.name] * len(rows)}
            writer.insert("claim", {**own, **columns})


def latest(reader: Reader, name: str) -> Result:
    """The newest result of that name."""
    content = reader.value("SELECT content FROM results WHERE result = ? AND is_latest", [name])
    if content is None:
        known = ", ".join(names(reader))
        raise StudyError(
            f"the study has no result {name!r}",
            f"It has: {known}."
            if known
            else "Run an analysis first, such as: analysis coverage-gap",
        )
    try:
        return Result.from_json(json.loads(content))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise StudyError(
            f"the stored result {name!r} cannot be read ({type(error).__name__}: {error})",
            "Another version may have written it: run its analysis again.",
        ) from error


def listed_claims(reader: Reader, name: str) -> tuple[Claim, ...]:
    """The claims of the newest result of that name, as the view `claims` has them."""
    rows = reader.rows(
        f"SELECT {', '.join(_CLAIM_COLUMNS)} FROM claims WHERE result = ? ORDER BY claim_id",
        [name],
    )
    return tuple(Claim(**row) for row in rows)


def names(reader: Reader) -> list[str]:
    """The names of the stored results, sorted."""
    rows = reader.rows("SELECT DISTINCT result FROM results ORDER BY result")
    return [row["result"] for row in rows]


def _json(value: object) -> str:
    """Names in the order in which the analysis gave them: a result computed again has the same."""
    return json.dumps(value, ensure_ascii=False)

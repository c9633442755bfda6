"""Stores results in a study and finds them again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Result

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome, Run
    from faultatlas.data.study import Reader, Study

_CLAIM_COLUMNS = (
    "claim_id", "statement", "value", "unit", "count", "total", "low", "high", "method", "query",
    "rows_query", "printed", "status", "reason",
)  # fmt: skip


def save(study: Study, result: Result, run: Run, outcome: Outcome = "ok") -> None:
    """Store a result, its claims and the run that made it, in one transaction."""
    content = result.to_json()
    with study.writing() as writer:
        provenance.record(writer, run, outcome)
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

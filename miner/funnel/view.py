"""The funnel as a table: one line for each step, one column for each source or group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from data.results import Cell, Column, Table
from data.store import STATEMENT_ERRORS
from miner.funnel.running import condition_problem
from report.formatting import count

if TYPE_CHECKING:
    from data.store import Reader, Study

_MOST_COLUMNS = 6
_KINDS = {"issue": "issues", "pull": "pull requests", "commit": "commits", "post": "posts"}
_STALE = """
SELECT
    (SELECT count(*) FROM store.selected WHERE step = 'all') AS seen,
    (SELECT count(*) FROM candidates) AS mined,
    (SELECT count(*) FROM candidates
     WHERE artifact_id NOT IN (SELECT artifact_id FROM store.selected WHERE step = 'all')) AS new
"""


def funnel(study: Study, by: str | None = None) -> dict[str, Any]:
    """Steps with the counts in and out of each source, or of each group of `by`."""
    with study.reading() as reader:
        steps = reader.rows(
            "SELECT step, position, predicate, ran_at, run_id FROM store.funnel_step "
            "ORDER BY position"
        )
        counts = reader.rows(
            "SELECT step, source, kind, rows_in, rows_out FROM funnel ORDER BY ALL"
        )
        groups = _groups(reader, by) if by and steps else []
        (fresh,) = reader.rows(_STALE)
    for step in steps:
        step["ran_at"] = f"{step['ran_at']:%Y-%m-%dT%H:%M:%SZ}"
        step["counts"] = [
            {name: row[name] for name in ("source", "kind", "rows_in", "rows_out")}
            for row in counts
            if row["step"] == step["step"]
        ]
        if by:
            step["groups"] = {
                row["stratum"]: row["rows_out"] for row in groups if row["step"] == step["step"]
            }
    return {
        "study": str(study.directory),
        "by": by,
        "steps": steps,
        "new": fresh["new"],
        "gone": fresh["seen"] + fresh["new"] - fresh["mined"],
    }


def _groups(reader: Reader, by: str) -> list[dict[str, Any]]:
    problem = reader.problem(f"SELECT (\n{by}\n)::VARCHAR FROM candidates")
    if problem:
        raise condition_problem("--by", problem)
    try:
        return reader.rows(
            f"SELECT step, coalesce((\n{by}\n)::VARCHAR, '(none)') AS stratum, "
            "count(*) AS rows_out FROM store.selected JOIN candidates USING (artifact_id) "
            "GROUP BY ALL ORDER BY ALL"
        )
    except STATEMENT_ERRORS as error:
        raise condition_problem("--by", str(error)) from error


def funnel_table(found: Mapping[str, Any]) -> Table | None:
    """The same for a reader; None without steps."""
    steps: Sequence[Mapping[str, Any]] = found["steps"]
    if not steps:
        return None
    cells = [_cells(step, found["by"]) for step in steps]
    names = sorted({name for row in cells for name in row})
    if len(names) > _MOST_COLUMNS:
        return _long(steps, cells, names)
    columns = (
        Column("step", "Step"),
        *(Column(f"group_{at}", name, "count") for at, name in enumerate(names, 1)),
        Column("predicate", "Asks for"),
    )
    rows = tuple(
        (step["step"], *(row.get(name, 0) for name in names), step["predicate"])
        for step, row in zip(steps, cells, strict=True)
    )
    return Table("funnel", "Funnel", columns, rows, _note(found))


def _long(
    steps: Sequence[Mapping[str, Any]], cells: list[dict[str, int]], names: list[str]
) -> Table:
    """With many groups: one line for each of them."""
    columns = (
        Column("group", "Group"),
        *(Column(f"step_{at}", step["step"], "count") for at, step in enumerate(steps)),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(row.get(name, 0) for row in cells)) for name in names
    )
    return Table("funnel", "Funnel", columns, rows)


def _cells(step: Mapping[str, Any], by: str | None) -> dict[str, int]:
    if by:
        return dict(step["groups"])
    return {
        f"{row['source']} {_KINDS.get(row['kind'], row['kind'])}": row["rows_out"]
        for row in step["counts"]
    }


def _note(found: Mapping[str, Any]) -> str:
    parts = []
    if found["new"]:
        parts.append(f"{count(found['new'])} artifacts were mined since")
    if found["gone"] > 0:
        parts.append(f"{count(found['gone'])} are gone since")
    return f"{'; '.join(parts)}: `miner filter --again` counts anew." if parts else ""

"""What is in a study: views with their rows, and the newest runs."""

from __future__ import annotations

from typing import Any

from data.results import Column, Table
from data.store import Study

_NEWEST = 10


def status(study: Study) -> dict[str, Any]:
    """Rows of every view, and the newest runs, as plain values."""
    with study.reading() as reader:
        views = reader.rows(
            "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal "
            "ORDER BY view_name"
        )
        rows = {
            view["view_name"]: reader.value(f"SELECT count(*) FROM {view['view_name']}")
            for view in views
        }
        runs = reader.rows(
            "SELECT run_id, command, outcome, started_at, ended_at, version FROM runs "
            "ORDER BY run_id DESC LIMIT ?",
            [_NEWEST],
        )
    for run in runs:
        for key in ("started_at", "ended_at"):
            run[key] = None if run[key] is None else f"{run[key]:%Y-%m-%dT%H:%M:%SZ}"
    return {"study": str(study.directory), "rows": rows, "runs": runs}


def status_tables(found: dict[str, Any]) -> tuple[Table, Table]:
    """The same for a reader."""
    views = Table(
        "views",
        f"Study in {found['study']}",
        (Column("view", "View"), Column("rows", "Rows", "count")),
        tuple(found["rows"].items()),
    )
    runs = Table(
        "runs",
        "Newest runs",
        (
            Column("started_at", "Started (UTC)", "code"),
            Column("command", "Command"),
            Column("outcome", "Outcome", "status"),
        ),
        tuple(
            (_to_the_minute(run["started_at"]), run["command"], run["outcome"])
            for run in found["runs"]
        ),
    )
    return views, runs


def _to_the_minute(time: str) -> str:
    return time[:16].replace("T", " ")

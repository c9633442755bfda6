"""What is in a study: projects, sites, repositories and papers, views, newest runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.data.schema import quoted
from faultatlas.data.study import Study
from faultatlas.miner.commits.overview import repositories
from faultatlas.miner.papers import stored
from faultatlas.miner.posts import overview
from faultatlas.report.formatting import counted, day, minute

_NEWEST = 10
# A project is named in a checkpoint by its key (github:o/r), in an issue by its repository (o/r).
_PROJECTS = """
WITH known AS (
    SELECT artifact_id, project, is_pull, comment_count, updated_at FROM store.issue
),
live AS (
    SELECT artifact_id, count(*) AS n FROM store.comment WHERE gone_at IS NULL GROUP BY ALL
),
of_issues AS (
    SELECT
        regexp_extract(artifact_id, '^(.*)#', 1) AS project,
        count(*) FILTER (NOT is_pull) AS issues,
        count(*) FILTER (is_pull) AS pulls,
        coalesce(sum(live.n), 0)::BIGINT AS comments,
        coalesce(sum(greatest(comment_count - coalesce(live.n, 0), 0))
            FILTER (artifact_id IN (SELECT artifact_id FROM store.part_read WHERE part = 'comments')
                AND artifact_id NOT IN (SELECT artifact_id FROM store.departure)), 0)::BIGINT
            AS missing_comments,
        max(updated_at) AS newest_update
    FROM known LEFT JOIN live USING (artifact_id) GROUP BY ALL
),
departed AS (
    SELECT
        regexp_extract(artifact_id, '^(.*)#', 1) AS project,
        count(*) FILTER (reason = 'transferred') AS transferred,
        count(*) FILTER (reason <> 'transferred') AS gone
    FROM store.departure WHERE contains(artifact_id, '#') GROUP BY ALL
),
spent AS (
    SELECT
        project, sum(requests)::BIGINT AS requests, max(run_id) AS run_id,
        arg_max(quota_left, run_id) AS quota_left, arg_max(quota_limit, run_id) AS quota_limit
    FROM store.traffic GROUP BY ALL
),
walks AS (
    SELECT
        project, count(*) FILTER (NOT is_complete) AS unfinished, max(updated_at) AS last_fetch
    FROM store.checkpoint GROUP BY ALL
)
SELECT
    project, coalesce(issues, 0) AS issues, coalesce(pulls, 0) AS pulls,
    coalesce(comments, 0) AS comments, coalesce(missing_comments, 0) AS missing_comments,
    coalesce(gone, 0) AS gone, coalesce(transferred, 0) AS transferred, newest_update,
    coalesce(requests, 0) AS requests, quota_left, quota_limit, last_fetch,
    coalesce(unfinished, 0) AS unfinished
FROM of_issues
FULL JOIN departed USING (project)
FULL JOIN spent USING (project)
FULL JOIN walks USING (project)
WHERE NOT starts_with(project, 'stackoverflow:') AND NOT starts_with(project, 'paper:')
ORDER BY project
"""


def status(study: Study) -> dict[str, Any]:
    """Projects, rows of every view, and the newest runs, as plain values."""
    with study.reading() as reader:
        views = reader.rows(
            "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal "
            "ORDER BY view_name"
        )
        rows = {
            view["view_name"]: reader.value(f"SELECT count(*) FROM {quoted(view['view_name'])}")
            for view in views
        }
        runs = reader.rows(
            "SELECT run_id, command, outcome, started_at, ended_at, version FROM runs "
            "ORDER BY run_id DESC LIMIT ?",
            [_NEWEST],
        )
        projects = reader.rows(_PROJECTS)
        posts = overview.sites(reader)
        commits = repositories(reader)
        papers = stored.sources(reader)
    for row in (*runs, *projects, *posts, *commits, *papers):
        for key, value in row.items():
            if isinstance(value, datetime):
                row[key] = f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return {
        "study": str(study.directory),
        "projects": projects,
        "sites": posts,
        "commits": commits,
        "papers": papers,
        "rows": rows,
        "runs": runs,
    }


def projects_table(found: dict[str, Any]) -> Table | None:
    """What was fetched of each project, and what of it is missing."""
    if not found["projects"]:
        return None
    columns = (
        Column("project", "Project"),
        Column("issues", "Issues", "count"),
        Column("pulls", "Pulls", "count"),
        Column("comments", "Comments", "count"),
        Column("missing_comments", "Missing", "count"),
        Column("gone", "Gone", "count"),
        Column("transferred", "Moved", "count"),
        Column("quota_left", "Quota left", "count"),
        Column("newest_update", "Updated", "code"),
        Column("requests", "Requests", "count", aside=True),
        Column("quota_limit", "Quota", "count", aside=True),
        Column("last_fetch", "Last fetch", "code", aside=True),
        Column("unfinished", "Unfinished lists", "count", aside=True),
    )
    shown = [
        row
        | {
            "project": row["project"].removeprefix("github:"),
            "newest_update": day(row["newest_update"]),
            "last_fetch": minute(row["last_fetch"]),
        }
        for row in found["projects"]
    ]
    rows = rows_of(columns, shown)
    note = "Missing: comments that the tracker counts and the study does not have."
    return Table("projects", "Projects", columns, rows, note)


def status_tables(found: dict[str, Any], *, with_empty: bool = False) -> tuple[Table, Table]:
    """The same for a reader: views that have rows, or all of them."""
    shown = {view: rows for view, rows in found["rows"].items() if rows or with_empty}
    left = len(found["rows"]) - len(shown)
    views = Table(
        "views",
        f"Study in {found['study']}",
        (Column("view", "View"), Column("rows", "Rows", "count")),
        tuple(shown.items()),
        note=f"Without rows: {counted(left, 'view')} (-v)." if left else "",
    )
    runs = Table(
        "runs",
        "Newest runs",
        (
            Column("started_at", "Started", "code"),
            Column("command", "Command"),
            Column("outcome", "Outcome", "status"),
        ),
        tuple((minute(run["started_at"]), run["command"], run["outcome"]) for run in found["runs"]),
    )
    return views, runs

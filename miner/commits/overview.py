"""The repositories that a study has commits of, for `miner status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.report.formatting import day, minute

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_REPOSITORIES = """
SELECT
    project, count(*) AS commits, count(diff) AS changes_read,
    count(*) FILTER (diff IN ('part', 'unreadable')) AS unreadable, count(gone_at) AS gone,
    max(created_at) AS newest, any_value(last_read) AS last_read,
    coalesce(any_value(unfinished), 0) AS unfinished
FROM store.commit
LEFT JOIN store.commit_diff USING (artifact_id)
LEFT JOIN (
    SELECT
        project, max(started_at) AS last_read,
        count(*) FILTER (NOT is_complete) AS unfinished
    FROM store.git_walk GROUP BY project
) USING (project)
GROUP BY project ORDER BY project
"""


def repositories(reader: Reader) -> list[dict[str, Any]]:
    """What was read of each repository."""
    return reader.rows(_REPOSITORIES)


def repositories_table(found: dict[str, Any]) -> Table | None:
    """The same for a reader."""
    if not found["commits"]:
        return None
    columns = (
        Column("project", "Repository"),
        Column("commits", "Commits", "count"),
        Column("changes_read", "With changes", "count"),
        Column("unreadable", "Unreadable", "count"),
        Column("gone", "Gone", "count"),
        Column("newest", "Newest", "code"),
        Column("last_read", "Last read", "code", aside=True),
        Column("unfinished", "Unfinished", "count", aside=True),
    )
    shown = [
        row
        | {
            "newest": day(row["newest"]),
            "last_read": minute(row["last_read"]),
        }
        for row in found["commits"]
    ]
    rows = rows_of(columns, shown)
    note = "With changes: commits whose files were read. Gone: no branch leads to them any more."
    return Table("commits", "Commits", columns, rows, note)

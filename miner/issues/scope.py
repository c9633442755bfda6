"""The issues in the study that a fetch is about, and what of them is still to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.miner.issues.plan import Parts
from faultatlas.miner.payload import moment
from faultatlas.miner.sources import PAGE

if TYPE_CHECKING:
    from faultatlas.data.study import Reader
    from faultatlas.miner.selection import Selection

_LIVE = (
    "(SELECT artifact_id, count(*) AS live FROM store.comment WHERE gone_at IS NULL GROUP BY ALL)"
)
# Comments are to be read of what has some, or had; and of what changed since they were read.
_PENDING = f"""
FROM store.issue i
LEFT JOIN store.part_read p ON p.artifact_id = i.artifact_id AND p.part = ?
LEFT JOIN {_LIVE} c ON c.artifact_id = i.artifact_id
WHERE (p.artifact_id IS NULL OR p.updated_at IS DISTINCT FROM i.updated_at)
AND (? = 'events' OR coalesce(i.comment_count, 1) > 0 OR c.live > 0)
AND i.artifact_id NOT IN (SELECT artifact_id FROM store.departure)
"""


@dataclass(frozen=True)
class Scope:
    """A condition on `store.issue i`."""

    sql: str
    parameters: tuple[Any, ...]

    def count(self, reader: Reader) -> dict[str, int]:
        """Issues and pull requests that are there."""
        (row,) = reader.rows(
            "SELECT count(*) FILTER (NOT is_pull) AS issues, count(*) FILTER (is_pull) AS pulls, "
            "coalesce(sum(comment_count), 0)::BIGINT AS comments FROM store.issue i "
            "WHERE i.artifact_id NOT IN (SELECT artifact_id FROM store.departure) "
            f"AND {self.sql}",
            self.parameters,
        )
        return row

    def count_parts(self, reader: Reader) -> dict[str, int]:
        """Comments and events that are stored."""
        mine = f"artifact_id IN (SELECT i.artifact_id FROM store.issue i WHERE {self.sql})"
        tables = {"comment_rows": "store.comment", "events": "store.issue_event"}
        return {
            name: reader.value(f"SELECT count(*) FROM {table} WHERE {mine}", self.parameters)
            for name, table in tables.items()
        }

    def pending(self, reader: Reader, part: str) -> Parts:
        """How much is to be read of a part."""
        pages = f"ceil(greatest(coalesce(i.comment_count, 1), 1) / {PAGE}.0)"
        (row,) = reader.rows(
            f"SELECT count(*) AS issues, coalesce(sum({pages}), 0)::BIGINT AS pages "
            f"{_PENDING} AND {self.sql}",
            [part, part, *self.parameters],
        )
        pages_in_all = row["issues"] if part == "events" else row["pages"]
        return Parts(row["issues"], pages_in_all)

    def next_pending(self, reader: Reader, part: str, most: int) -> list[dict[str, Any]]:
        """The first issues of which a part is to be read, always in the same order."""
        return reader.rows(
            f"SELECT i.artifact_id, i.number, i.node_id, i.comment_count {_PENDING} AND {self.sql} "
            "ORDER BY TRY_CAST(i.number AS BIGINT), i.number LIMIT ?",
            [part, part, *self.parameters, most],
        )

    def never_read(self, reader: Reader, part: str, created_before: str | None) -> int:
        """Pending issues that may have rows older than a time up to which a list was read."""
        oldest = moment(created_before)
        return int(
            reader.value(
                f"SELECT count(*) {_PENDING} AND {self.sql} AND p.artifact_id IS NULL "
                "AND (i.created_at IS NULL OR i.created_at < ?)",
                [part, part, *self.parameters, oldest],
            )
            or 0
        )

    def gaps(self, reader: Reader, most: int = 1000) -> list[dict[str, Any]]:
        """Issues that have fewer comments stored than the tracker counts."""
        return reader.rows(
            "SELECT i.artifact_id, i.comment_count AS counted, coalesce(c.live, 0) AS stored, "
            "coalesce(p.is_short, false) AS is_confirmed FROM store.issue i "
            f"LEFT JOIN {_LIVE} c ON c.artifact_id = i.artifact_id "
            "LEFT JOIN store.part_read p ON p.artifact_id = i.artifact_id AND p.part = 'comments' "
            "WHERE coalesce(c.live, 0) < i.comment_count "
            "AND i.artifact_id NOT IN (SELECT artifact_id FROM store.departure) "
            f"AND {self.sql} ORDER BY i.artifact_id LIMIT ?",
            [*self.parameters, most],
        )


def of_project(project: str) -> Scope:
    """All issues of a project."""
    return Scope("i.project = ?", (project,))


def of_selection(project: str, selection: Selection) -> Scope:
    """The issues that a selection means."""
    clauses: list[str] = ["i.project = ?"]
    parameters: list[Any] = [project]
    has = "list_contains(list_transform(i.tracker_labels, lambda each: lower(each)), lower(?))"
    if selection.labels:
        joint = " OR " if selection.any_label else " AND "
        clauses.append(f"({joint.join([has] * len(selection.labels))})")
        parameters.extend(selection.labels)
    if selection.state != "all":
        clauses.append("i.state = ?")
        parameters.append(selection.state)
    if not selection.pulls:
        clauses.append("NOT i.is_pull")
    if selection.since:
        clauses.append("i.updated_at >= ?")
        parameters.append(moment(selection.since))
    if selection.priorities:
        clauses.append("list_contains(?, i.tracker_priority)")
        parameters.append(list(selection.priorities))
    return Scope(" AND ".join(clauses), tuple(parameters))


def of_wanted(key: str) -> Scope:
    """The issues that a file named in a project, wherever they are found now."""
    return Scope(
        "i.artifact_id IN (SELECT coalesce(a.artifact_id, w.artifact_id) FROM store.wanted w "
        "LEFT JOIN store.alias a ON a.alias = w.artifact_id WHERE starts_with(w.artifact_id, ?))",
        (f"{key}#",),
    )

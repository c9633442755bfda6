"""The mined tables: rows of one exchange go in, in the caller's transaction.

The newest word about a row wins, and an unchanged row keeps the run and response that first
said so. Everything here is a function of the tables and the exchange, so that a rebuild, which
plays all exchanges in their order, ends in the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from faultatlas.data.identity import parse
from faultatlas.data.old import arrow_rows
from faultatlas.data.old.records import (
    NOT_COMPARED,
    AliasRow,
    CommentRow,
    EventRow,
    FoundRow,
    IssueRow,
    PostRow,
    ReplyRow,
    RepositoryRow,
    Rows,
    row_hash,
)
from faultatlas.miner.papers.storing import put_known, put_records
from faultatlas.miner.posts import told
from faultatlas.miner.posts.known import without_unknown

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Writer
    from faultatlas.miner.archive import Exchange

_Row = TypeVar("_Row", IssueRow, CommentRow)

# Everything that a rebuild empties and fills again.
DERIVED = (
    "store.issue",
    "store.comment",
    "store.issue_event",
    "store.post",
    "store.reply",
    "store.post_told",
    "store.paper",
    "store.paper_record",
    "store.known_paper",
    "store.departure",
    "store.lost_label",
    "store.alias",
    "store.repository",
    "store.search_result",
)
_KEYS: dict[type, tuple[str, str]] = {
    IssueRow: ("store.issue", "artifact_id"),
    CommentRow: ("store.comment", "comment_id"),
    EventRow: ("store.issue_event", "event_id"),
    PostRow: ("store.post", "artifact_id"),
    ReplyRow: ("store.reply", "comment_id"),
    RepositoryRow: ("store.repository", "repository_id"),
}


_RENAMED = "? || substr(artifact_id, ? + 1)"


@dataclass
class Counts:
    """Rows that are new, and rows that took the place of another."""

    issues_new: int = 0
    issues_changed: int = 0
    comments_new: int = 0
    comments_changed: int = 0
    events_new: int = 0
    posts_new: int = 0
    posts_changed: int = 0
    replies_new: int = 0
    replies_changed: int = 0
    papers_new: int = 0
    papers_changed: int = 0
    records_new: int = 0
    gone: int = 0
    repositories_new: int = 0
    repositories_changed: int = 0

    def add(self, other: Counts) -> None:
        """Count on."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))


def put(writer: Writer, rows: Rows, exchange: Exchange, *, is_replayed: bool = False) -> Counts:
    """Store the rows of an exchange; a replayed one changes derived tables only."""
    counts = Counts()
    for alias in rows.aliases:
        _put_alias(writer, alias, exchange, is_replayed=is_replayed)
    for project in rows.current_projects:
        writer.execute("DELETE FROM store.alias WHERE alias = ? AND kind = 'repository'", [project])
    issues: Sequence[IssueRow] = rows.issues
    if rows.only_wanted_issues:
        # What a later file names came from that file's own answers; a rebuild knows that too.
        earlier = "(SELECT artifact_id FROM store.wanted WHERE run_id <= ?)"
        issues = _named(writer, earlier, issues, exchange.run_id)
    counts.issues_new, counts.issues_changed = _upsert(writer, IssueRow, issues, exchange)
    if issues:
        _came_back(writer, issues)
    comments: Sequence[CommentRow] = rows.comments
    if rows.only_known_issues:
        comments = _named(writer, "store.issue", comments)
    counts.comments_new, counts.comments_changed = _upsert(writer, CommentRow, comments, exchange)
    _mark_comments(writer, rows, comments, exchange)
    counts.events_new, _changed = _upsert(writer, EventRow, rows.events, exchange)
    _drop_events(writer, rows)
    _put_posts(writer, without_unknown(writer, rows), exchange, counts)
    _put_papers(writer, rows, exchange, counts)
    if rows.listed:
        _are_there(writer, rows.listed)
    for departure in rows.departures:
        counts.gone += not writer.value(
            "SELECT count(*) FROM store.departure WHERE artifact_id = ?", [departure.artifact_id]
        )
        writer.execute(
            "INSERT INTO store.departure VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (artifact_id) "
            # A list that does not find it says less than the issue's own answer.
            "DO UPDATE SET reason = excluded.reason, moved_to = excluded.moved_to, "
            "run_id = excluded.run_id, response_id = excluded.response_id "
            "WHERE excluded.reason <> 'not found' AND excluded.reason <> departure.reason",
            [
                departure.artifact_id,
                departure.reason,
                departure.moved_to,
                exchange.fetched_at,
                exchange.run_id,
                exchange.response_id,
            ],
        )
    for artifact, label in rows.lost_labels:
        writer.execute(
            "INSERT INTO store.lost_label VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [artifact, label, exchange.fetched_at, exchange.run_id, exchange.response_id],
        )
    if rows.repositories:
        counts.repositories_new, counts.repositories_changed = _put_repositories(
            writer, rows, exchange
        )
        _put_found(writer, rows.found, exchange)
    return counts


def _put_posts(writer: Writer, rows: Rows, exchange: Exchange, counts: Counts) -> None:
    said = told.beside_the_site(writer, rows)
    counts.posts_new, counts.posts_changed = _upsert(writer, PostRow, said.posts, exchange)
    counts.replies_new, counts.replies_changed = _upsert(writer, ReplyRow, said.replies, exchange)
    told.mark_gone(writer, said.gone)
    if rows.posts and not rows.is_from_file:
        _are_there(writer, [row.artifact_id for row in rows.posts])
        told.note(writer, rows, exchange)
    _mark_replies(writer, rows, exchange)


def _put_papers(writer: Writer, rows: Rows, exchange: Exchange, counts: Counts) -> None:
    stored = put_records(writer, rows.papers, exchange)
    counts.papers_new, counts.papers_changed = stored.papers_new, stored.papers_changed
    counts.records_new = stored.records_new
    put_known(writer, rows.known_papers, exchange)


def batch(rows: Sequence[Any], exchange: Exchange) -> pa.Table:
    """Rows of one kind as Arrow, with where they come from."""
    import pyarrow as pa

    types = _arrow_types()
    columns = {
        item.name: pa.array(
            [getattr(row, item.name) for row in rows],
            types[str(item.type).removesuffix(" | None")],
        )
        for item in fields(rows[0])
    }
    stamps = {
        "run_id": exchange.run_id,
        "fetched_at": exchange.fetched_at,
        "response_id": exchange.response_id,
    }
    columns["row_hash"] = pa.array([row_hash(row) for row in rows], pa.uint64())
    for name, value in stamps.items():
        kind = pa.timestamp("us") if name == "fetched_at" else pa.string()
        columns[name] = pa.array([value] * len(rows), kind)
    return pa.table(columns)


@cache
def _arrow_types() -> dict[str, pa.DataType]:
    import pyarrow as pa

    return {
        "str": pa.string(),
        "bool": pa.bool_(),
        "int": pa.int64(),
        "datetime": pa.timestamp("us"),
        "tuple[str, ...]": pa.list_(pa.string()),
    }


def _upsert(writer: Writer, kind: type, rows: Sequence[Any], exchange: Exchange) -> tuple[int, int]:
    table, key = _KEYS[kind]
    unique = {getattr(row, key): row for row in rows}
    if not unique:
        return 0, 0
    return arrow_rows.upsert(
        writer, table, key, batch([*unique.values()], exchange), keep=NOT_COMPARED
    )


def _named(writer: Writer, table: str, rows: Sequence[_Row], *parameters: str) -> list[_Row]:
    """The rows whose artifact a table knows."""
    named = sorted({row.artifact_id for row in rows})
    found = writer.rows(
        f"SELECT artifact_id FROM {table} WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
        [*parameters, named],
    )
    known = {row["artifact_id"] for row in found}
    return [row for row in rows if row.artifact_id in known]


def _came_back(writer: Writer, issues: Sequence[IssueRow]) -> None:
    """What is listed is not gone, and has the labels that it has."""
    there = [row.artifact_id for row in issues]
    _are_there(writer, there)
    labels = {row.artifact_id: {each.casefold() for each in row.tracker_labels} for row in issues}
    lost = writer.rows(
        "SELECT artifact_id, label FROM store.lost_label "
        "WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
        [there],
    )
    for row in lost:
        if row["label"].casefold() in labels[row["artifact_id"]]:
            writer.execute(
                "DELETE FROM store.lost_label WHERE artifact_id = ? AND label = ?",
                [row["artifact_id"], row["label"]],
            )


def _are_there(writer: Writer, artifacts: Sequence[str]) -> None:
    writer.execute(
        "DELETE FROM store.departure WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(artifacts)],
    )


def _mark_comments(
    writer: Writer, rows: Rows, comments: Sequence[CommentRow], exchange: Exchange
) -> None:
    """Comments that are listed are there; those that a whole list lacks are gone."""
    listed = [row.comment_id for row in comments]
    if listed:
        writer.execute(
            "UPDATE store.comment SET gone_at = NULL "
            "WHERE gone_at IS NOT NULL AND comment_id IN (SELECT unnest(?::VARCHAR[]))",
            [listed],
        )
    if rows.all_comments_of:
        earlier = [each for seen in rows.all_comments_of.values() for each in seen]
        writer.execute(
            "UPDATE store.comment SET gone_at = ? WHERE gone_at IS NULL "
            "AND artifact_id IN (SELECT unnest(?::VARCHAR[])) "
            "AND comment_id NOT IN (SELECT unnest(?::VARCHAR[]))",
            [exchange.fetched_at, list(rows.all_comments_of), listed + earlier],
        )


def _mark_replies(writer: Writer, rows: Rows, exchange: Exchange) -> None:
    """Answers and comments that a site gives are there; those that a whole question lacks are gone.

    A dump or file says nothing of it: it may be older than what the site said.
    """
    listed = [row.comment_id for row in rows.replies]
    whole = list(rows.all_replies_of)
    if not whole:
        return
    writer.execute(
        "UPDATE store.reply SET gone_at = NULL WHERE gone_at IS NOT NULL "
        "AND artifact_id IN (SELECT unnest(?::VARCHAR[])) "
        "AND comment_id IN (SELECT unnest(?::VARCHAR[]))",
        [whole, listed],
    )
    with_comments = [artifact for artifact, comments in rows.all_replies_of.items() if comments]
    writer.execute(
        "UPDATE store.reply SET gone_at = ? WHERE gone_at IS NULL "
        "AND artifact_id IN (SELECT unnest(?::VARCHAR[])) "
        "AND (is_answer OR artifact_id IN (SELECT unnest(?::VARCHAR[]))) "
        "AND comment_id NOT IN (SELECT unnest(?::VARCHAR[]))",
        [exchange.fetched_at, whole, with_comments, listed],
    )


def _drop_events(writer: Writer, rows: Rows) -> None:
    """Events that a whole timeline lacks: their ids are made of a repository's former name."""
    if rows.all_events_of:
        earlier = [each for seen in rows.all_events_of.values() for each in seen]
        writer.execute(
            "DELETE FROM store.issue_event WHERE artifact_id IN (SELECT unnest(?::VARCHAR[])) "
            "AND event_id NOT IN (SELECT unnest(?::VARCHAR[]))",
            [list(rows.all_events_of), [row.event_id for row in rows.events] + earlier],
        )


def _put_alias(writer: Writer, row: AliasRow, exchange: Exchange, *, is_replayed: bool) -> None:
    known = writer.rows("SELECT artifact_id FROM store.alias WHERE alias = ?", [row.alias])
    if known and known[0]["artifact_id"] == row.artifact_id:
        return
    # The new name may have been an old one: a repository that was renamed back.
    writer.execute("DELETE FROM store.alias WHERE alias IN (?, ?)", [row.alias, row.artifact_id])
    writer.execute(
        "INSERT INTO store.alias VALUES (?, ?, ?, ?, ?)",
        [row.alias, row.artifact_id, row.kind, exchange.run_id, exchange.response_id],
    )
    if row.kind == "repository":
        _rename(writer, exchange.source, row.alias, row.artifact_id)
        if not is_replayed:
            _rename_walks(writer, exchange.source, row.alias, row.artifact_id)


def _put_repositories(writer: Writer, rows: Rows, exchange: Exchange) -> tuple[int, int]:
    """Store repositories that are kept; what is left out only changes what is known of it."""
    listed = [row.repository_id for row in rows.repositories]
    # A name that is listed is that repository's; another that had it was renamed or deleted.
    for table in ("store.repository", "store.search_result"):
        writer.execute(
            f"DELETE FROM {table} WHERE project IN (SELECT unnest(?::VARCHAR[])) "
            "AND NOT list_contains(?, repository_id)",
            [[row.project for row in rows.repositories], listed],
        )
    known = writer.rows(
        "SELECT repository_id FROM store.repository WHERE list_contains(?, repository_id)",
        [listed],
    )
    wanted = {row["repository_id"] for row in known}
    wanted.update(row.repository_id for row in rows.found if row.left_out is None)
    kept = [row for row in rows.repositories if row.repository_id in wanted]
    return _upsert(writer, RepositoryRow, kept, exchange)


def _put_found(writer: Writer, found: Sequence[FoundRow], exchange: Exchange) -> None:
    unique = {(row.search, row.repository_id): row for row in found}.values()
    names = [item.name for item in fields(FoundRow)]
    listed = ", ".join("unnest(?)" for _name in names)
    writer.execute(
        f"INSERT INTO store.search_result ({', '.join(names)}, first_seen_at, last_seen_at, "
        f"run_id, response_id) SELECT {listed}, ?, ?, ?, ? "
        "ON CONFLICT (search, repository_id) DO UPDATE SET project = excluded.project, "
        "left_out = excluded.left_out, turn = excluded.turn, slice = excluded.slice, "
        "last_seen_at = excluded.last_seen_at, run_id = excluded.run_id, "
        "response_id = excluded.response_id",
        [
            *([getattr(row, name) for row in unique] for name in names),
            exchange.fetched_at,
            exchange.fetched_at,
            exchange.run_id,
            exchange.response_id,
        ],
    )


def _rename(writer: Writer, source: str, old: str, new: str) -> None:
    """Give the issues of a renamed repository their new ids, unless they have them already."""
    here, there = _beginnings(source, old, new)
    for table in ("store.comment", "store.issue_event"):
        writer.execute(
            f"UPDATE {table} SET artifact_id = {_RENAMED} WHERE starts_with(artifact_id, ?)",
            [there, len(here), here],
        )
    for table in ("store.issue", "store.departure", "store.lost_label"):
        _rename_keys(writer, table, here, there, new)


def _rename_walks(writer: Writer, source: str, old: str, new: str) -> None:
    """Where the walks of the old name stopped, those of the new one go on."""
    here, there = _beginnings(source, old, new)
    _rename_keys(writer, "store.part_read", here, there, new)
    # Wanted under both names: answers from before the change are read again by a rebuild.
    writer.execute(
        f"INSERT OR IGNORE INTO store.wanted SELECT {_RENAMED}, run_id FROM store.wanted "
        "WHERE starts_with(artifact_id, ?)",
        [there, len(here), here],
    )
    old_key, new_key = here.removesuffix("#"), there.removesuffix("#")
    stream = "? || substr(stream, ? + 1)"
    writer.execute(
        f"UPDATE store.checkpoint SET stream = {stream}, project = ? WHERE project = ? "
        f"AND {stream} NOT IN (SELECT stream FROM store.checkpoint)",
        [new_key, len(old_key), new_key, old_key, new_key, len(old_key)],
    )


def _rename_keys(writer: Writer, table: str, here: str, there: str, new: str) -> None:
    project = ", project = ?" if table == "store.issue" else ""
    writer.execute(
        f"UPDATE {table} SET artifact_id = {_RENAMED}{project} WHERE starts_with(artifact_id, ?) "
        f"AND {_RENAMED} NOT IN (SELECT artifact_id FROM {table})",
        [there, len(here), *([new] if project else []), here, there, len(here)],
    )
    writer.execute(f"DELETE FROM {table} WHERE starts_with(artifact_id, ?)", [here])


def _beginnings(source: str, old: str, new: str) -> tuple[str, str]:
    """What the ids of a repository's issues begin with, under two names."""
    first, second = (str(parse(f"{source}:{name}#1")).removesuffix("1") for name in (old, new))
    return first, second

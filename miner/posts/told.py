"""What a file says of posts, beside what the site itself has said of them.

A dump or a file of the Data Explorer may be older than an answer of the API, and does not say of
when it is. So only the API says that something is there again, a file changes what the API told
only where it knows of later activity, and what a whole list of the API lacked stays gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from faultatlas.data.old.records import PostRow, ReplyRow, Rows

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.archive import Exchange

_Told = TypeVar("_Told", PostRow, ReplyRow)
_Times = Mapping[str, datetime | None]


@dataclass
class Said:
    """Rows that may be stored, and those of them that were gone before they came."""

    posts: Sequence[PostRow]
    replies: Sequence[ReplyRow]
    gone: dict[str, datetime] = field(default_factory=dict)


def beside_the_site(reader: Reader, rows: Rows) -> Said:
    """The rows of an exchange; those of a file without what the site knows better."""
    if not rows.is_from_file or not (rows.posts or rows.replies):
        return Said(rows.posts, rows.replies)
    questions = {row.artifact_id for row in rows.posts}
    questions |= {row.artifact_id for row in rows.replies}
    by_site: dict[str, _Times] = {
        row["artifact_id"]: row
        for row in reader.rows(
            "SELECT artifact_id, answers_at, comments_at FROM store.post_told "
            "WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
            [sorted(questions)],
        )
    }
    if not by_site and rows.told is None:
        return Said(rows.posts, rows.replies)
    posts = _stored(reader, "store.post", "artifact_id", rows.posts)
    replies = _stored(reader, "store.reply", "comment_id", rows.replies)
    said = Said(
        _kept(rows.posts, "artifact_id", posts, by_site, rows.told),
        _kept(rows.replies, "comment_id", replies, by_site, rows.told),
    )
    for row in said.replies:
        times = by_site.get(row.artifact_id)
        listed_at = times["answers_at" if row.is_answer else "comments_at"] if times else None
        was_there = row.created_at is None or (listed_at and row.created_at <= listed_at)
        if listed_at and was_there and row.comment_id not in replies:
            said.gone[row.comment_id] = listed_at
    return said


def note(writer: Writer, rows: Rows, exchange: Exchange) -> None:
    """Remember of which questions the site told, and of which it gave everything."""
    whole = rows.all_replies_of
    names = sorted({row.artifact_id for row in rows.posts})
    writer.execute(
        "INSERT INTO store.post_told SELECT unnest(?::VARCHAR[]), ?, unnest(?::TIMESTAMP[]), "
        "unnest(?::TIMESTAMP[]), ? ON CONFLICT (artifact_id) DO UPDATE SET "
        "told_at = excluded.told_at, run_id = excluded.run_id, "
        "answers_at = coalesce(excluded.answers_at, post_told.answers_at), "
        "comments_at = coalesce(excluded.comments_at, post_told.comments_at)",
        [
            names,
            exchange.fetched_at,
            [exchange.fetched_at if name in whole else None for name in names],
            [exchange.fetched_at if whole.get(name) else None for name in names],
            exchange.run_id,
        ],
    )


def mark_gone(writer: Writer, gone: Mapping[str, datetime]) -> None:
    """Answers and comments that the site no longer had when it gave all there were."""
    if gone:
        writer.execute(
            "UPDATE store.reply SET gone_at = said.gone_at "
            "FROM (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::TIMESTAMP[]) AS gone_at) AS said "
            "WHERE comment_id = said.name",
            [list(gone), list(gone.values())],
        )


def _stored(reader: Reader, table: str, key: str, rows: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """What the study has of these rows."""
    if not rows:
        return {}
    names = ", ".join(item.name for item in fields(rows[0]))
    found = reader.rows(
        f"SELECT {names} FROM {table} WHERE {key} IN (SELECT unnest(?::VARCHAR[]))",
        [[getattr(row, key) for row in rows]],
    )
    return {row[key]: row for row in found}


def _kept(
    rows: Sequence[_Told],
    key: str,
    stored: Mapping[str, dict[str, Any]],
    by_site: Mapping[str, _Times],
    told: frozenset[str] | None,
) -> list[_Told]:
    kept: list[_Told] = []
    for row in rows:
        known = stored.get(getattr(row, key))
        if known is None:
            kept.append(row)
            continue
        ours, theirs = row.updated_at, known["updated_at"]
        if row.artifact_id in by_site and not (ours and theirs and ours > theirs):
            continue  # a comment has no time: what the site said of it holds
        kept.append(row if told is None else _merged(row, known, told))
    return kept


def _merged(row: _Told, known: Mapping[str, Any], told: frozenset[str]) -> _Told:
    """A row of which only some fields were said, with what is known already.

    A field that the file has and that is empty in a newer row is empty now.
    """
    said = {item.name: getattr(row, item.name) for item in fields(row)}
    stored = {
        name: tuple(value) if isinstance(value, list) else value for name, value in known.items()
    }
    ours, theirs = said["updated_at"], stored["updated_at"]
    if ours and (theirs is None or ours >= theirs):
        values = {**stored, **{name: value for name, value in said.items() if name in told}}
        return replace(row, **values)
    first, second = (said, stored) if theirs is None else (stored, said)
    values = {name: second[name] if value in (None, ()) else value for name, value in first.items()}
    return replace(row, **values)

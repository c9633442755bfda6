"""Where a list that is walked page by page goes on, so that no page is lost and few asked twice.

Lists are sorted by the time of the last update. The next request asks for `since=` the last
time seen, inclusive: counted pages would lose a row whenever an issue on a page that was read
is touched and moves to the end. Only where a whole page has one timestamp the server's own
`rel="next"` is followed; there the same loss could happen, so such a timestamp is read until a
pass over it finds nothing new.

When a list is complete, its last page is kept with its ETag: the next run asks for it again,
and an unchanged list costs one conditional request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from data.errors import StudyError
from miner.payload import moment

if TYPE_CHECKING:
    from data.store import Reader, Writer

_LONG_AGO = datetime.min  # noqa: DTZ901  (UTC without a zone, as everywhere in the study)


@dataclass(frozen=True)
class Checkpoint:
    """The page to ask for next; of a complete list, the last page again."""

    stream: str
    project: str
    selection: Mapping[str, Any]
    url: str
    since: str | None = None
    etag: str | None = None
    tie_found: bool | None = None
    is_complete: bool = False


@dataclass(frozen=True)
class Page:
    """What matters of a page that was read."""

    next_url: str | None
    last_update: str | None  # of its last row
    etag: str | None
    new_rows: int


def advance(point: Checkpoint, page: Page, url_since: Callable[[str], str]) -> Checkpoint:
    """The checkpoint after a page."""
    if page.next_url == point.url:
        raise StudyError(
            "the server names a page as the one that follows it",
            "Run this again; if it stays, the server has a fault.",
        )
    moved_on = (moment(page.last_update) or _LONG_AGO) > (moment(point.since) or _LONG_AGO)
    in_tie = point.tie_found is not None
    if in_tie and (moved_on or page.next_url is None) and (point.tie_found or page.new_rows):
        # The end of a timestamp, but its pages held new rows: read it once more.
        return replace(point, url=url_since(str(point.since)), etag=None, tie_found=False)
    if page.next_url is None:
        return replace(point, etag=page.etag, tie_found=None, is_complete=True)
    onward = replace(point, etag=None, is_complete=False)
    if moved_on:
        since = str(page.last_update)
        return replace(onward, url=url_since(since), since=since, tie_found=None)
    found = bool(point.tie_found or page.new_rows) if point.since else None
    return replace(onward, url=page.next_url, tie_found=found)


def load(reader: Reader, stream: str) -> Checkpoint | None:
    """The checkpoint of a list, if it was begun."""
    rows = reader.rows(
        "SELECT stream, project, selection, url, since, etag, tie_found, is_complete "
        "FROM store.checkpoint WHERE stream = ?",
        [stream],
    )
    return (
        Checkpoint(**{**rows[0], "selection": json.loads(rows[0]["selection"])}) if rows else None
    )


def save(writer: Writer, point: Checkpoint, run_id: str, now: datetime) -> None:
    """Store a checkpoint, in the transaction of the page before it."""
    writer.execute(
        "INSERT INTO store.checkpoint (stream, project, selection, url, since, etag, tie_found, "
        "is_complete, run_id, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (stream) DO UPDATE SET project = excluded.project, "
        "selection = excluded.selection, url = excluded.url, since = excluded.since, "
        "etag = excluded.etag, tie_found = excluded.tie_found, "
        "is_complete = excluded.is_complete, run_id = excluded.run_id, "
        "updated_at = excluded.updated_at",
        [
            point.stream,
            point.project,
            json.dumps(point.selection, sort_keys=True),
            point.url,
            point.since,
            point.etag,
            point.tie_found,
            point.is_complete,
            run_id,
            now,
        ],
    )


def drop(writer: Writer, stream: str) -> None:
    """Forget a checkpoint that is of no more use."""
    writer.execute("DELETE FROM store.checkpoint WHERE stream = ?", [stream])

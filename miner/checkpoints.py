"""Where a list that is walked page by page goes on, so that no page is lost and few asked twice.

Lists are sorted by the time of the last update. The next request asks for `since=` the last
time seen, inclusive: counted pages would lose a row whenever an issue on a page that was read
is touched and moves to the end. Only where a whole page has one timestamp the server's own
`rel="next"` is followed. There the same loss could happen, so such a timestamp is read again
until a pass over it finds as many rows as the pass before: each row that leaves a timestamp
hides at most one other, and no row ever joins one that is past.

When a list is complete, its last page is kept with its ETag: the next run asks for it again,
and an unchanged list costs one conditional request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.miner.payload import moment
from faultatlas.miner.selection import since_text
from faultatlas.miner.sources import PAGE

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer

_LONG_AGO = datetime.min  # noqa: DTZ901  (UTC without a zone, as everywhere in the study)
_SECOND = timedelta(seconds=1)  # trackers give whole ones


@dataclass(frozen=True)
class Tie:
    """The rows of one timestamp that fills more than a page."""

    rows: int  # that this pass has found so far
    before: int | None = None  # that the pass before found in all


@dataclass(frozen=True)
class Checkpoint:
    """The page to ask for next; of a complete list, the last page again."""

    stream: str
    project: str
    selection: Mapping[str, Any]
    url: str
    since: str | None = None
    etag: str | None = None
    tie: Tie | None = None
    is_complete: bool = False


@dataclass(frozen=True)
class Page:
    """What matters of a page that was read."""

    next_url: str | None
    updates: tuple[str, ...]  # of its rows, in their order
    etag: str | None


def advance(point: Checkpoint, page: Page, url_since: Callable[[str], str]) -> Checkpoint:
    """The checkpoint after a page."""
    refuse_circle(point.url, page.next_url)
    onward = replace(point, etag=None, is_complete=False)
    if point.is_complete and point.since and point.url != url_since(point.since):
        # The last page of a timestamp has changed: its rows have moved, and others with them.
        return replace(onward, url=url_since(point.since))
    since = moment(point.since) or _LONG_AGO
    last = page.updates[-1] if page.updates else None
    moved_on = (moment(last) or _LONG_AGO) > since
    is_end = page.next_url is None or moved_on
    rows = sum(moment(each) == since for each in page.updates)
    if point.tie is not None:
        rows += point.tie.rows
        if is_end and rows != point.tie.before:
            return replace(onward, url=url_since(str(point.since)), tie=Tie(0, rows))
        if moved_on:
            # All of it is read; the rows behind it may have moved while it was.
            later = str(since_text(since + _SECOND))
            return replace(onward, url=url_since(later), since=later, tie=None)
    if page.next_url is None:
        return _completed(point, page, last, url_since)
    if moved_on:
        return replace(onward, url=url_since(str(last)), since=last, tie=None)
    before = point.tie.before if point.tie else None
    return replace(onward, url=page.next_url, tie=Tie(rows, before) if point.since else None)


def _completed(
    point: Checkpoint, page: Page, last: str | None, url_since: Callable[[str], str]
) -> Checkpoint:
    done = replace(point, etag=page.etag, tie=None, is_complete=True)
    if last is None or len(page.updates) < PAGE:
        return done
    # What is new comes behind a full page and leaves it as it is, with its ETag.
    return replace(done, url=url_since(last), since=last, etag=None)


def refuse_circle(url: str | None, next_url: str | None) -> None:
    """Do not follow a page that leads to itself."""
    if url is not None and next_url == url:
        raise StudyError(
            "the server names a page as the one that follows it",
            "Run this again; if it stays, the server has a fault.",
        )


def load(reader: Reader, stream: str) -> Checkpoint | None:
    """The checkpoint of a list, if it was begun."""
    rows = reader.rows(
        "SELECT stream, project, selection, url, since, etag, is_complete "
        "FROM store.checkpoint WHERE stream = ?",
        [stream],
    )
    if not rows:
        return None
    about = json.loads(rows[0]["selection"])
    tie = about.pop("tie", None)
    return Checkpoint(**{**rows[0], "selection": about, "tie": Tie(**tie) if tie else None})


def save(writer: Writer, point: Checkpoint, run_id: str, now: datetime) -> None:
    """Store a checkpoint, in the transaction of the page before it."""
    tie = {"tie": asdict(point.tie)} if point.tie else {}
    writer.put(
        "store.checkpoint",
        {"stream": point.stream},
        {
            "project": point.project,
            "selection": json.dumps({**point.selection, **tie}, sort_keys=True),
            "url": point.url,
            "since": point.since,
            "etag": point.etag,
            "is_complete": point.is_complete,
            "run_id": run_id,
            "updated_at": now,
        },
    )


def drop(writer: Writer, stream: str) -> None:
    """Forget a checkpoint that is of no more use."""
    writer.execute("DELETE FROM store.checkpoint WHERE stream = ?", [stream])

"""The lists of questions that the API gives, walked to their end and from there on.

The first time a list is walked by the time of asking, which never changes: `min=` the last time
seen asks for the next hundred. When that is done, what has changed is asked for by the time of
activity, from before the first walk began, and from then on from a little before the last activity
seen: what a replica was late with is found, too. A list on which nothing happened costs one
request. Only where a hundred questions have one time are pages counted (see `miner.checkpoints`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from faultatlas.data.errors import StudyError
from faultatlas.miner import checkpoints
from faultatlas.miner.checkpoints import Checkpoint, Page
from faultatlas.miner.payload import entries, entry
from faultatlas.miner.payload import moment as moment_of_text
from faultatlas.miner.posts.api_rows import moment
from faultatlas.miner.selection import since_text
from faultatlas.miner.sources import PAGE

if TYPE_CHECKING:
    from faultatlas.miner.http import Response
    from faultatlas.miner.posts.ingest import PostIngest
    from faultatlas.miner.posts.selection import PostSelection

_EARLIER = timedelta(minutes=10)  # the server's cache, and replicas that are behind
_MOST_PAGES = 10_000  # of one second: a server that gives more does not keep to `min`
_TIMES = {"creation": "creation_date", "activity": "last_activity_date"}


@dataclass(frozen=True)
class Walked:
    """What a walk found."""

    tags: tuple[str, ...]
    is_known: bool  # whether any question has the tags
    is_first: bool  # whether the list was never walked to its end before
    requests: int


def walk_all(ingest: PostIngest, selection: PostSelection, fields: str) -> list[Walked]:
    """Read all lists to their ends; first those that never were, which are the most to lose."""
    begun = {tags: _begun(ingest, selection, tags) for tags in selection.walks}

    def is_complete(tags: tuple[str, ...]) -> bool:
        point = begun[tags]
        return point is not None and point.is_complete

    order = sorted(selection.walks, key=is_complete)
    return [_walk(ingest, _Asked(selection, tags, fields), begun[tags]) for tags in order]


def _walk(ingest: PostIngest, asked: _Asked, point: Checkpoint | None) -> Walked:
    """Read one list to its end, from where it was left."""
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    client, tags, about = ingest.client, asked.tags, asked.selection.as_json(asked.tags)
    if point is None:
        place = {"sort": "creation", "began": None}
        stream, url = _stream(ingest, about), asked.url("creation", None, 1)
        point = Checkpoint(stream, ingest.project, {**about, **place}, url)
    is_first, before = point.selection["sort"] == "creation", client.sent
    while True:
        sort = str(point.selection["sort"])
        response = client.get(*_split(point.url), partial(_fault, sort=sort))
        said = response.json()
        if not entry(said, "items"):
            is_known = point.since is not None or not is_first
            if not is_known or point.is_complete:  # nothing to store
                return Walked(tags, is_known, is_first, client.sent - before)
        if point.selection["began"] is None:
            began = since_text(_server_time(response) - _EARLIER)
            point = replace(point, selection={**point.selection, "began": began})
        request = {"kind": "questions", **about, "sort": sort}
        point = _advanced(point, said, asked, str(since_text(_server_time(response))))
        ingest.keep(ingest.exchange(response, request), [point])
        if point.is_complete:
            return Walked(tags, True, is_first, client.sent - before)


@dataclass(frozen=True)
class _Asked:
    """The addresses of a list."""

    selection: PostSelection
    tags: tuple[str, ...]
    fields: str

    def url(self, sort: str, since: str | None, page: int) -> str:
        """A page of a list; `min` is about what it is sorted by, `fromdate` about the asking."""
        parameters = {
            "filter": self.fields,
            "order": "asc",
            "page": page,
            "pagesize": PAGE,
            "site": self.selection.site,
            "sort": sort,
            "tagged": ";".join(self.tags),
        }
        if since is not None:
            parameters["min"] = _seconds(since)
        if self.selection.since is not None:
            parameters["fromdate"] = _seconds(str(since_text(self.selection.since)))
        return f"/questions?{urlencode(sorted(parameters.items()))}"


def _advanced(point: Checkpoint, said: Any, asked: _Asked, now: str) -> Checkpoint:
    sort = str(point.selection["sort"])
    times = tuple(_times(said, _TIMES[sort]))
    page = _page_of(point.url)
    following = None
    if entry(said, "has_more") is True:
        following = asked.url(sort, point.since, page + 1)
    if page >= _MOST_PAGES:
        raise StudyError(
            "the server gives questions without end for one second",
            "Check the address of the API; if it is right, run this again later.",
        )
    newest = None
    if sort == "activity":
        newest = max(filter(None, (point.selection.get("newest"), *times)), default=None)
        point = replace(point, selection={**point.selection, "newest": newest})
    found = checkpoints.advance(
        replace(point, is_complete=False),
        Page(following, times, None),
        lambda since: asked.url(sort, since, 1),
    )
    if not found.is_complete:
        return found
    # What comes next is what changes from now on. Where nothing was active, a walk begins where
    # this one did: each would go farther back.
    since = point.selection["began"] if sort == "creation" else point.since
    if newest is not None:
        newest = min(newest, now)  # a time to come would hide everything until then
        since = _before(newest)
    return replace(
        found,
        selection={**point.selection, "sort": "activity", "newest": newest},
        url=asked.url("activity", since, 1),
        since=since,
        tie=None,
    )


def _fault(said: Mapping[str, Any], sort: str) -> str | None:
    """What makes a page useless: taken as the last one, it would end the list too early."""
    has_more = said.get("has_more")
    if not isinstance(has_more, bool):
        return "it does not say whether more questions follow"
    if any(_times(said, _TIMES[sort])) or not (said.get("items") or has_more):
        return None
    return f"it has no question with a {_TIMES[sort]}"


def _before(time: str) -> str:
    found = moment_of_text(time)
    return time if found is None else str(since_text(found - _EARLIER))


def _stream(ingest: PostIngest, about: Mapping[str, Any]) -> str:
    return f"{ingest.project} posts {json.dumps(about, sort_keys=True)}"


def _begun(
    ingest: PostIngest, selection: PostSelection, tags: tuple[str, ...]
) -> Checkpoint | None:
    if not ingest.study.exists:  # it is made with the first page, not for a misspelt tag
        return None
    # Not reading: the run before may have been killed before there were tables.
    with ingest.study.writing(keep_log=True) as writer:
        return checkpoints.load(writer, _stream(ingest, selection.as_json(tags)))


def _times(said: Any, name: str) -> Iterator[str]:
    for item in entries(entry(said, "items")):
        if (found := since_text(moment(item.get(name)))) is not None:
            yield found


def _seconds(time: str) -> int:
    found = moment_of_text(time)
    return max(0, int(found.replace(tzinfo=UTC).timestamp())) if found else 0


def _page_of(url: str) -> int:
    found = re.search(r"[?&]page=([0-9]+)", url)
    return int(found[1]) if found else 1


def _split(url: str) -> tuple[str, Mapping[str, str]]:
    path, _, query = url.partition("?")
    return path, dict(parse_qsl(query, keep_blank_values=True))


def _server_time(response: Response) -> datetime:
    """What time it is for the server; ours where it does not say."""
    try:
        found = parsedate_to_datetime(response.headers.get("date", ""))
        return found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError, IndexError):
        return response.received_at.replace(microsecond=0)

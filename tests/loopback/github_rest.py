"""GitHub's REST API: repositories, issues, comments, timelines, quota."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopback import github_search, pages
from loopback.entries import Entry
from loopback.exchange import Refused, Reply, Request, as_json, error, moved, raw_json
from loopback.payloads import instant
from loopback.repositories import repository
from loopback.timelines import timeline
from loopback.tracker import Remark, Tracker, encode

if TYPE_CHECKING:
    from loopback.world import World

REPOSITORY = re.compile(r"/(?:repos/(?P<name>[^/]+/[^/]+)|repositories/(?P<id>\d+))(?P<rest>/.*)?")
NO_PAGES = (
    "Pagination with the page parameter is not supported for large datasets, "
    "please use cursor based pagination (after/before)"
)


def answer(world: World, request: Request, path: str) -> Reply:
    try:
        return _routed(world, request, path)
    except Refused as refused:
        return refused.reply


def _routed(world: World, request: Request, path: str) -> Reply:
    if request.method != "GET":
        return not_found()
    if path == "/rate_limit":
        return rate_limit(world, request)
    if path.startswith("/search/"):
        return github_search.answer(world, request, path)
    match = REPOSITORY.fullmatch(path)
    if match is None:
        return not_found()
    rest = match["rest"] or ""
    tracker = _tracker(world, request, match, rest)
    if not rest:
        return as_json(repository(tracker))
    return of_issues(world, request, tracker, rest)


def _tracker(world: World, request: Request, match: re.Match[str], rest: str) -> Tracker:
    """The repository that a path names; an earlier name leads to the present address."""
    is_former = False
    if match["name"]:
        tracker, is_former = world.find(match["name"])
    else:
        tracker = world.by_id(int(match["id"]))
    if tracker is None or not world.may_see(tracker, request.token):
        raise Refused(not_found())
    if is_former:
        query = request.target.partition("?")[2]
        address = f"{world.base_url}/repositories/{tracker.id}{rest}"
        raise Refused(moved(f"{address}?{query}" if query else address))
    return tracker


def of_issues(world: World, request: Request, tracker: Tracker, rest: str) -> Reply:
    if not tracker.has_issues:
        return error(410, "Issues are disabled for this repo", "/issues/issues")
    if rest == "/issues":
        return issues(world, request, tracker)
    if rest == "/issues/comments":
        return all_comments(world, request, tracker)
    match = re.fullmatch(r"/issues/(\d+)(/comments|/timeline)?", rest)
    if match is None:
        return not_found()
    number, what = int(match[1]), match[2] or ""
    if number not in tracker.entries:
        return absent(world, tracker, number, what)
    parts = {"": issue, "/comments": comments, "/timeline": events}
    return parts[what](world, request, tracker, number)


def issue(_world: World, _request: Request, tracker: Tracker, number: int) -> Reply:
    return raw_json(tracker.encoded(number))


def events(world: World, request: Request, tracker: Tracker, number: int) -> Reply:
    address = f"{world.base_url}/repositories/{tracker.id}/issues/{number}/timeline"
    page = pages.by_number(request, timeline(tracker, number), address, world.page_limit)
    return as_json(page.rows, headers=page.headers)


def issues(world: World, request: Request, tracker: Tracker) -> Reply:
    query = request.query
    since = _since(request)
    sort = query.get("sort", "created")
    descending = query.get("direction", "desc") != "asc"
    rows = tracker.issues(
        state=query.get("state", "open"),
        labels=[name for name in query.get("labels", "").split(",") if name],
        sort=sort if sort in {"created", "updated", "comments"} else "created",
        descending=descending,
        since=since,
    )
    address = f"{world.base_url}/repositories/{tracker.id}/issues"
    here = pages.number(request)
    if here > 1 and (world.cursor_only or (world.page_ceiling and here > world.page_ceiling)):
        return error(422, NO_PAGES, "/issues/issues#list-repository-issues")
    if world.cursor_only:

        def key(entry: Entry) -> list[int]:
            return [getattr(entry, sort), entry.number]

        page = pages.by_cursor(request, rows, address, world.page_limit, key, descending=descending)
    else:
        page = pages.by_number(request, rows, address, world.page_limit)
    body = b"[%b]" % b",".join(tracker.encoded(entry.number) for entry in page.rows)
    return raw_json(body, headers=page.headers)


def comments(world: World, request: Request, tracker: Tracker, number: int) -> Reply:
    since = _since(request)
    rows = [r for r in tracker.comments_of(number) if since is None or r.updated >= since]
    return _comment_page(world, request, tracker, rows, f"/issues/{number}/comments")


def all_comments(world: World, request: Request, tracker: Tracker) -> Reply:
    query = request.query
    since = _since(request)
    sort = query.get("sort", "")
    rows = tracker.comments(
        sort=sort if sort in {"created", "updated"} else "id",
        descending=bool(sort) and query.get("direction", "desc") != "asc",
        since=since,
    )
    return _comment_page(world, request, tracker, rows, "/issues/comments")


def _comment_page(
    world: World, request: Request, tracker: Tracker, rows: Sequence[Remark], rest: str
) -> Reply:
    address = f"{world.base_url}/repositories/{tracker.id}{rest}"
    page = pages.by_number(request, rows, address, world.page_limit)
    body = b"[%b]" % b",".join(encode(tracker.comment_payload(row)) for row in page.rows)
    return raw_json(body, headers=page.headers)


def absent(world: World, tracker: Tracker, number: int, what: str) -> Reply:
    """The answer for an issue that is not, or no longer, here."""
    gone = tracker.gone.get(number)
    if gone is None or gone.how == "hidden":
        return not_found("/issues/issues#get-an-issue")
    if gone.how == "deleted":
        return error(410, "This issue was deleted", "/issues/issues#get-an-issue")
    return moved(f"{world.base_url}{gone.to}{what}")


def rate_limit(world: World, request: Request) -> Reply:
    token = request.token
    known = {name: world.quotas.of(token, name).payload() for name in ("core", "search", "graphql")}
    return as_json({"resources": known, "rate": known["core"]})


def not_found(page: str = "") -> Reply:
    return error(404, "Not Found", page)


def _since(request: Request) -> int | None:
    """The time from which on updates are wanted, in seconds since 1970."""
    text = request.query.get("since")
    try:
        return instant(text) if text else None
    except ValueError:
        raise Refused(error(422, "Validation Failed", "/issues")) from None

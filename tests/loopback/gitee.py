"""Gitee's API v5, with the same issues as GitHub's in another form.

Numbers are strings, times are those of China, pull requests are numbered apart and not here,
lists count their pages in headers, and a token may stand in the query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loopback import gitee_payloads, pages
from loopback.exchange import Reply, Request, as_json
from loopback.gitee_payloads import number_of, state_of
from loopback.payloads import instant
from loopback.tracker import Remark, Tracker

if TYPE_CHECKING:
    from loopback.world import World

REPOSITORY = re.compile(r"/api/v5/repos/([^/]+/[^/]+)(/.*)?")


def answer(world: World, request: Request) -> Reply:
    token = request.query.get("access_token") or request.token
    if token is not None and token not in world.tokens:
        return refused(401, "401 Unauthorized: Access token does not exist")
    quota = world.quotas.of(token)
    if quota.remaining <= 0:
        reply = refused(403, "Rate Limit Exceeded")
    else:
        quota.remaining -= 1
        reply = _route(world, request, token)
    known = quota.headers()
    reply.headers |= {name: known[name] for name in ("x-ratelimit-limit", "x-ratelimit-remaining")}
    return reply


def _route(world: World, request: Request, token: str | None) -> Reply:
    match = REPOSITORY.fullmatch(request.path.rstrip("/"))
    if match is None or request.method != "GET":
        return refused(404, "Not Found")
    tracker = world.find(match[1])[0]
    if tracker is None or not world.may_see(tracker, token):
        return refused(404, "Not Found Project")
    rest = match[2] or ""
    if not rest:
        return as_json(gitee_payloads.repository(tracker))
    if rest == "/issues":
        return _issues(world, request, tracker)
    if rest == "/issues/comments":
        return _all_comments(world, request, tracker)
    return _of_issue(world, request, tracker, rest)


def _of_issue(world: World, request: Request, tracker: Tracker, rest: str) -> Reply:
    match = re.fullmatch(r"/issues/([^/]+)(/comments)?", rest)
    entry = tracker.entries.get(number_of(match[1]) or 0) if match else None
    if match is None or entry is None or entry.is_pull:
        return refused(404, "Not Found")
    if not match[2]:
        return as_json(gitee_payloads.issue(tracker, entry))
    since = _since(request)
    rows = [r for r in tracker.comments_of(entry.number) if since is None or r.updated >= since]
    return _comments(
        world, request, tracker, rows[:: -1 if request.query.get("order") == "desc" else 1]
    )


def _issues(world: World, request: Request, tracker: Tracker) -> Reply:
    query = request.query
    state = query.get("state", "open")
    if state not in {"open", "progressing", "closed", "rejected", "all"}:
        return refused(400, "state does not have a valid value")
    rows = tracker.issues(
        labels=[name for name in query.get("labels", "").split(",") if name],
        sort="updated" if query.get("sort", "created").startswith("updated") else "created",
        descending=query.get("direction", "desc") != "asc",
        since=_since(request),
    )
    kept = [row for row in rows if not row.is_pull and state in {"all", state_of(tracker, row)}]

    of = gitee_payloads.repository(tracker)
    return _page(world, request, kept, lambda row: gitee_payloads.issue(tracker, row, of))


def _all_comments(world: World, request: Request, tracker: Tracker) -> Reply:
    query = request.query
    rows = tracker.comments(
        sort="updated" if query.get("sort") == "updated" else "created",
        descending="sort" in query and query.get("direction") == "desc",
        since=_since(request),
    )
    kept = [row for row in rows if not tracker.entries[row.number].is_pull]
    return _comments(world, request, tracker, kept)


def _comments(world: World, request: Request, tracker: Tracker, rows: list[Remark]) -> Reply:
    return _page(world, request, rows, lambda row: gitee_payloads.comment(tracker, row))


def _page(world: World, request: Request, rows: Sequence[Any], make: Any) -> Reply:
    asked = request.query.get("per_page", "")
    step = min(int(asked) if asked.isdigit() and int(asked) > 0 else 20, world.page_limit)
    here = pages.number(request)
    counts = {"total_count": str(len(rows)), "total_page": str(-(-len(rows) // step))}
    return as_json([make(row) for row in rows[(here - 1) * step : here * step]], headers=counts)


def _since(request: Request) -> int | None:
    text = request.query.get("since")
    return instant(text) if text else None


def refused(status: int, message: str) -> Reply:
    return as_json({"message": message}, status)

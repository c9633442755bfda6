"""What all answers of the loopback GitHub share: identity, quota, ETags, headers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from loopback import github_rest
from loopback.exchange import Reply, Request, error

if TYPE_CHECKING:
    from loopback.world import World

NO_USER_AGENT = (
    b"\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent"
    b" header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api"
    b"#user-agent-required). Check https://developer.github.com for other possible causes.\r\n"
)


def answer(world: World, request: Request) -> Reply:
    if not request.headers.get("user-agent"):
        return Reply(403, NO_USER_AGENT, {"content-type": "text/html; charset=utf-8"})
    path = _inner(request.path)
    resource = _resource(path)
    token = request.token
    if token is not None and token not in world.tokens:
        reply = error(401, "Bad credentials")
        reply.headers |= _common(request)
        return reply
    if resource == "graphql" and token is None:
        reply = error(401, "This endpoint requires you to be authenticated.", "/graphql")
        reply.headers |= _common(request)
        return reply
    quota = world.quotas.of(token, resource)
    is_free = path == "/rate_limit"
    if quota.remaining <= 0 and not is_free:
        reply = _used_up(token)
    else:
        reply = _conditional(request, _route(world, request, path))
        # Without a token, GitHub counts even what has not changed.
        if not (is_free or reply.free or (reply.status == 304 and token is not None)):
            quota.remaining -= 1
    reply.headers |= quota.headers() | _common(request)
    return reply


def _route(world: World, request: Request, path: str) -> Reply:
    if path != "/graphql":
        return github_rest.answer(world, request, path)
    from loopback import github_graphql  # only here: measurements run without graphql-core

    return github_graphql.answer(world, request)


def _inner(path: str) -> str:
    """The path without the prefix that GitHub Enterprise has."""
    if path == "/api/graphql":
        return "/graphql"
    return path.removeprefix("/api/v3").rstrip("/") or "/"


def _resource(path: str) -> str:
    if path == "/graphql":
        return "graphql"
    return "search" if path.startswith("/search/") else "core"


def _used_up(token: str | None) -> Reply:
    page = "/overview/resources-in-the-rest-api#rate-limiting"
    if token is None:
        return error(
            403,
            "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated "
            "requests get a higher rate limit. Check out the documentation for more details.)",
            page,
        )
    return error(403, "API rate limit exceeded for user ID 1.", page)


def _conditional(request: Request, reply: Reply) -> Reply:
    if reply.status != 200 or request.method != "GET":
        return reply
    digest = hashlib.sha256(reply.body).hexdigest()
    reply.headers["etag"] = f'W/"{digest}"'
    asked = request.headers.get("if-none-match", "")
    known = {tag.strip().removeprefix("W/").strip('"') for tag in asked.split(",")}
    if digest not in known:
        return reply
    kept = {name: value for name, value in reply.headers.items() if name in {"etag", "link"}}
    return Reply(304, b"", kept)


def _common(request: Request) -> dict[str, str]:
    number = f"{request.number:08X}"
    return {
        "server": "github.com",
        "cache-control": "private, max-age=60, s-maxage=60",
        "vary": "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept",
        "x-github-media-type": "github.v3; format=json",
        "x-github-api-version-selected": "2022-11-28",
        "x-github-request-id": f"0400:{number[:4]}:{number}:{number}:68000000",
    }

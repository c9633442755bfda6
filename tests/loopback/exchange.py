"""A request as the server saw it and what it answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

DOCS = "https://docs.github.com/rest"


@dataclass
class Request:
    """One request. Tokens stay in it, so that tests can say who sends them where."""

    number: int  # 1 for the first
    method: str
    target: str  # path and query as they were sent
    headers: Mapping[str, str]  # names in lower case
    body: bytes = b""
    status: int = 0  # of the answer; 0 while there is none
    was_conditional: bool = field(init=False)
    path: str = field(init=False)
    query: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.target)
        self.path = unquote(parts.path)
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.was_conditional = "if-none-match" in self.headers

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The query in the order in which it was sent."""
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def token(self) -> str | None:
        """The token of the Authorization header."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() in {"token", "bearer"} else None


@dataclass
class Reply:
    """An answer, and how its transmission goes wrong."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: float | None = None  # the part of the body after which the connection is closed
    chunked: bool = False
    reset: bool = False  # the connection is reset instead of closed
    free: bool = False  # does not count against the quota


class Refused(Exception):  # noqa: N818 - it is an answer, not an error
    """A request is answered with this instead of what it asked for."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def as_json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return raw_json(body, status, headers)


def raw_json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    kind = {"content-type": "application/json; charset=utf-8"}
    return Reply(status, body, kind | dict(headers or {}))


def error(status: int, message: str, page: str = "", **more: Any) -> Reply:
    """An error as GitHub words it."""
    return as_json(
        {"message": message, **more, "documentation_url": DOCS + page, "status": str(status)},
        status,
    )


def moved(url: str) -> Reply:
    """GitHub's redirect of what has another address for good."""
    body = {
        "message": "Moved Permanently",
        "url": url,
        "documentation_url": f"{DOCS}/using-the-rest-api/best-practices#follow-redirects",
    }
    return as_json(body, 301, {"location": url})

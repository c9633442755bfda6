"""What can go wrong between a client and the server, to be ordered by a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loopback.exchange import DOCS, Reply, Request, as_json, error

if TYPE_CHECKING:
    from loopback.world import World

On = int | str | Callable[[Request], bool] | None
Act = Callable[[Request, "World", Callable[[], Reply]], Reply]

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID 0400:0001."
)


@dataclass
class Fault:
    """Goes wrong `times` times (None: always) for the requests that `on` says.

    `on` is the number of the first request it may hit (1 is the first of all), a part of the
    address, or a function of the request; None is every request.
    """

    act: Act
    times: int | None = 1
    on: On = None
    happened: int = 0

    def hits(self, request: Request) -> bool:
        if self.times is not None and self.happened >= self.times:
            return False
        match self.on:
            case None:
                return True
            case int(first):
                return request.number >= first
            case str(part):
                return part in request.target
            case asked:
                return asked(request)

    @classmethod
    def status(
        cls, status: int, *, message: str = "Server Error", times: int | None = 1, on: On = None
    ) -> Fault:
        return cls(lambda *_: error(status, message), times, on)

    @classmethod
    def html(cls, status: int = 502, *, times: int | None = 1, on: On = None) -> Fault:
        """The page that stands in front of a broken server."""
        page = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
        reply = {"content-type": "text/html"}
        return cls(lambda *_: Reply(status, page, dict(reply)), times, on)

    @classmethod
    def too_many(
        cls, retry_after: int | str | None = None, *, times: int | None = 1, on: On = None
    ) -> Fault:
        return cls(lambda *_: _later(429, "Too many requests", retry_after), times, on)

    @classmethod
    def secondary_limit(
        cls, *, retry_after: int | str | None = None, times: int | None = 3, on: On = None
    ) -> Fault:
        def act(request: Request, world: World, _go: Callable[[], Reply]) -> Reply:
            reply = _later(403, SECONDARY, retry_after)
            reply.headers |= world.quotas.of(request.token).headers()
            return reply

        return cls(act, times, on)

    @classmethod
    def primary_limit(
        cls, reset: float | str, *, status: int = 403, times: int | None = 1, on: On = None
    ) -> Fault:
        """The quota is used up until `reset`, which may be any nonsense."""

        def act(request: Request, world: World, _go: Callable[[], Reply]) -> Reply:
            limit = world.quotas.of(request.token).limit
            reply = error(status, "API rate limit exceeded for user ID 1.", "/rate-limit")
            reply.headers |= {
                "x-ratelimit-limit": str(limit),
                "x-ratelimit-remaining": "0",
                "x-ratelimit-used": str(limit),
                "x-ratelimit-reset": str(reset),
                "x-ratelimit-resource": "core",
            }
            return reply

        return cls(act, times, on)

    @classmethod
    def cut_body(
        cls, fraction: float = 0.5, *, chunked: bool = False, times: int | None = 1, on: On = None
    ) -> Fault:
        """A part of the body, then the end of the connection."""

        def act(_request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
            reply = go()
            reply.cut, reply.chunked = fraction, chunked
            return reply

        return cls(act, times, on)

    @classmethod
    def reset(cls, *, times: int | None = 1, on: On = None) -> Fault:
        """The connection is reset in mid-body."""

        def act(_request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
            reply = go()
            reply.cut, reply.reset = 0.5, True
            return reply

        return cls(act, times, on)

    @classmethod
    def bad_json(cls, *, times: int | None = 1, on: On = None) -> Fault:
        """A whole answer, status 200, whose JSON ends too early."""

        def act(_request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
            reply = go()
            reply.body = reply.body[: len(reply.body) // 2]
            return reply

        return cls(act, times, on)

    @classmethod
    def changed(
        cls, change: Callable[[Reply], None], *, times: int | None = 1, on: On = None
    ) -> Fault:
        """Any other change of the answer, such as a header taken away."""

        def act(_request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
            reply = go()
            change(reply)
            return reply

        return cls(act, times, on)

    @staticmethod
    def between(callback: Callable[[], object], after: int = 1) -> Between:
        """Runs `callback` between request number `after` and the one that follows."""
        return Between(callback, after)


@dataclass
class Between:
    """Something happens on the server between two requests."""

    callback: Callable[[], object]
    after: int
    done: bool = False


class Faults:
    """The faults that a test has ordered, in order; the first that fits a request happens."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._betweens: list[Between] = []

    def add(self, *faults: Fault | Between) -> None:
        for fault in faults:
            if isinstance(fault, Between):
                self._betweens.append(fault)
            else:
                self._faults.append(fault)

    def clear(self) -> None:
        self._faults.clear()
        self._betweens.clear()

    def take(self, request: Request) -> Fault | None:
        for fault in self._faults:
            if fault.hits(request):
                fault.happened += 1
                return fault
        return None

    def answered(self, request: Request) -> None:
        for between in self._betweens:
            if not between.done and request.number >= between.after:
                between.done = True
                between.callback()

    @property
    def pending(self) -> list[Fault | Between]:
        """What a test has ordered and never got."""
        left: list[Fault | Between] = [
            fault for fault in self._faults if fault.times and fault.happened < fault.times
        ]
        return left + [between for between in self._betweens if not between.done]


def _later(status: int, message: str, retry_after: int | str | None) -> Reply:
    page = "/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return as_json({"documentation_url": DOCS + page, "message": message}, status, headers)

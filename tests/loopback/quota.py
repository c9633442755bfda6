"""How many requests each caller has left, as GitHub counts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ANONYMOUS = 60
WINDOW_S = {"core": 3600, "graphql": 3600, "search": 60}


@dataclass
class Quota:
    """What one caller may still ask of one resource. Tests may set any of it."""

    resource: str
    limit: int
    remaining: int
    reset: int | str  # text where a test wants nonsense

    @property
    def used(self) -> int:
        return self.limit - self.remaining

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(self.reset),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-resource": self.resource,
        }

    def payload(self) -> dict[str, int | str]:
        return {
            "limit": self.limit,
            "used": self.used,
            "remaining": self.remaining,
            "reset": self.reset,
        }


class Quotas:
    """The quota of every caller; refilled when its window is over."""

    def __init__(self, tokens: dict[str, int], clock: Callable[[], float]) -> None:
        self._tokens = tokens
        self._clock = clock
        self._known: dict[tuple[str | None, str], Quota] = {}

    def of(self, token: str | None, resource: str = "core") -> Quota:
        now = int(self._clock())
        quota = self._known.get((token, resource))
        if quota is None:
            limit = self._limit(token, resource)
            quota = Quota(resource, limit, limit, now + WINDOW_S[resource])
            self._known[token, resource] = quota
        elif isinstance(quota.reset, int) and quota.reset <= now:
            quota.remaining = quota.limit
            quota.reset = now + WINDOW_S[resource]
        return quota

    def _limit(self, token: str | None, resource: str) -> int:
        if resource == "search":
            return 10 if token is None else 30
        if token is None:
            return ANONYMOUS if resource == "core" else 0
        return self._tokens[token] if resource == "core" else 5000

"""A client against a scripted server at a fixed moment: for tests of the client."""

from __future__ import annotations

from datetime import datetime

from loopback.scripted import Scripted

START = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001  (as the study stores it: UTC, no zone)
EPOCH = 1772600767  # the same moment in seconds
TOKEN = "ghp_0123456789abcdef0123456789abcdef0123"  # noqa: S105  (made up)


def quota(left: int, reset: object) -> dict[str, str]:
    """What a server says of the quota in its headers."""
    return {
        "X-RateLimit-Limit": "60",
        "X-RateLimit-Remaining": str(left),
        "X-RateLimit-Reset": str(reset),
        "X-RateLimit-Resource": "core",
    }


def targets(server: Scripted) -> list[str]:
    """What was asked for."""
    return [asked.target for asked in server.asked]

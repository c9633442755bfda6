"""Time, waiting and chance: whoever stores a time or waits for a server asks here."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime


def _system_time() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass
class Clock:
    """Time and chance, injected so that tests neither sleep nor guess."""

    now: Callable[[], datetime] = _system_time  # UTC without a zone
    sleep: Callable[[float], None] = time.sleep
    random: random.Random = field(default_factory=random.Random)


_testing: Clock | None = None


def current_clock() -> Clock:
    """The clock of this process."""
    return _testing or Clock()


def utc_now() -> datetime:
    """Now, as the study stores it: UTC without a zone."""
    return current_clock().now()


def set_testing(clock: Clock | None) -> None:
    """Give this process another clock, for tests; None gives it the system's again."""
    global _testing  # noqa: PLW0603 - the one place that knows which clock is in use
    _testing = clock

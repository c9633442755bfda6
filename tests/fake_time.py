"""A clock that sleeping moves; nothing waits."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from faultatlas.data.clock import Clock


@dataclass
class FakeTime:
    """The time now, and how long was slept."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(tzinfo=None))
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def clock(self) -> Clock:
        """For one client."""
        return Clock(lambda: self.now, self.sleep, random.Random(1))  # noqa: S311  (seeded jitter)

    def clock_of_all(self) -> Clock:
        """For a whole program, in which what happens later has a later time."""

        def later() -> datetime:
            self.now += timedelta(microseconds=1)
            return self.now

        return Clock(later, self.sleep, random.Random(1))  # noqa: S311  (seeded jitter)

"""A wait before the next request, told beforehand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from faultatlas.miner.refusals import duration
from faultatlas.report.formatting import local_time

if TYPE_CHECKING:
    from faultatlas.data.clock import Clock
    from faultatlas.miner.ratelimit import Decision, Tries


def wait(
    decision: Decision,
    tries: Tries,
    *,
    server: str,
    clock: Clock,
    tell: Callable[[str], None],
    with_day: bool = False,
) -> float:
    """Wait as decided, and count why; the seconds."""
    if decision.cause == "trouble":
        tries.failures += 1
    else:
        tries.limit_waits += 1
    words = f"{server}: {decision.reason}; waiting {duration(decision.seconds)}"
    if decision.seconds >= 60:
        end = clock.now() + timedelta(seconds=decision.seconds)
        words += f", until {local_time(end, with_day=with_day)}"
    tell(words)
    clock.sleep(decision.seconds)
    return decision.seconds

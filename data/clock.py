"""Time, waiting and chance, and the times that people type."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown


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


# --- what people type ---------------------------------------------------------------------

_UNITS_S = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
# The largest unit first, each at most once: `1h30m` is read in one way only.
_DURATION = re.compile(
    "(?=[0-9])" + "".join(f"(?:([0-9]{{1,9}}){unit})?" for unit in _UNITS_S), re.IGNORECASE
)
_LONGEST_S = 366 * 86_400
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?P<hour>[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?P<zone>[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def seconds(text: str) -> int:
    """A duration in seconds: `0`, `90`, `15m`, `2h`, `1h30m`, `1d`."""
    words = text.strip()
    parts = _DURATION.fullmatch(words)
    if parts:
        total = sum(int(n or 0) * s for n, s in zip(parts.groups(), _UNITS_S.values(), strict=True))
    elif re.fullmatch("[0-9]{1,9}", words):
        total = int(words)
    else:
        raise StudyError(
            f"{shown(text)} is not a duration",
            "Examples: 90, 15m, 2h, 1h30m.",
        )
    if total > _LONGEST_S:
        raise StudyError(f"{shown(text)} is more than a year", "Write a shorter duration.")
    return total


def utc_time(text: str) -> datetime:
    """A day (`2023-01-31`, its midnight in UTC) or an ISO 8601 time with its zone.

    The study stores times in UTC without a zone, and so is the answer.
    """
    words = text.strip()
    parts = _TIME.fullmatch(words)
    example = "2023-01-31 or 2023-01-31T12:00:00Z"
    if parts is None:
        raise StudyError(f"{shown(text)} is not a time", f"Write a day or a time: {example}.")
    if parts["hour"] and not parts["zone"]:
        # The same words mean another moment on another machine.
        raise StudyError(f"{shown(text)} has no time zone", f"Write it with one: {words}Z.")
    try:
        time = datetime.fromisoformat(words.upper())
        # A day without a zone is one of UTC: the same words, the same issues, everywhere.
        aware = time if time.tzinfo else time.replace(tzinfo=UTC)
        return aware.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):  # the 30th of February; year 1 east of Greenwich
        raise StudyError(
            f"{shown(text)} is not in the calendar", f"Write it like {example}."
        ) from None

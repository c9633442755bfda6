"""What the Stack Exchange API says beside its items: quota, pauses, errors.

Pure functions. Its errors come with status 400 and a number of their own; a `backoff` in any
answer asks for a pause of one method; both are in the body, not in headers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.miner import ratelimit
from faultatlas.miner.http import parsed
from faultatlas.miner.payload import integer, text
from faultatlas.miner.ratelimit import LIMIT_WAITS, Decision, Quota, Tries

SHORT_S = 120.0  # a pause that is made however little the user wants to wait
_SLACK_S = 2.0  # the server counts from when it answered; a second more was not always enough
_FIRST_S = 60.0
_LONGEST_S = 86_400.0  # the quota is for a day
_THROTTLED = 502
_AGAIN = {500, 503}  # of the API's own numbers
_AVAILABLE = re.compile(r"available in ([0-9]{1,9}) second", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    """An answer as far as it concerns the asking."""

    document: Mapping[str, Any]
    error_id: int | None = None
    error_name: str = ""
    words: str = ""  # of an error


def said_in(body: bytes) -> Said | None:
    """What an answer says; None for what is no document of the API."""
    try:
        document = parsed(body)
    except (ValueError, StudyError):
        return None
    if not isinstance(document, dict):
        return None
    number = document.get("error_id")
    if not isinstance(number, int):
        is_sound = isinstance(document.get("items"), list) or "total" in document
        return Said(document) if is_sound else None
    words = " ".join((text(document.get("error_message")) or "").split())[:300]
    return Said(document, number, text(document.get("error_name")) or "", words)


def quota_in(said: Said, now: datetime) -> Quota | None:
    """The quota, which is new at midnight UTC."""
    left = integer(said.document.get("quota_remaining"))
    limit = integer(said.document.get("quota_max"))
    if left is None or limit is None:
        return None
    midnight = datetime(now.year, now.month, now.day) + timedelta(days=1)  # noqa: DTZ001  (UTC)
    return Quota(limit, left, midnight, "core")


def backoff_in(said: Said) -> float:
    """Seconds for which the method must not be asked again; 0 for none."""
    seconds = integer(said.document.get("backoff"))
    return min(float(seconds), _LONGEST_S) + _SLACK_S if seconds else 0.0


def before_request(
    quota: Quota | None, not_before: datetime | None, now: datetime, max_wait_s: float
) -> Decision:
    """Wait beforehand where the last answer asked for it."""
    if quota is not None and quota.left <= 0 and quota.resets_at and quota.resets_at > now:
        seconds = (quota.resets_at - now).total_seconds() + _SLACK_S
        return _bounded(Decision("wait", seconds, "the quota is used up", "quota"), max_wait_s)
    if not_before is not None and not_before > now:
        seconds = (not_before - now).total_seconds()
        return _bounded(
            Decision("wait", seconds, "the server asks for a pause", "pause"), max_wait_s
        )
    return ratelimit.OK


def after_answer(
    status: int,
    headers: Mapping[str, str],
    said: Said | None,
    *,
    tries: Tries,
    now: datetime,
    chance: random.Random,
    max_wait_s: float,
) -> Decision:
    """What to do after an answer."""
    if said is not None and said.error_id == _THROTTLED:
        return _throttled(said, tries, max_wait_s)
    if said is not None and said.error_id is not None:
        status = said.error_id if said.error_id in _AGAIN else 400
    return ratelimit.after_answer(
        status, headers, b"", tries=tries, now=now, chance=chance, max_wait_s=max_wait_s
    )


def _throttled(said: Said, tries: Tries, max_wait_s: float) -> Decision:
    told = _AVAILABLE.search(said.words)
    if told is None:  # "Violation of backoff parameter"
        seconds = min(_FIRST_S * 2 ** min(tries.limit_waits, 16), _LONGEST_S)
        decision = Decision("wait", seconds, "the server asks to slow down", "pause")
    else:
        seconds = min(float(told[1]), _LONGEST_S) + _SLACK_S
        cause = "the quota is used up" if seconds > SHORT_S else "the server asks to slow down"
        decision = Decision("wait", seconds, cause, "quota" if seconds > SHORT_S else "pause")
    if tries.limit_waits >= LIMIT_WAITS:
        return replace(decision, action="give up")
    return _bounded(decision, max_wait_s)


def _bounded(wait: Decision, max_wait_s: float) -> Decision:
    """The wait, or giving up where it is longer than the user wants."""
    too_long = wait.seconds > max(max_wait_s, SHORT_S)
    return replace(wait, action="give up") if too_long else wait

"""What an index of papers says of its quota, and what to do after an answer.

Pure functions. A quota here is for a day or a week: its end is told and not shortened, so that
nobody waits an hour for what comes in six days.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from faultatlas.miner import ratelimit
from faultatlas.miner.papers.service import Service
from faultatlas.miner.ratelimit import LIMIT_WAITS, Decision, Quota, Tries

SHORT_S = 120.0  # a pause that is made however little the user wants to wait
_SLACK_S = 2.0
_FIRST_S = 5.0
_LIMITED = {403, 429}


def quota_in(service: Service, headers: Mapping[str, str], now: datetime) -> Quota | None:
    """The quota as the headers of an answer tell it."""
    limit, left = (_number(headers, f"x-ratelimit-{name}") for name in ("limit", "remaining"))
    if limit is None or left is None:
        return None
    seconds = _to_reset(service, headers, now)
    resets_at = None if seconds is None else now + timedelta(seconds=seconds)
    return Quota(int(min(max(limit, 0), 2**31 - 1)), int(min(max(left, 0), 2**31 - 1)), resets_at,
                 "core")  # fmt: skip


def before_request(quota: Quota | None, now: datetime, max_wait_s: float) -> Decision:
    """Wait beforehand where the last answer said that nothing is left."""
    if quota is None or quota.left > 0 or quota.resets_at is None or quota.resets_at <= now:
        return ratelimit.OK
    seconds = (quota.resets_at - now).total_seconds() + _SLACK_S
    return _bounded(Decision("wait", seconds, "the quota is used up", "quota"), max_wait_s)


def after_answer(
    service: Service,
    status: int,
    headers: Mapping[str, str],
    *,
    tries: Tries,
    now: datetime,
    chance: random.Random,
    max_wait_s: float,
) -> Decision:
    """What to do after an answer."""
    left = _number(headers, "x-ratelimit-remaining")
    is_spent = left is not None and left <= 0
    if status == 429 or (status in _LIMITED and is_spent):
        return _limited(service, headers, tries, now, max_wait_s, is_spent=is_spent)
    return ratelimit.after_answer(
        status, {}, b"", tries=tries, now=now, chance=chance, max_wait_s=max_wait_s
    )


def _limited(
    service: Service,
    headers: Mapping[str, str],
    tries: Tries,
    now: datetime,
    max_wait_s: float,
    *,
    is_spent: bool,
) -> Decision:
    """A quota that is used up ends when it ends; otherwise the server asks to slow down."""
    asked = _number(headers, "retry-after")
    reset = _to_reset(service, headers, now)
    if is_spent and (reset is not None or asked is not None):
        seconds = max(reset or 0.0, min(asked or 0.0, service.longest_wait_s)) + _SLACK_S
        decision = Decision("wait", seconds, "the quota is used up", "quota")
    else:
        growing = _FIRST_S * 2 ** min(tries.limit_waits, 12)
        seconds = min(growing if asked is None else asked + _SLACK_S, service.longest_wait_s)
        decision = Decision("wait", seconds, "the server asks to slow down", "pause")
    if tries.limit_waits >= LIMIT_WAITS:
        return replace(decision, action="give up")
    return _bounded(decision, max_wait_s)


def _bounded(decision: Decision, max_wait_s: float) -> Decision:
    too_long = decision.seconds > max(max_wait_s, SHORT_S)
    return replace(decision, action="give up") if too_long else decision


def _to_reset(service: Service, headers: Mapping[str, str], now: datetime) -> float | None:
    header = _number(headers, "x-ratelimit-reset")
    if header is None:
        return None
    seconds = service.seconds_to_reset(header, now.replace(tzinfo=UTC).timestamp())
    return min(seconds, service.longest_wait_s) if seconds > 0 else None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    said = headers.get(name, "").strip()
    return float(said) if re.fullmatch(r"[0-9]{1,16}(\.[0-9]{1,9})?", said) else None

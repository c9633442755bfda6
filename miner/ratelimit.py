"""What to do after an answer or a failure: go on, wait how long and why, or give up.

Pure functions of the answer and of what was tried before; nothing here sleeps or sends.
Servers' numbers are not believed beyond reason: every wait is finite and has a cap.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from faultatlas.data.errors import StudyError
from faultatlas.miner.http import Broken, parsed

LONGEST_S = 65 * 60.0  # quotas are for an hour; the rest is for clocks that differ
LIMIT_WAITS = 10
ATTEMPTS = 6
_FIRST_S = 60.0  # GitHub: "wait for at least one minute", then exponentially longer
_SLACK_S = 1.0
_BACKOFF_CAP_S = 60.0
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (UTC without a zone, as everywhere in the study)
_MILLISECONDS = 1e11  # in seconds that is the year 5138
_LIMIT_WORDS = re.compile(
    r"rate.?limit|abuse detection|too many requests"
    r"|retry your request again later|wait a few minutes",
    re.IGNORECASE,
)
_GRAPHQL_LIMITS = {"RATE_LIMITED", "RATE_LIMIT"}
_TOO_MUCH = {"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED"}
_PASSING = re.compile(r"something went wrong|time[sd]? ?out|try again", re.IGNORECASE)


@dataclass(frozen=True)
class Quota:
    """How many requests the server still grants."""

    limit: int
    left: int
    resets_at: datetime | None
    resource: str


@dataclass
class Tries:
    """What one request has been through."""

    failures: int = 0
    limit_waits: int = 0


@dataclass(frozen=True)
class Decision:
    """`cause` tells a used-up quota from a server in trouble and from a plain refusal."""

    action: Literal["ok", "wait", "give up"]
    seconds: float = 0.0
    reason: str = ""
    cause: Literal["", "quota", "pause", "trouble", "refusal"] = ""


OK = Decision("ok")


def after_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tries: Tries,
    now: datetime,
    chance: random.Random,
    accept: Collection[int] = (),
    max_wait_s: float = LONGEST_S + _SLACK_S,
    graphql: bool = False,
) -> Decision:
    """What to do after an answer."""
    answered = graphql and status == 200
    if answered:
        found = _limited_inside(headers, body, tries.limit_waits, now)
    else:
        found = _limited(status, headers, body, tries.limit_waits, now)
    if found is not None:
        return _bounded(found, tries, max_wait_s)
    if answered:
        return _after_query(body, tries, chance)
    if status in {200, 304} or status in accept:
        return OK
    if status == 202:
        return _again("the server is still preparing the answer", tries, chance)
    if status >= 500 or status == 408:
        return _again(f"the server is in trouble (status {status})", tries, chance)
    return Decision("give up", cause="refusal")


def after_failure(broken: Broken, *, tries: Tries, chance: random.Random) -> Decision:
    """What to do when no whole answer arrived."""
    if broken.kind == "tls":  # neither certificates nor settings mend themselves
        return Decision("give up", reason=broken.reason, cause="trouble")
    return _again(broken.reason, tries, chance)


def before_request(quota: Quota | None, now: datetime, max_wait_s: float) -> Decision:
    """Wait beforehand when the last answer said that nothing is left."""
    if quota is None or quota.left > 0 or quota.resets_at is None or quota.resets_at <= now:
        return OK
    seconds = min((quota.resets_at - now).total_seconds(), LONGEST_S) + _SLACK_S
    return _bounded(Decision("wait", seconds, "the quota is used up", "quota"), Tries(), max_wait_s)


def quota_of(headers: Mapping[str, str], now: datetime, resource: str) -> Quota | None:
    """The quota as the headers of an answer tell it."""
    limit = _number(headers.get("x-ratelimit-limit"))
    left = _number(headers.get("x-ratelimit-remaining"))
    if limit is None or left is None:
        return None
    seconds = _until_reset(headers, now)
    return Quota(
        int(max(limit, 0)),
        int(max(left, 0)),
        None if seconds is None else now + timedelta(seconds=seconds),
        headers.get("x-ratelimit-resource") or resource,
    )


def message_of(body: bytes) -> str:
    """The server's own words in an error, on one line; empty where there are none."""
    document = _document(body)
    words = document.get("message") or document.get("error") or ""
    return " ".join(str(words).split())[:300] if isinstance(words, str) else ""


def graphql_errors(body: bytes) -> list[dict[str, Any]]:
    """The errors inside a GraphQL answer."""
    if b'"errors"' not in body:  # large answers need not be read twice
        return []
    errors = _document(body).get("errors")
    return [each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else []


def is_too_much(errors: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the query needed more than the server spends on one; asking again is no help."""
    return any(str(error.get("type")).upper() in _TOO_MUCH for error in errors)


def _limited(
    status: int, headers: Mapping[str, str], body: bytes, waits: int, now: datetime
) -> Decision | None:
    """The wait that a limit demands, or None where there is no limit in the way."""
    asked = _retry_after(headers, now)
    if status >= 500 and asked is not None:
        return Decision("wait", asked + _SLACK_S, "the server asks for a pause", "pause")
    if status not in {403, 429}:
        return None
    left = _number(headers.get("x-ratelimit-remaining"))
    if left is not None and left <= 0:
        seconds = max(_primary(headers, now, waits), 0 if asked is None else asked + _SLACK_S)
        return Decision("wait", seconds, "the quota is used up", "quota")
    if asked is not None:
        return Decision("wait", asked + _SLACK_S, "the server asks to slow down", "pause")
    words = message_of(body) + " " + str(_document(body).get("documentation_url", ""))
    if status == 429 or "retry-after" in headers or _LIMIT_WORDS.search(words):
        return Decision("wait", _growing(waits), "the server asks to slow down", "pause")
    return None


def _limited_inside(
    headers: Mapping[str, str], body: bytes, waits: int, now: datetime
) -> Decision | None:
    """The same for GraphQL, which answers 200 and tells the limit in the body."""
    errors = graphql_errors(body)
    if any(str(error.get("type")).upper() in _GRAPHQL_LIMITS for error in errors):
        return Decision("wait", _primary(headers, now, waits), "the quota is used up", "quota")
    if not _has_data(body) and any(_LIMIT_WORDS.search(_words(error)) for error in errors):
        return Decision("wait", _growing(waits), "the server asks to slow down", "pause")
    return None


def _after_query(body: bytes, tries: Tries, chance: random.Random) -> Decision:
    """What is missing beside data is the caller's business; an answer without data is not."""
    errors = graphql_errors(body)
    missing = any(error.get("type") == "NOT_FOUND" for error in errors)
    if is_too_much(errors) and not any(_data(body).values()):
        return Decision("give up", reason="the query is too much for it", cause="trouble")
    if not errors or missing or _has_data(body):
        return OK
    if any(_PASSING.search(_words(error)) for error in errors):
        return _again("the server did not finish the query", tries, chance)
    return Decision("give up", cause="refusal")


def _has_data(body: bytes) -> bool:
    return isinstance(_document(body).get("data"), dict)


def _data(body: bytes) -> dict[str, Any]:
    found = _document(body).get("data")
    return found if isinstance(found, dict) else {}


def _words(error: Mapping[str, Any]) -> str:
    return str(error.get("message", ""))


def _bounded(wait: Decision, tries: Tries, max_wait_s: float) -> Decision:
    """The wait, or giving up where it is longer than the user wants or the last of too many."""
    if wait.seconds > max_wait_s or tries.limit_waits >= LIMIT_WAITS:
        return Decision("give up", wait.seconds, wait.reason, wait.cause)
    return wait


def _again(reason: str, tries: Tries, chance: random.Random) -> Decision:
    if tries.failures + 1 >= ATTEMPTS:
        return Decision("give up", reason=f"{reason}, {ATTEMPTS} times", cause="trouble")
    seconds = min(_BACKOFF_CAP_S, 2**tries.failures * chance.uniform(1.0, 1.5))
    return Decision("wait", seconds, reason, "trouble")


def _primary(headers: Mapping[str, str], now: datetime, waits: int) -> float:
    seconds = _until_reset(headers, now)
    return _growing(waits) if seconds is None else seconds + _SLACK_S


def _growing(waits: int) -> float:
    return float(min(_FIRST_S * 2 ** min(waits, 16), LONGEST_S))


def _until_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until the quota is new, at most LONGEST_S; None if the header makes no sense."""
    reset = _number(headers.get("x-ratelimit-reset"))
    if reset is None:
        return None
    if reset >= _MILLISECONDS:
        reset /= 1000
    seconds = reset - (now - _EPOCH).total_seconds()
    return min(seconds, LONGEST_S) if seconds > 0 else None


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that Retry-After asks for, at most LONGEST_S; None if it makes no sense."""
    text = headers.get("retry-after", "").strip()
    seconds = _number(text)
    if seconds is None:
        try:
            moment = parsedate_to_datetime(text)
            if moment.tzinfo is not None:
                moment = moment.astimezone(UTC).replace(tzinfo=None)
            seconds = (moment - now).total_seconds()
        except (ValueError, OverflowError, TypeError, IndexError):
            return None
    return min(seconds, LONGEST_S) if seconds >= 0 else None


def _number(text: str | None) -> float | None:
    """A plain number of a header; `inf`, `nan`, `1e999` and digits of other scripts are none."""
    text = (text or "").strip()
    return float(text) if re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", text) else None


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = parsed(body)
    except (ValueError, StudyError):
        return {}
    return document if isinstance(document, dict) else {}

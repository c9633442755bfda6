"""The policy: which answer is waited for and how long, and that it always comes to an end."""

from __future__ import annotations

import json
import math
import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.miner.http import Broken
from faultatlas.miner.ratelimit import (
    ATTEMPTS,
    LIMIT_WAITS,
    LONGEST_S,
    OK,
    Decision,
    Quota,
    Tries,
    after_answer,
    after_failure,
    before_request,
    message_of,
    quota_of,
)

law = settings(max_examples=500)

NOW = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001  (as the study stores it: UTC, no zone)
EPOCH = 1772600767  # the same moment in seconds
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes."


def decide(
    status: int,
    headers: dict[str, str] | None = None,
    document: Any = None,
    tries: Tries | None = None,
    **options: Any,
) -> Decision:
    return after_answer(
        status,
        headers or {},
        json.dumps(document or {}).encode(),
        tries=tries or Tries(),
        now=NOW,
        chance=random.Random(1),  # noqa: S311  (jitter, seeded)
        **options,
    )


def used_up(reset: object) -> dict[str, str]:
    return {
        "x-ratelimit-limit": "60",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": str(reset),
    }


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        (EPOCH + 600, 601),
        (f"{EPOCH + 600}.0", 601),
        ((EPOCH + 600) * 1000, 601),  # milliseconds
        (EPOCH + 86_400, LONGEST_S + 1),
        (10**17, LONGEST_S + 1),
        (EPOCH - 10, 60),
        (EPOCH, 60),
        (0, 60),
        (-5, 60),
        ("soon", 60),
        ("nan", 60),
        ("inf", 60),
        ("1e999", 60),
        ("9" * 400, 60),
        ("", 60),
    ],
)
def test_a_used_up_quota_waits_for_the_reset_within_reason(
    status: int, reset: object, seconds: float
) -> None:
    found = decide(status, used_up(reset))
    assert (found.action, found.seconds, found.cause) == ("wait", seconds, "quota")


def test_waits_for_a_reset_that_makes_no_sense_grow() -> None:
    waits = [decide(403, used_up("soon"), tries=Tries(0, n)).seconds for n in range(8)]
    assert waits == [60, 120, 240, 480, 960, 1920, 3840, LONGEST_S]


@pytest.mark.parametrize(
    ("status", "headers", "message", "seconds"),
    [
        (403, {"retry-after": "30"}, SECONDARY, 31),
        (429, {"retry-after": "0"}, "", 1),
        (429, {"retry-after": "Wed, 04 Mar 2026 05:08:07 GMT"}, "", 121),
        (429, {"retry-after": "Wed, 04 Mar 2026 06:08:07 +0100"}, "", 121),
        (429, {"retry-after": "99999999"}, "", LONGEST_S + 1),
        (429, {"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, "", LONGEST_S + 1),
        (429, {"retry-after": "-3"}, "", 60),
        (429, {"retry-after": "Wed, 04 Mar 2020 05:08:07 GMT"}, "", 60),
        (429, {"retry-after": "Wed, 99 Xyz 2026"}, "", 60),
        (403, {"retry-after": "a while"}, "", 60),
        (429, {}, "", 60),
        (403, {"x-ratelimit-remaining": "4000"}, SECONDARY, 60),
        (403, {}, "You have triggered an abuse detection mechanism.", 60),
        (403, {}, "API rate limit exceeded for 192.0.2.1.", 60),
        (503, {"retry-after": "120"}, "", 121),
    ],
)
def test_a_server_that_asks_for_a_pause_gets_it(
    status: int, headers: dict[str, str], message: str, seconds: float
) -> None:
    found = decide(status, headers, {"message": message})
    assert (found.action, found.seconds, found.cause) == ("wait", seconds, "pause")


def test_a_limit_may_stand_in_the_address_of_its_documentation_only() -> None:
    page = "https://docs.github.com/rest/overview#about-secondary-rate-limits"
    assert decide(403, {}, {"message": "No.", "documentation_url": page}).action == "wait"


def test_pauses_without_a_time_double() -> None:
    waits = [decide(429, tries=Tries(0, n)).seconds for n in range(4)]
    assert waits == [60, 120, 240, 480]


def test_the_longer_of_two_demands_counts() -> None:
    assert decide(403, used_up(EPOCH + 10) | {"retry-after": "50"}).seconds == 51
    assert decide(403, used_up(EPOCH + 90) | {"retry-after": "50"}).seconds == 91


def test_a_wait_longer_than_the_user_wants_is_none() -> None:
    assert decide(403, used_up(EPOCH + 600), max_wait_s=601).action == "wait"
    found = decide(403, used_up(EPOCH + 600), max_wait_s=600)
    assert (found.action, found.seconds, found.cause) == ("give up", 601, "quota")
    assert decide(429, max_wait_s=0).action == "give up"


def test_short_waits_after_failures_are_not_bound_by_it() -> None:
    assert decide(502, max_wait_s=0).action == "wait"


@pytest.mark.parametrize("headers", [used_up(EPOCH + 5), {"retry-after": "1"}, {}])
def test_after_many_waits_for_one_request_it_is_enough(headers: dict[str, str]) -> None:
    assert decide(429, headers, tries=Tries(0, LIMIT_WAITS - 1)).action == "wait"
    assert decide(429, headers, tries=Tries(0, LIMIT_WAITS)).action == "give up"


@pytest.mark.parametrize("status", [202, 408, 500, 502, 503, 504, 599])
def test_a_server_in_trouble_is_asked_six_times(status: int) -> None:
    found = [decide(status, tries=Tries(n)) for n in range(ATTEMPTS)]
    assert [each.action for each in found] == ["wait"] * 5 + ["give up"]
    for before, wait in enumerate(found[:-1]):
        assert 2**before <= wait.seconds <= 1.5 * 2**before
        assert wait.reason
    assert found[-1].cause == "trouble"


@pytest.mark.parametrize("kind", ["dns", "refused", "timeout", "reset", "truncated", "proxy"])
def test_a_broken_exchange_is_tried_six_times(kind: Any) -> None:
    chance = random.Random(1)  # noqa: S311  (jitter, seeded)
    broken = Broken("it broke", kind)
    found = [after_failure(broken, tries=Tries(n), chance=chance) for n in range(ATTEMPTS)]
    assert [each.action for each in found] == ["wait"] * 5 + ["give up"]


def test_a_certificate_does_not_mend_itself() -> None:
    chance = random.Random(1)  # noqa: S311  (jitter, seeded)
    found = after_failure(Broken("not trusted", "tls"), tries=Tries(), chance=chance)
    assert found.action == "give up"


@pytest.mark.parametrize("status", [204, 300, 303, 400, 401, 403, 404, 410, 418, 422, 451])
def test_a_plain_no_is_not_asked_again(status: int) -> None:
    found = decide(status, {"x-ratelimit-remaining": "59"}, {"message": "Resource not accessible"})
    assert (found.action, found.cause) == ("give up", "refusal")


def test_what_is_accepted_is_fine_but_a_limit_is_a_limit() -> None:
    assert decide(200) == decide(304) == OK
    assert decide(404, accept={404, 410}) == OK
    assert decide(403, {"x-ratelimit-remaining": "9"}, accept={403}) == OK
    assert decide(403, used_up(EPOCH + 5), accept={403}).action == "wait"


@pytest.mark.parametrize(
    ("document", "action", "cause"),
    [
        ({"data": {"repository": {}}}, "ok", ""),
        ({"data": {"a": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}, "ok", ""),
        ({"data": None, "errors": [{"type": "NOT_FOUND", "message": "no"}]}, "ok", ""),
        ({"data": {"a": 1}, "errors": [{"message": "Something went wrong"}]}, "ok", ""),
        ({"data": {"a": 1}, "errors": [{"message": "rate limit of this field"}]}, "ok", ""),
        ({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit"}]}, "wait", "quota"),
        ({"data": {}, "errors": [{"type": "RATE_LIMITED"}]}, "wait", "quota"),
        ({"errors": [{"message": SECONDARY}]}, "wait", "pause"),
        ({"data": None, "errors": [{"message": "Something went wrong while executing"}]},
         "wait", "trouble"),
        ({"errors": [{"message": 'Parse error on "}"'}]}, "give up", "refusal"),
        ({"errors": "odd"}, "ok", ""),
        ([{"errors": [{"type": "RATE_LIMITED"}]}], "ok", ""),
    ],
)  # fmt: skip
def test_graphql_tells_in_the_body(document: Any, action: str, cause: str) -> None:
    found = decide(200, used_up(EPOCH + 300), document, graphql=True)
    assert (found.action, found.cause) == (action, cause)
    if cause == "quota":
        assert found.seconds == 301


def test_errors_in_the_body_mean_nothing_to_rest() -> None:
    assert decide(200, {}, {"errors": [{"type": "RATE_LIMITED"}]}) == OK


def test_nothing_left_waits_before_the_next_request() -> None:
    quota = quota_of(used_up(EPOCH + 300), NOW, "core")
    assert quota == Quota(60, 0, NOW + timedelta(seconds=300), "core")
    found = before_request(quota, NOW, 4200)
    assert (found.action, found.seconds, found.cause) == ("wait", 301, "quota")
    assert before_request(quota, NOW, 300).action == "give up"
    assert before_request(quota, NOW + timedelta(seconds=300), 4200) == OK


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-ratelimit-remaining": "0"},
        used_up("soon"),
        used_up(EPOCH - 60),
        used_up(EPOCH + 60) | {"x-ratelimit-remaining": "1"},
    ],
)
def test_no_wait_beforehand_without_a_reason(headers: dict[str, str]) -> None:
    assert before_request(quota_of(headers, NOW, "core"), NOW, 4200) == OK


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"message": "Not\\n Found"}', "Not Found"),
        (b'{"error": "no"}', "no"),
        (b'{"message": ["no"]}', ""),
        (b"<html>", ""),
        (b"[" * 100_000, ""),
        (b"[]", ""),
    ],
)
def test_the_servers_own_words(body: bytes, words: str) -> None:
    assert message_of(body) == words


NUMBERS = st.one_of(
    st.text(max_size=20),
    st.integers().map(str),
    st.floats().map(str),
    st.integers(-1000, 10_000).map(lambda n: str(EPOCH + n)),
    st.datetimes().map(lambda moment: moment.strftime("%a, %d %b %Y %H:%M:%S GMT")),
    st.sampled_from(["0", "-0", "1e400", "inf", "-inf", "NaN", "٣", "0x10", " 7 "]),
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "x-ratelimit-limit": NUMBERS,
        "x-ratelimit-remaining": NUMBERS,
        "x-ratelimit-reset": NUMBERS,
        "retry-after": NUMBERS,
    },
)
BODIES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([SECONDARY, "RATE_LIMITED", "Something went wrong"]).map(
        lambda words: json.dumps({"message": words, "errors": [{"message": words}]}).encode()
    ),
)


@law
@given(
    st.lists(st.tuples(st.integers(100, 599), HEADERS, BODIES), min_size=1, max_size=4),
    st.booleans(),
    st.one_of(st.floats(0, 1e6), st.just(0.0)),
)
def test_whatever_a_server_says_waits_are_bounded_and_end(
    answers: list[tuple[int, dict[str, str], bytes]],
    graphql: bool,  # noqa: FBT001  (hypothesis passes by position)
    max_wait_s: float,
) -> None:
    tries = Tries()
    chance = random.Random(1)  # noqa: S311  (jitter, seeded)
    for asked in range(ATTEMPTS + LIMIT_WAITS):
        status, headers, body = answers[asked % len(answers)]
        found = after_answer(
            status, headers, body,
            tries=tries, now=NOW, chance=chance, max_wait_s=max_wait_s, graphql=graphql,
        )  # fmt: skip
        quota = quota_of(headers, NOW, "core")
        for wait in (found, before_request(quota, NOW, max_wait_s)):
            assert math.isfinite(wait.seconds)
            assert 0 <= wait.seconds <= LONGEST_S + 1
            if wait.action == "wait":
                assert wait.seconds > 0
                assert wait.seconds <= (60 if wait.cause == "trouble" else max_wait_s)
        if found.action != "wait":
            break
        if found.cause == "trouble":
            tries.failures += 1
        else:
            tries.limit_waits += 1
    else:
        pytest.fail("it would go on")

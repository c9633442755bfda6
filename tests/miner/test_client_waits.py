"""The client's patience: limits are waited for and told, passing trouble is overcome, all ends."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asking import EPOCH, START, TOKEN, quota
from fake_time import FakeTime
from loopback.scripted import Reset, Scripted, answer, scripted

from faultatlas.data.clock import Clock
from faultatlas.miner.client import Client, QuotaUsedUp, Unreachable
from faultatlas.miner.http import Answer, Transport
from faultatlas.miner.ratelimit import Quota


@pytest.mark.parametrize(
    ("entry", "seconds", "words"),
    [
        (answer(403, '{"message": "API rate limit exceeded"}', quota(0, EPOCH + 720)), 721,
         "the quota is used up; waiting 12 min, until 14:18 JST"),
        (answer(429, headers={"Retry-After": "30"}), 31,
         "the server asks to slow down; waiting 31 s"),
        (answer(403, '{"message": "You have exceeded a secondary rate limit"}'), 60,
         "the server asks to slow down; waiting 60 s, until 14:07 JST"),
    ],
    ids=["primary", "retry after", "secondary"],
)  # fmt: skip
def test_a_limit_is_waited_for_and_told_once(
    server: Scripted,
    make_client: Callable[..., Client],
    fake: FakeTime,
    told: list[str],
    entry: bytes,
    seconds: float,
    words: str,
) -> None:
    server.answers(entry, answer(body='{"after": "the wait"}'))
    client = make_client()
    assert client.get("/x").json() == {"after": "the wait"}
    assert fake.slept == [seconds]
    assert client.waited_s == seconds
    assert client.sent == 2
    assert told == [f"{server.url[7:]}: {words}"]


def test_nothing_left_waits_beforehand(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(
        answer(headers=quota(1, EPOCH + 90)),
        answer(headers=quota(0, EPOCH + 90)),
        answer(headers=quota(59, EPOCH + 4000)),
    )
    client = make_client()
    client.get("/x")
    client.get("/x")
    assert fake.slept == []
    assert client.quota == Quota(60, 0, START + timedelta(seconds=90), "core")
    client.get("/x")
    assert fake.slept == [91]
    assert client.quota is not None
    assert client.quota.left == 59


def test_the_quota_of_searches_is_another(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(answer(headers=quota(0, EPOCH + 90)), answer(), answer())
    client = make_client()
    client.get("/search/issues", {"q": "x"})
    client.get("/x")
    assert (client.quota, fake.slept) == (None, [])
    client.get("/search/issues", {"q": "x"})
    assert fake.slept == [91]


@pytest.mark.parametrize("left_first", [False, True], ids=["refused", "told beforehand"])
def test_a_quota_beyond_max_wait_says_when_and_what_next(
    server: Scripted,
    make_client: Callable[..., Client],
    fake: FakeTime,
    left_first: bool,  # noqa: FBT001  (a parameter of the test)
) -> None:
    server.answers(answer(200 if left_first else 403, headers=quota(0, EPOCH + 1800)))
    client = make_client(None, max_wait_s=600)
    with pytest.raises(QuotaUsedUp) as error:
        _ = [client.get("/x"), client.get("/x")]
    assert error.value.message == (
        f"{server.url[7:]}'s quota is used up until 14:36 JST; 1 request made so far"
    )
    assert "Run the same command again" in error.value.hint
    assert "--max-wait" in error.value.hint
    assert fake.slept == []


def test_anonymous_users_of_github_hear_of_tokens(
    make_client: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {name.lower(): value for name, value in quota(0, EPOCH + 1800).items()}
    monkeypatch.setattr(Transport, "send", lambda *_arguments: Answer(403, headers, b"{}"))

    def hint(token: str | None) -> str:
        client = make_client(token, "https://api.github.com", max_wait_s=0)
        with pytest.raises(QuotaUsedUp, match="GitHub's quota is used up until 14:36 JST") as error:
            client.get("/x")
        return error.value.hint

    assert "With a token in GITHUB_TOKEN it is 5,000 requests an hour" in hint(None)
    assert "GITHUB_TOKEN" not in hint(TOKEN)


def test_limits_without_end_come_to_one(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime, told: list[str]
) -> None:
    server.answers(*[answer(429, headers={"Retry-After": "1"})] * 20)
    with pytest.raises(QuotaUsedUp, match="asks to slow down"):
        make_client().get("/x")
    assert fake.slept == [2] * 10
    assert len(told) == 10


@pytest.mark.parametrize(
    "entry",
    [
        answer(502, "<html>Bad gateway</html>"),
        answer(202),
        answer(body='{"cut": ["in', headers={}),
        answer(body="<html>Maintenance</html>"),
        answer(body=b""),
        answer(body="{}", length=500),
        Reset(answer(body="{}", length=500)),
        b"",
    ],
    ids=["502", "202", "bad JSON", "HTML", "empty", "cut", "reset", "no answer"],
)
def test_passing_trouble_is_overcome(
    server: Scripted,
    make_client: Callable[..., Client],
    fake: FakeTime,
    told: list[str],
    entry: bytes | Reset,
) -> None:
    server.answers(entry, entry, answer(body='{"whole": true}'))
    client = make_client()
    assert client.get("/x").json() == {"whole": True}
    first, second = fake.slept
    assert 1 <= first <= 1.5
    assert 2 <= second <= 3
    assert client.sent == 3
    assert len(told) == 2


def test_lasting_trouble_is_told(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(*[answer(500)] * 9)
    with pytest.raises(Unreachable, match=r"status 500\), 6 times") as error:
        make_client(max_wait_s=0).get("/x")
    assert error.value.hint == "Run the same command again later."
    assert len(server.asked) == 6
    assert len(fake.slept) == 5


def test_a_server_that_is_not_there(make_client: Callable[..., Client]) -> None:
    with scripted() as gone:
        pass
    with pytest.raises(Unreachable, match="refuses the connection; no network, or") as error:
        make_client(url=gone.url).get("/x")
    assert "Check the network" in error.value.hint
    assert error.value.__suppress_context__


def test_a_name_that_nobody_knows(
    make_client: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_arguments: Any, **_options: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable, match=r"^api.example.org cannot be reached: its name") as error:
        make_client(url="https://api.example.org").get("/x")
    assert "Check the network" in error.value.hint


def test_no_encryption_is_not_tried_again(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    with pytest.raises(Unreachable, match="no encrypted connection") as error:
        make_client(url=server.url.replace("http:", "https:")).get("/x")
    assert "REQUESTS_CA_BUNDLE" in error.value.hint
    assert fake.slept == []


def test_absurd_headers_do_no_harm(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    for nonsense in ("1e999", "NaN", "-1", "many", "9" * 500, "\xff"):
        headers = dict.fromkeys(
            ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Link", "ETag"),
            nonsense,
        )
        server.answers(answer(headers=headers))
        assert make_client().get("/x").status == 200
    assert fake.slept == []


def test_interrupting_a_wait_is_possible(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    server.answers(answer(429))
    with pytest.raises(KeyboardInterrupt):
        make_client(clock=Clock(sleep=interrupted)).get("/x")


def test_graphql_waits_for_its_own_quota(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    limited = '{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}'
    server.answers(answer(body=limited, headers=quota(0, EPOCH + 50)), answer(body='{"data": {}}'))
    client = make_client()
    assert client.graphql("{a}", {}).json() == {"data": {}}
    assert fake.slept == [51]
    assert client.quota is None

"""The client: asks until there is an answer, says what it waits for, and keeps the token."""

from __future__ import annotations

import json
import logging
import random
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from loopback.scripted import Reset, Scripted, answer, scripted

from data.errors import StudyError
from miner.client import Client, QuotaUsedUp, Refused, Unreachable
from miner.ratelimit import Clock, Quota

START = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001  (as the study stores it: UTC, no zone)
EPOCH = 1772600767  # the same moment in seconds
TOKEN = "ghp_0123456789abcdef0123456789abcdef0123"  # noqa: S105  (made up)


@dataclass
class FakeTime:
    """A clock that sleeping moves; nothing waits."""

    now: datetime = START
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep, random.Random(1))  # noqa: S311  (seeded jitter)


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as served:
        yield served


@pytest.fixture
def fake() -> FakeTime:
    return FakeTime()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def make(server: Scripted, fake: FakeTime, told: list[str]) -> Iterator[Callable[..., Client]]:
    with ExitStack() as opened:

        def client(token: str | None = TOKEN, url: str = "", **options: Any) -> Client:
            made = Client(
                url or server.url,
                token,
                **{"clock": fake.clock(), "tell": told.append, "timeout_s": 5, **options},
            )
            opened.callback(made.close)
            return made

        yield client


def quota(left: int, reset: object) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": "60",
        "X-RateLimit-Remaining": str(left),
        "X-RateLimit-Reset": str(reset),
        "X-RateLimit-Resource": "core",
    }


def targets(server: Scripted) -> list[str]:
    return [asked.target for asked in server.asked]


def test_a_request_names_itself_and_what_it_wants(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(answer(body='[{"number": 1}]', headers={"ETag": 'W/"abc"'}))
    found = make().get("/repos/o/r/issues", {"labels": "a b,c", "state": "all", "page": 2})
    asked = server.asked[0]
    assert asked.target == "/repos/o/r/issues?labels=a+b%2Cc&page=2&state=all"
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert asked.headers["accept"] == "application/vnd.github+json"
    assert asked.headers["x-github-api-version"] == "2022-11-28"
    assert re.fullmatch(r"faultatlas/\S+", asked.headers["user-agent"])
    assert found.url == found.final_url == asked.target
    assert found.json() == [{"number": 1}]
    assert (found.etag, found.received_at) == ('W/"abc"', fake.now)


def test_parameters_join_those_of_the_address(
    server: Scripted, make: Callable[..., Client]
) -> None:
    server.answers(answer())
    make().get("/x?labels=&page=1", {"page": 2})
    assert targets(server) == ["/x?labels=&page=2"]


def test_without_a_token_none_is_sent(server: Scripted, make: Callable[..., Client]) -> None:
    server.answers(answer())
    client = make(None, accept="application/vnd.github.v3+json")
    client.get("/user")
    assert "authorization" not in server.asked[0].headers
    assert server.asked[0].headers["accept"] == "application/vnd.github.v3+json"
    assert not client.has_token


def test_an_unchanged_page_costs_nothing(server: Scripted, make: Callable[..., Client]) -> None:
    server.answers(answer(304, b"", {"ETag": '"abc"'}), answer())
    client = make()
    assert client.get("/x", etag='"abc"').status == 304
    assert server.asked[0].headers["if-none-match"] == '"abc"'
    client.get("/x")
    assert "if-none-match" not in server.asked[1].headers
    assert (client.sent, client.not_modified) == (2, 1)


def test_a_link_to_the_next_page_is_asked_as_it_is(
    server: Scripted, make: Callable[..., Client]
) -> None:
    opaque = "/repositories/1/issues?z=&after=Y3Vyc29yOnYy%2BOpQ%3D%3D&labels=&a=%20x"
    server.answers(answer(headers={"Link": f'<{server.url}/api/v3{opaque}>; rel="next"'}), answer())
    client = make(url=f"{server.url}/api/v3/")
    following = client.get("/repos/o/r/issues").next_url
    assert following == opaque
    assert client.get(following).url == opaque
    assert server.asked[1].target == f"/api/v3{opaque}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("root", ["", "/api/v3"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_redirect_keeps_the_query(
    server: Scripted,
    make: Callable[..., Client],
    status: int,
    root: str,
    absolute: bool,  # noqa: FBT001  (a parameter of the test)
) -> None:
    place = (server.url if absolute else "") + f"{root}/repositories/7/issues"
    server.answers(answer(status, headers={"Location": place}), answer())
    client = make(url=server.url + root)
    found = client.get("/repos/o/r/issues", {"labels": "bug"}, etag='"e"')
    assert targets(server)[1] == f"{root}/repositories/7/issues?labels=bug"
    assert server.asked[1].headers["if-none-match"] == '"e"'
    assert server.asked[1].headers["authorization"] == f"token {TOKEN}"
    assert found.url == "/repos/o/r/issues?labels=bug"
    assert found.final_url == "/repositories/7/issues?labels=bug"
    assert client.sent == 2


def test_a_redirect_with_a_query_of_its_own(server: Scripted, make: Callable[..., Client]) -> None:
    server.answers(answer(301, headers={"Location": "/repositories/7?q=1"}), answer())
    assert make().get("/repos/o/r?labels=bug").final_url == "/repositories/7?q=1"


def test_redirects_end(server: Scripted, make: Callable[..., Client]) -> None:
    server.answers(*[answer(301, headers={"Location": "/round"})] * 9)
    with pytest.raises(Refused, match="in a circle") as error:
        make().get("/round")
    assert error.value.status == 301
    assert len(server.asked) == 6


@pytest.mark.parametrize("location", ["", "https://[", "/../..//"])
def test_a_redirect_to_nowhere(
    server: Scripted, make: Callable[..., Client], location: str
) -> None:
    server.answers(answer(301, headers={"Location": location}))
    with pytest.raises(Refused, match="redirects /x"):
        make(url=f"{server.url}/api/v3").get("/x")


@pytest.mark.parametrize("kind", ["github", "gitee"])
def test_another_server_gets_nothing(
    server: Scripted, make: Callable[..., Client], kind: str
) -> None:
    with scripted(answer()) as other:
        server.answers(
            answer(301, headers={"Location": f"{other.url}/x"}),
            answer(headers={"Link": f'<{other.url}/x?page=2>; rel="next"'}),
        )
        client = make(kind=kind)
        with pytest.raises(Refused, match="outside of its API") as error:
            client.get("/x")
        assert other.url in str(error.value)
        page = client.get("/x")
        with pytest.raises(StudyError, match="outside of its API"):
            _ = page.next_url
        with pytest.raises(StudyError, match="outside of its API"):
            client.get(f"{other.url}/x")
        with pytest.raises(StudyError, match="outside of its API"):
            client.get(f"//{other.url.partition('//')[2]}/x")
    assert other.asked == []


def test_a_redirect_that_is_accepted_is_the_answer(
    server: Scripted, make: Callable[..., Client]
) -> None:
    server.answers(answer(301, headers={"Location": "/y"}), answer(404))
    client = make()
    assert client.get("/x", accept={301}).headers["location"] == "/y"
    assert client.get("/x", accept={404, 410}).status == 404


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
    make: Callable[..., Client],
    fake: FakeTime,
    told: list[str],
    entry: bytes,
    seconds: float,
    words: str,
) -> None:
    server.answers(entry, answer(body='{"after": "the wait"}'))
    client = make()
    assert client.get("/x").json() == {"after": "the wait"}
    assert fake.slept == [seconds]
    assert client.waited_s == seconds
    assert client.sent == 2
    assert told == [f"{server.url[7:]}: {words}"]


def test_nothing_left_waits_beforehand(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(
        answer(headers=quota(1, EPOCH + 90)),
        answer(headers=quota(0, EPOCH + 90)),
        answer(headers=quota(59, EPOCH + 4000)),
    )
    client = make()
    client.get("/x")
    client.get("/x")
    assert fake.slept == []
    assert client.quota == Quota(60, 0, START + timedelta(seconds=90), "core")
    client.get("/x")
    assert fake.slept == [91]
    assert client.quota is not None
    assert client.quota.left == 59


def test_the_quota_of_searches_is_another(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(answer(headers=quota(0, EPOCH + 90)), answer(), answer())
    client = make()
    client.get("/search/issues", {"q": "x"})
    client.get("/x")
    assert (client.quota, fake.slept) == (None, [])
    client.get("/search/issues", {"q": "x"})
    assert fake.slept == [91]


@pytest.mark.parametrize("left_first", [False, True], ids=["refused", "told beforehand"])
def test_a_quota_beyond_max_wait_says_when_and_what_next(
    server: Scripted,
    make: Callable[..., Client],
    fake: FakeTime,
    left_first: bool,  # noqa: FBT001  (a parameter of the test)
) -> None:
    server.answers(answer(200 if left_first else 403, headers=quota(0, EPOCH + 1800)))
    client = make(None, max_wait_s=600)
    with pytest.raises(QuotaUsedUp) as error:
        _ = [client.get("/x"), client.get("/x")]
    assert error.value.message == (
        f"{server.url[7:]}'s quota is used up until 14:36 JST; 1 request made so far"
    )
    assert "Run the same command again" in error.value.hint
    assert "--max-wait" in error.value.hint
    assert fake.slept == []


def test_anonymous_users_of_github_hear_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = _github_out_of_quota(monkeypatch, None)
    assert "GITHUB_TOKEN" in hint
    assert "5,000" in hint
    assert "60" in hint
    assert "GITHUB_TOKEN" not in _github_out_of_quota(monkeypatch, TOKEN)


def _github_out_of_quota(monkeypatch: pytest.MonkeyPatch, token: str | None) -> str:
    """What the client of api.github.com says; a proxy stands in for it."""
    from miner.http import Answer, Transport

    headers = {name.lower(): value for name, value in quota(0, EPOCH + 1800).items()}
    monkeypatch.setattr(Transport, "send", lambda *_arguments: Answer(403, headers, b"{}"))
    client = Client("https://api.github.com", token, max_wait_s=0, clock=FakeTime().clock())
    with pytest.raises(QuotaUsedUp, match="GitHub's quota is used up until 14:36 JST") as error:
        client.get("/x")
    client.close()
    return error.value.hint


def test_limits_without_end_come_to_one(
    server: Scripted, make: Callable[..., Client], fake: FakeTime, told: list[str]
) -> None:
    server.answers(*[answer(429, headers={"Retry-After": "1"})] * 20)
    with pytest.raises(QuotaUsedUp, match="asks to slow down"):
        make().get("/x")
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
    make: Callable[..., Client],
    fake: FakeTime,
    told: list[str],
    entry: bytes | Reset,
) -> None:
    server.answers(entry, entry, answer(body='{"whole": true}'))
    client = make()
    assert client.get("/x").json() == {"whole": True}
    first, second = fake.slept
    assert 1 <= first <= 1.5
    assert 2 <= second <= 3
    assert client.sent == 3
    assert len(told) == 2


def test_lasting_trouble_is_told(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(*[answer(500)] * 9)
    with pytest.raises(Unreachable, match=r"status 500\), 6 times") as error:
        make(max_wait_s=0).get("/x")
    assert error.value.hint == "Run the same command again later."
    assert len(server.asked) == 6
    assert len(fake.slept) == 5


def test_a_server_that_is_not_there(make: Callable[..., Client]) -> None:
    with scripted() as gone:
        pass
    with pytest.raises(Unreachable, match="refuses the connection; no network, or") as error:
        make(url=gone.url).get("/x")
    assert "Check the network" in error.value.hint
    assert error.value.__suppress_context__


def test_a_name_that_nobody_knows(
    make: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_arguments: Any, **_options: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable, match=r"^api.example.org cannot be reached: its name") as error:
        make(url="https://api.example.org").get("/x")
    assert "Check the network" in error.value.hint


def test_no_encryption_is_not_tried_again(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    with pytest.raises(Unreachable, match="no encrypted connection") as error:
        make(url=server.url.replace("http:", "https:")).get("/x")
    assert "REQUESTS_CA_BUNDLE" in error.value.hint
    assert fake.slept == []


@pytest.mark.parametrize(
    ("status", "token", "message", "hint"),
    [
        (401, TOKEN, "the token in MY_TOKEN was refused", "make a new one"),
        (401, None, "wants a token", "Set MY_TOKEN"),
        (403, TOKEN, 'not let us read /x ("Resource not accessible")', "The token in MY_TOKEN"),
        (403, None, 'not let us read /x ("Resource not accessible")', "set MY_TOKEN"),
        (404, TOKEN, "there is no such project or it is private: /x", "MY_TOKEN must be allowed"),
        (404, None, "there is no such project or it is private: /x", "Check the spelling"),
        (410, None, "/x is gone", "deleted"),
        (422, None, "does not understand", "Check labels"),
        (451, None, "unavailable for legal reasons", "leave it out"),
        (418, None, "with status 418", "again later"),
    ],
)
def test_a_plain_no_is_explained_at_once(
    server: Scripted,
    make: Callable[..., Client],
    status: int,
    token: str | None,
    message: str,
    hint: str,
) -> None:
    server.answers(answer(status, '{"message": "Resource not accessible"}', quota(59, EPOCH)))
    with pytest.raises(Refused) as error:
        make(token, token_name="MY_TOKEN").get("/x")  # noqa: S106  (a name)
    assert error.value.status == status
    assert message in error.value.message
    assert hint in error.value.hint
    assert len(server.asked) == 1


def test_absurd_headers_do_no_harm(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    for nonsense in ("1e999", "NaN", "-1", "many", "9" * 500, "\xff"):
        headers = dict.fromkeys(
            ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Link", "ETag"),
            nonsense,
        )
        server.answers(answer(headers=headers))
        assert make().get("/x").status == 200
    assert fake.slept == []


def test_interrupting_a_wait_is_possible(server: Scripted, make: Callable[..., Client]) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    server.answers(answer(429))
    with pytest.raises(KeyboardInterrupt):
        make(clock=Clock(sleep=interrupted)).get("/x")


@pytest.mark.parametrize(
    ("root", "place"), [("", "/graphql"), ("/api/v3", "/api/graphql"), ("/api", "/api/graphql")]
)
def test_graphql_goes_to_its_own_place(
    server: Scripted, make: Callable[..., Client], root: str, place: str
) -> None:
    body = {"data": {"a": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}
    server.answers(answer(body=json.dumps(body)))
    found = make(url=server.url + root).graphql("query($n: Int) { a }", {"n": 1})
    asked = server.asked[0]
    assert (asked.verb, asked.target) == ("POST", place)
    assert json.loads(asked.body) == {"query": "query($n: Int) { a }", "variables": {"n": 1}}
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert found.json() == body
    assert found.url == "/graphql"


def test_graphql_waits_for_its_own_quota(
    server: Scripted, make: Callable[..., Client], fake: FakeTime
) -> None:
    limited = '{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}'
    server.answers(answer(body=limited, headers=quota(0, EPOCH + 50)), answer(body='{"data": {}}'))
    client = make()
    assert client.graphql("{a}", {}).json() == {"data": {}}
    assert fake.slept == [51]
    assert client.quota is None


def test_a_query_that_is_wrong_is_refused(server: Scripted, make: Callable[..., Client]) -> None:
    server.answers(answer(body='{"errors": [{"message": "Parse error on }"}]}'))
    with pytest.raises(Refused, match="Parse error on }"):
        make().graphql("}", {})


def test_graphql_is_refused_where_there_is_none(
    server: Scripted, make: Callable[..., Client]
) -> None:
    with pytest.raises(StudyError, match="needs a token"):
        make(None).graphql("{a}", {})
    with pytest.raises(StudyError, match="Gitee has no GraphQL"):
        make(kind="gitee").graphql("{a}", {})
    server.answers(answer(301, headers={"Location": "/elsewhere"}))
    with pytest.raises(Refused, match="redirects /graphql"):
        make().graphql("{a}", {})


@pytest.mark.parametrize("kind", ["github", "gitee"])
def test_the_token_is_in_nothing_that_comes_back(
    server: Scripted,
    make: Callable[..., Client],
    told: list[str],
    caplog: pytest.LogCaptureFixture,
    kind: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("github.Requester", "urllib3.connectionpool"):
        caplog.set_level(logging.DEBUG, name)
    echo = f'{{"message": "you are {TOKEN}"}}'
    link = f'<{server.url}/x?page=2&access_token={TOKEN}>; rel="next"'
    server.answers(
        answer(301, headers={"Location": f"/y?access_token={TOKEN}"}),
        answer(body=echo, headers={"Link": link}),
        *[Reset(answer(length=9))] * 6,
        answer(400, echo),
    )
    client = make(kind=kind)
    found = client.get("/x", {"page": 1})
    assert found.next_url == "/x?page=2"
    words = repr(found) + repr(found.body) + repr(client) + found.final_url
    for expected in (Unreachable, Refused):
        with pytest.raises(expected) as error:
            client.get("/x")
        failure: BaseException | None = error.value
        while failure is not None:
            words += str(failure) + repr(failure) + repr(vars(failure))
            failure = failure.__cause__ or failure.__context__
    sent = [asked.target + asked.headers.get("authorization", "") for asked in server.asked]
    assert [each.count(TOKEN) for each in sent] == [1] * 9
    assert "GET /x" in caplog.text  # the log was listening
    assert TOKEN not in words + caplog.text + "".join(told)


def test_gitee_gets_its_token_in_the_query(server: Scripted, make: Callable[..., Client]) -> None:
    server.answers(answer(body="[]", headers={"total_page": "3"}))
    client = make(url=f"{server.url}/api/v5", kind="gitee")
    found = client.get("/repos/o/r/issues", {"page": 2})
    assert targets(server) == [f"/api/v5/repos/o/r/issues?page=2&access_token={TOKEN}"]
    assert "authorization" not in server.asked[0].headers
    assert "x-github-api-version" not in server.asked[0].headers
    assert (found.url, found.last_page) == ("/repos/o/r/issues?page=2", 3)


@pytest.mark.parametrize(
    "url",
    [
        "api.github.com", "ftp://api.github.com", "https://", "https://[::1", "file:///etc",
        "https://jane:pw@api.github.com", "https://api.github.com?x=1", "https://host:99999",
    ],
)  # fmt: skip
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(StudyError, match="no web address") as error:
        Client(url, None)
    assert error.value.hint


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"{TOKEN} x", f"{TOKEN}ü", f"{TOKEN}\x00"])
def test_an_odd_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(StudyError, match="the token in GITHUB_TOKEN has characters") as error:
        Client("https://api.github.com", token)
    assert TOKEN not in str(error.value)


def test_a_token_is_not_sent_in_the_clear() -> None:
    with pytest.raises(StudyError, match="everybody on the way") as error:
        Client("http://gitee.example.org/api/v5", TOKEN, kind="gitee")
    assert TOKEN not in str(error.value)
    Client("http://gitee.example.org/api/v5", None, kind="gitee").close()

"""The client: what it asks, where it goes, what it makes of a no, and that it keeps the token."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable

import pytest
from asking import EPOCH, TOKEN, quota, targets
from fake_time import FakeTime
from loopback.scripted import Reset, Scripted, answer, scripted

from faultatlas.data.errors import StudyError
from faultatlas.miner.client import Client, Refused, Unreachable
from faultatlas.miner.connecting import connected


def test_a_request_names_itself_and_what_it_wants(
    server: Scripted, make_client: Callable[..., Client], fake: FakeTime
) -> None:
    server.answers(answer(body='[{"number": 1}]', headers={"ETag": 'W/"abc"'}))
    found = make_client().get("/repos/o/r/issues", {"labels": "a b,c", "state": "all", "page": 2})
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
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    server.answers(answer())
    make_client().get("/x?labels=&page=1", {"page": 2})
    assert targets(server) == ["/x?labels=&page=2"]


def test_without_a_token_none_is_sent(server: Scripted, make_client: Callable[..., Client]) -> None:
    server.answers(answer())
    client = make_client(None, accept="application/vnd.github.v3+json")
    client.get("/user")
    assert "authorization" not in server.asked[0].headers
    assert server.asked[0].headers["accept"] == "application/vnd.github.v3+json"
    assert not client.has_token


def test_an_unchanged_page_costs_nothing(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    server.answers(answer(304, b"", {"ETag": '"abc"'}), answer())
    client = make_client()
    assert client.get("/x", etag='"abc"').status == 304
    assert server.asked[0].headers["if-none-match"] == '"abc"'
    client.get("/x")
    assert "if-none-match" not in server.asked[1].headers
    assert (client.sent, client.not_modified) == (2, 1)


def test_a_link_to_the_next_page_is_asked_as_it_is(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    opaque = "/repositories/1/issues?z=&after=Y3Vyc29yOnYy%2BOpQ%3D%3D&labels=&a=%20x"
    server.answers(answer(headers={"Link": f'<{server.url}/api/v3{opaque}>; rel="next"'}), answer())
    client = make_client(url=f"{server.url}/api/v3/")
    following = client.get("/repos/o/r/issues").next_url
    assert following == opaque
    assert client.get(following).url == opaque
    assert server.asked[1].target == f"/api/v3{opaque}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("root", ["", "/api/v3"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_redirect_keeps_the_query(
    server: Scripted,
    make_client: Callable[..., Client],
    status: int,
    root: str,
    absolute: bool,  # noqa: FBT001  (a parameter of the test)
) -> None:
    place = (server.url if absolute else "") + f"{root}/repositories/7/issues"
    server.answers(answer(status, headers={"Location": place}), answer())
    client = make_client(url=server.url + root)
    found = client.get("/repos/o/r/issues", {"labels": "bug"}, etag='"e"')
    assert targets(server)[1] == f"{root}/repositories/7/issues?labels=bug"
    assert server.asked[1].headers["if-none-match"] == '"e"'
    assert server.asked[1].headers["authorization"] == f"token {TOKEN}"
    assert found.url == "/repos/o/r/issues?labels=bug"
    assert found.final_url == "/repositories/7/issues?labels=bug"
    assert client.sent == 2


def test_a_redirect_with_a_query_of_its_own(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    server.answers(answer(301, headers={"Location": "/repositories/7?q=1"}), answer())
    assert make_client().get("/repos/o/r?labels=bug").final_url == "/repositories/7?q=1"


def test_redirects_end(server: Scripted, make_client: Callable[..., Client]) -> None:
    server.answers(*[answer(301, headers={"Location": "/round"})] * 9)
    with pytest.raises(Refused, match="in a circle") as error:
        make_client().get("/round")
    assert error.value.status == 301
    assert len(server.asked) == 6


@pytest.mark.parametrize("location", ["", "https://[", "/../..//"])
def test_a_redirect_to_nowhere(
    server: Scripted, make_client: Callable[..., Client], location: str
) -> None:
    server.answers(answer(301, headers={"Location": location}))
    with pytest.raises(Refused, match="redirects /x"):
        make_client(url=f"{server.url}/api/v3").get("/x")


@pytest.mark.parametrize("kind", ["github", "gitee"])
def test_another_server_gets_nothing(
    server: Scripted, make_client: Callable[..., Client], kind: str
) -> None:
    with scripted(answer()) as other:
        server.answers(
            answer(301, headers={"Location": f"{other.url}/x"}),
            answer(headers={"Link": f'<{other.url}/x?page=2>; rel="next"'}),
        )
        client = make_client(kind=kind)
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
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    server.answers(answer(301, headers={"Location": "/y"}), answer(404))
    client = make_client()
    assert client.get("/x", accept={301}).headers["location"] == "/y"
    assert client.get("/x", accept={404, 410}).status == 404


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
    make_client: Callable[..., Client],
    status: int,
    token: str | None,
    message: str,
    hint: str,
) -> None:
    server.answers(answer(status, '{"message": "Resource not accessible"}', quota(59, EPOCH)))
    with pytest.raises(Refused) as error:
        make_client(token, token_name="MY_TOKEN").get("/x")  # noqa: S106  (a name)
    assert error.value.status == status
    assert message in error.value.message
    assert hint in error.value.hint
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("root", "place"), [("", "/graphql"), ("/api/v3", "/api/graphql"), ("/api", "/api/graphql")]
)
def test_graphql_goes_to_its_own_place(
    server: Scripted, make_client: Callable[..., Client], root: str, place: str
) -> None:
    body = {"data": {"a": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}
    server.answers(answer(body=json.dumps(body)))
    found = make_client(url=server.url + root).graphql("query($n: Int) { a }", {"n": 1})
    asked = server.asked[0]
    assert (asked.verb, asked.target) == ("POST", place)
    assert json.loads(asked.body) == {"query": "query($n: Int) { a }", "variables": {"n": 1}}
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert found.json() == body
    assert found.url == "/graphql"


def test_a_query_that_is_wrong_is_refused(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    server.answers(answer(body='{"errors": [{"message": "Parse error on }"}]}'))
    with pytest.raises(Refused, match="Parse error on }"):
        make_client().graphql("}", {})


def test_graphql_is_refused_where_there_is_none(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    with pytest.raises(StudyError, match="needs a token"):
        make_client(None).graphql("{a}", {})
    with pytest.raises(StudyError, match="Gitee has no GraphQL"):
        make_client(kind="gitee").graphql("{a}", {})
    server.answers(answer(301, headers={"Location": "/elsewhere"}))
    with pytest.raises(Refused, match="redirects /graphql"):
        make_client().graphql("{a}", {})


@pytest.mark.parametrize("kind", ["github", "gitee"])
def test_the_token_is_in_nothing_that_comes_back(
    server: Scripted,
    make_client: Callable[..., Client],
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
    client = make_client(kind=kind)
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


def test_gitee_gets_its_token_in_the_query(
    server: Scripted, make_client: Callable[..., Client]
) -> None:
    server.answers(answer(body="[]", headers={"total_page": "3"}))
    client = make_client(url=f"{server.url}/api/v5", kind="gitee")
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


def test_an_address_that_is_none_is_told_also_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    with (
        pytest.raises(StudyError, match="no web address"),
        connected("github", "https://[x", token_file=None, max_wait="1m", tell=print),
    ):
        pass


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"{TOKEN} x", f"{TOKEN}ü", f"{TOKEN}\x00"])
def test_an_odd_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(StudyError, match="the token in GITHUB_TOKEN has characters") as error:
        Client("https://api.github.com", token)
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize(
    "host", ["gitee.example.org", "localhost.example.org", "127.example.org", "127.0.0.1.example"]
)
def test_a_token_is_not_sent_in_the_clear(host: str) -> None:
    with pytest.raises(StudyError, match="everybody on the way") as error:
        Client(f"http://{host}/api/v5", TOKEN, kind="gitee")
    assert TOKEN not in str(error.value)
    Client("http://127.0.0.1:1/api/v5", TOKEN, kind="gitee").close()
    Client("http://gitee.example.org/api/v5", None, kind="gitee").close()

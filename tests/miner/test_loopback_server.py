"""The loopback server behaves as GitHub does where miners depend on it, faults included."""

from __future__ import annotations

import gzip
import json
import re
import socket
from collections.abc import Iterator

import pytest
import requests
from loopback import TOKEN, Fault, Running, World, serving

NAME = "example/tensors"


@pytest.fixture
def world() -> World:
    return World.small()


@pytest.fixture
def server(world: World) -> Iterator[Running]:
    with serving(world) as running:
        yield running


class Client(requests.Session):
    """A session with a token that knows where the server is."""

    def __init__(self, server: Running) -> None:
        super().__init__()
        self.root = server.url
        self.headers["Authorization"] = f"token {TOKEN}"

    def ask(self, path: str, **headers: str) -> requests.Response:
        url = path if path.startswith("http") else self.root + path
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.get(url, headers=sent, timeout=10, allow_redirects=False)


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with Client(server) as session:
        yield session


def numbers(answer: requests.Response) -> list[int]:
    return [issue["number"] for issue in answer.json()]


# Lists


def test_pages_lead_to_each_other_by_the_repositorys_id(client: Client, world: World) -> None:
    first = client.ask(f"/repos/{NAME}/issues?state=all&per_page=10")
    assert list(first.links) == ["next", "last"]
    assert (
        f"/repositories/{world.tracker.id}/issues?state=all&per_page=10&page=2" in first.text
        or (first.links["next"]["url"].endswith("state=all&per_page=10&page=2"))
    )
    second = client.ask(first.links["next"]["url"])
    assert list(second.links) == ["prev", "next", "last", "first"]
    third = client.ask(second.links["next"]["url"])
    assert list(third.links) == ["prev", "first"]
    seen = numbers(first) + numbers(second) + numbers(third)
    assert seen == sorted(world.tracker.entries, reverse=True)


def test_filters_are_githubs(client: Client, world: World) -> None:
    entries = world.tracker.entries.values()
    default = client.ask(f"/repos/{NAME}/issues?per_page=100")
    assert set(numbers(default)) == {e.number for e in entries if e.closed is None}
    both = client.ask(f"/repos/{NAME}/issues?labels=BUG,good first issue&state=all&per_page=100")
    assert set(numbers(both)) == {
        e.number for e in entries if {"bug", "Good First Issue"} <= set(e.labels)
    }
    assert numbers(both)
    shared = world.tracker.payload(11)["updated_at"]
    since = client.ask(
        f"/repos/{NAME}/issues?state=all&sort=updated&direction=asc&since={shared}&per_page=100"
    )
    assert numbers(since)[:4] == [11, 12, 13, 14]


def test_offset_pages_lose_what_moves_and_cursors_do_not(client: Client, world: World) -> None:
    path = f"/repos/{NAME}/issues?state=all&sort=updated&direction=asc&per_page=10"
    oldest = world.tracker.issues(sort="updated", descending=False)[0].number
    world.faults.add(Fault.between(lambda: world.touch(oldest), after=1))
    first = client.ask(path)
    assert len(set(_rest(client, first))) == 25  # the eleventh became the tenth
    world.cursor_only = True
    first = client.ask(path)
    assert "last" not in first.links
    world.touch(numbers(first)[0])
    seen = _rest(client, first)
    assert len(set(seen)) == 26
    assert len(seen) == 27  # only what moved is there twice
    refused = client.ask(f"{path}&page=2")
    assert refused.status_code == 422
    assert "cursor based pagination" in refused.json()["message"]


def _rest(client: Client, answer: requests.Response) -> list[int]:
    seen = numbers(answer)
    while "next" in answer.links:
        answer = client.ask(answer.links["next"]["url"])
        seen += numbers(answer)
    return seen


def test_comments_of_one_issue_and_of_all(client: Client, world: World) -> None:
    one = client.ask(f"/repos/{NAME}/issues/5/comments?per_page=100").json()
    assert len(one) == world.tracker.entries[5].comments == 12
    edited = world.edit_comment(5, 3, "edited")
    late = world.tracker.payload(5)["updated_at"]
    for path in ("issues/5/comments", "issues/comments"):
        found = client.ask(f"/repos/{NAME}/{path}?since={late}").json()
        assert [(c["id"], c["body"]) for c in found] == [(edited, "edited")]
    newest = client.ask(f"/repos/{NAME}/issues/comments?sort=updated&direction=desc&per_page=1")
    assert newest.json()[0]["id"] == edited


# Identity, quota, conditions


def test_what_has_not_changed_is_free_with_a_token_only(client: Client, world: World) -> None:
    path = f"/repos/{NAME}/issues?state=all"
    tag = client.ask(path).headers["etag"]
    assert tag.startswith('W/"')
    again = client.ask(path, If_None_Match=tag)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-remaining"] == "4999"
    assert [r.was_conditional for r in world.requests] == [False, True]
    del client.headers["Authorization"]
    assert client.ask(path, If_None_Match=tag).headers["x-ratelimit-remaining"] == "59"
    world.touch(1, title="new")
    assert client.ask(path, If_None_Match=tag).status_code == 200


def test_quota_ends_and_comes_back(client: Client, world: World) -> None:
    world.clock = lambda: 1_700_000_000
    world.quota(TOKEN).remaining = 1
    assert client.ask(f"/repos/{NAME}").status_code == 200
    used_up = client.ask(f"/repos/{NAME}")
    assert used_up.status_code == 403
    assert "API rate limit exceeded" in used_up.json()["message"]
    assert used_up.headers["x-ratelimit-reset"] == "1700003600"
    assert used_up.headers["date"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert client.ask("/rate_limit").json()["rate"]["remaining"] == 0
    world.clock = lambda: 1_700_003_601
    assert client.ask(f"/repos/{NAME}").headers["x-ratelimit-remaining"] == "4999"


def test_searches_have_a_quota_of_their_own(client: Client) -> None:
    answer = client.ask(f"/search/issues?q=repo:{NAME}+is:issue")
    assert answer.headers["x-ratelimit-resource"] == "search"
    assert answer.headers["x-ratelimit-limit"] == "30"
    del client.headers["Authorization"]
    limit = client.ask(f"/search/issues?q=repo:{NAME}").headers["x-ratelimit-limit"]
    assert limit == "10"


def test_callers_are_told_apart(client: Client, world: World, server: Running) -> None:
    assert client.ask(f"/repos/{NAME}", Authorization="token other").status_code == 401
    world.tokens["other"] = 100
    answer = client.ask(f"/repos/{NAME}", Authorization="Bearer other")
    assert answer.headers["x-ratelimit-limit"] == "100"
    world.make_private(TOKEN)
    assert client.ask(f"/repos/{NAME}", Authorization="Bearer other").status_code == 404
    assert client.ask(f"/repos/{NAME}").json()["private"] is True
    assert [r.token for r in world.requests] == ["other", "other", "other", TOKEN]
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"GET /rate_limit HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        said = b"".join(iter(lambda: raw.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 403")
    assert b"User-Agent" in said


# What becomes of issues and repositories


def test_issues_vanish_in_githubs_ways(client: Client, world: World) -> None:
    comments = [c["body"] for c in client.ask(f"/repos/{NAME}/issues/8/comments").json()]
    world.delete(6)
    world.hide(7)
    new = world.transfer(8, "other/place")
    world.to_discussion(9)
    assert client.ask(f"/repos/{NAME}/issues/6").status_code == 410
    assert client.ask(f"/repos/{NAME}/issues/7").status_code == 404
    moved = client.ask(f"/repos/{NAME}/issues/8/comments")
    assert moved.status_code == 301
    assert [c["body"] for c in client.ask(moved.headers["location"]).json()] == comments
    there = client.ask(f"/repos/other/place/issues/{new}").json()
    assert there["html_url"].endswith(f"other/place/issues/{new}")
    kept = client.ask(f"/repos/{NAME}/issues/9").json()
    assert (kept["state"], kept["locked"]) == ("closed", True)
    events = client.ask(f"/repos/{NAME}/issues/9/timeline?per_page=100").json()
    assert "converted_to_discussion" in {event["event"] for event in events}
    listed = numbers(client.ask(f"/repos/{NAME}/issues?state=all&per_page=100"))
    assert {6, 7, 8}.isdisjoint(listed)


def test_an_old_name_leads_to_the_new_one_with_the_query(client: Client, world: World) -> None:
    world.rename("example/arrays")
    moved = client.ask(f"/repos/{NAME}/issues?state=all&per_page=2")
    assert moved.status_code == 301
    assert moved.headers["location"] == (
        f"{client.root}/repositories/{world.tracker.id}/issues?state=all&per_page=2"
    )
    first = client.ask(moved.headers["location"]).json()[0]
    assert first["repository_url"] == "https://api.github.com/repos/example/arrays"


def test_a_change_shows_in_the_issue_its_lists_and_its_timeline(
    client: Client, world: World
) -> None:
    label = world.tracker.entries[1].labels[0] if world.tracker.entries[1].labels else "bug"
    world.touch(1, labels=[label])
    late = world.touch(1, comment="one more", title="renamed")
    world.remove_label(1, label)
    found = client.ask(f"/repos/{NAME}/issues?state=all&since={late}").json()[0]
    assert (found["number"], found["title"], found["labels"]) == (1, "renamed", [])
    comments = client.ask(f"/repos/{NAME}/issues/1/comments?per_page=100").json()
    assert len(comments) == found["comments"]
    assert comments[-1]["body"] == "one more"
    events = client.ask(f"/repos/{NAME}/issues/1/timeline?per_page=100").json()
    assert [e["event"] for e in events][-3:] == ["renamed", "commented", "unlabeled"]


# Faults, each as a client meets it


def test_refusals_reach_the_client_as_often_as_ordered(client: Client, world: World) -> None:
    path = f"/repos/{NAME}"
    world.faults.add(
        Fault.status(502, on=2),
        Fault.html(),
        Fault.too_many(retry_after=5),
        Fault.too_many(),
        Fault.secondary_limit(retry_after=60, times=2),
        Fault.primary_limit(reset="soon"),
    )
    answers = [client.ask(path) for _ in range(8)]
    assert [a.status_code for a in answers] == [502, 502, 429, 429, 403, 403, 403, 200]
    html, bad_gateway, later, at_once, secondary, _again, primary, _well = answers
    assert html.text.startswith("<html>")
    assert bad_gateway.json()["message"] == "Server Error"
    assert later.headers["retry-after"] == "5"
    assert "retry-after" not in at_once.headers
    assert "secondary rate limit" in secondary.json()["message"]
    assert (primary.headers["x-ratelimit-remaining"], primary.headers["x-ratelimit-reset"]) == (
        "0",
        "soon",
    )
    assert world.faults.pending == []
    assert [request.status for request in world.requests] == [a.status_code for a in answers]


def raw(server: Running, path: str, more: str = "") -> tuple[bytes, bytes]:
    """Head and body as they are on the wire, until the server ends the connection."""
    head = f"GET {path} HTTP/1.1\r\nHost: here\r\nUser-Agent: test\r\n{more}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
        wire.sendall(head.encode())
        said = b"".join(iter(lambda: wire.recv(65536), b""))
    first, _, body = said.partition(b"\r\n\r\n")
    return first, body


def test_a_cut_body_ends_before_its_announced_length(server: Running, world: World) -> None:
    world.faults.add(Fault.cut_body(0.5))
    head, body = raw(server, f"/repos/{NAME}/issues")
    announced = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
    assert len(body) == announced // 2


def test_a_cut_body_in_chunks_has_no_last_chunk(server: Running, world: World) -> None:
    world.faults.add(Fault.cut_body(chunked=True))
    head, body = raw(server, f"/repos/{NAME}/issues")
    assert b"transfer-encoding: chunked" in head
    assert b"content-length" not in head
    size = int(body.partition(b"\r\n")[0], 16)
    assert size > 1000
    assert not body.endswith(b"0\r\n\r\n")


def test_a_reset_ends_the_connection_without_a_goodbye(server: Running, world: World) -> None:
    world.faults.add(Fault.reset())
    with pytest.raises(ConnectionResetError):
        raw(server, f"/repos/{NAME}/issues")


@pytest.mark.parametrize("fault", [Fault.cut_body(), Fault.cut_body(chunked=True), Fault.reset()])
def test_a_body_that_ends_early_breaks_one_request(
    client: Client, world: World, fault: Fault
) -> None:
    world.faults.add(fault)
    path = f"/repos/{NAME}/issues?state=all&per_page=100"
    with pytest.raises((requests.exceptions.ChunkedEncodingError, requests.ConnectionError)):
        client.ask(path)
    assert len(client.ask(path).json()) == 26


def test_broken_json_arrives_whole(client: Client, world: World) -> None:
    world.faults.add(Fault.bad_json())
    answer = client.ask(f"/repos/{NAME}")
    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        answer.json()


def test_hooks_run_before_within_and_after_a_response(client: Client, world: World) -> None:
    said: list[tuple[str, int]] = []
    world.before_response = lambda number, _request: said.append(("before", number))
    world.mid_body = lambda number, _request: said.append(("within", number))
    world.after_response = lambda number, _request: said.append(("after", number))
    client.ask(f"/repos/{NAME}")
    client.ask(f"/repos/{NAME}")  # on the same connection, so the first has ended
    assert said[:3] == [("before", 1), ("within", 1), ("after", 1)]


def test_answers_are_compressed_where_wanted(server: Running, world: World) -> None:
    said = {}
    for accepted in ("gzip", "identity"):
        more = f"Accept-Encoding: {accepted}\r\nConnection: close\r\n"
        head, said[accepted] = raw(server, f"/repos/{NAME}/issues", more)
        assert (b"content-encoding: gzip" in head) == (accepted == "gzip")
    assert gzip.decompress(said["gzip"]) == said["identity"]
    assert json.loads(said["identity"])
    assert len(world.requests) == 2


def test_a_mistake_of_the_server_fails_the_test_that_met_it() -> None:
    world = World.small()
    world.tracker.entries[1].closed = "never"  # type: ignore[assignment]
    with pytest.raises(TypeError), serving(world) as server, Client(server) as client:
        assert client.ask(f"/repos/{NAME}/issues/1").status_code == 500

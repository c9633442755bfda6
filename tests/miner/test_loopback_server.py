"""The loopback server behaves as GitHub does where miners depend on it, faults included."""

from __future__ import annotations

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


# Identity, quota, conditions


# What becomes of issues and repositories


# Faults, each as a client meets it


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


def test_a_mistake_of_the_server_fails_the_test_that_met_it() -> None:
    world = World.small()
    world.tracker.entries[1].closed = "never"  # type: ignore[assignment]
    with pytest.raises(TypeError), serving(world) as server, Client(server) as client:
        assert client.ask(f"/repos/{NAME}/issues/1").status_code == 500

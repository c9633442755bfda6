"""What tests of the miners share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from asking import START, TOKEN
from fake_time import FakeTime
from loopback import serving
from loopback.scripted import Scripted, scripted
from mining import Mining

from faultatlas.miner.client import Client


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tokens and proxies of whoever runs the tests."""
    names = ("GITHUB_TOKEN", "GITEE_TOKEN", "GITHUB_API_URL")
    for name in (*names, "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def mining(
    command: Callable[..., CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    alone: None,  # noqa: ARG001
) -> Iterator[Callable[..., Mining]]:
    """Serves a world, and runs `miner fetch` against it into a new study."""
    with ExitStack() as running:

        def start(world: Any, study: str = "study") -> Mining:
            server = running.enter_context(serving(world))
            return Mining(command, monkeypatch, server, tmp_path / study)

        yield start


@pytest.fixture
def server() -> Iterator[Scripted]:
    """A server that answers with what a test writes into its script."""
    with scripted() as served:
        yield served


@pytest.fixture
def fake() -> FakeTime:
    """A fixed moment, from which waits go on."""
    return FakeTime(START)


@pytest.fixture
def told() -> list[str]:
    """What the client told its user."""
    return []


@pytest.fixture
def make_client(
    server: Scripted,
    fake: FakeTime,
    told: list[str],
    alone: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Client]]:
    """Makes clients of the scripted server, or of another, for a user in Tokyo."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    with ExitStack() as opened:

        def make(token: str | None = TOKEN, url: str = "", **options: Any) -> Client:
            usual = {"clock": fake.clock(), "tell": told.append, "timeout_s": 5}
            client = Client(url or server.url, token, **{**usual, **options})
            opened.callback(client.close)
            return client

        yield make
    monkeypatch.undo()
    time.tzset()

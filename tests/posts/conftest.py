"""What tests of `miner posts` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path
from shutil import copy
from subprocess import CompletedProcess

import pytest
from loopback import serving
from loopback.stackexchange import StackExchange
from loopback.studies import opened_once
from mining import FakeTime
from posting import Posting

from faultatlas.data import redaction
from faultatlas.data.store import Study


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the keys and proxies of whoever runs the tests, and without remembered secrets."""
    for name in ("STACKEXCHANGE_KEY", "GITHUB_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(redaction, "_remembered", set())


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """The time of client and server: waits are noted and take none."""
    fake = FakeTime()
    monkeypatch.setattr("faultatlas.miner.posts.client.Clock", fake.clock)
    return fake


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a new study: to make its tables takes longer than most tests do."""
    study = Study(tmp_path_factory.mktemp("empty"))
    with study.writing():
        pass
    return study.database


@pytest.fixture
def posting(
    command: Callable[..., CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    fake_time: FakeTime,
    empty: Path,
    alone: None,  # noqa: ARG001
) -> Iterator[Callable[..., Posting]]:
    """Serves a site, and runs `miner posts` against it into a new study.

    Studies stay open, which saves most of the time; `as_usual=True` opens and closes them.
    """
    with ExitStack() as running:

        def start(
            world: StackExchange | None = None, study: str = "study", *, as_usual: bool = False
        ) -> Posting:
            if not as_usual:
                running.enter_context(opened_once(monkeypatch))
                monkeypatch.setattr(Study, "compact", lambda _self: None)  # it needs the file
                monkeypatch.setattr(Study, "_make", lambda _self, draft: copy(empty, draft))
            made = world or StackExchange.small()
            made.clock = lambda: fake_time.now.replace(tzinfo=UTC).timestamp()
            server = running.enter_context(serving(made))
            return Posting(command, monkeypatch, server, tmp_path / study)

        yield start

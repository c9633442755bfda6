"""What tests of the miners share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from loopback import serving
from mining import FakeTime, Mining

from data import redaction


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tokens and proxies of whoever runs the tests, and without remembered secrets."""
    for name in ("GITHUB_TOKEN", "GITEE_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(redaction, "_remembered", set())


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """The time of every client of the test: waits are noted and take none."""
    fake = FakeTime()
    monkeypatch.setattr("miner.client.Clock", fake.clock)
    return fake


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

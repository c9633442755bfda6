"""What tests of `miner posts` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from fake_time import FakeTime
from loopback import serving
from loopback.stackexchange import StackExchange
from posting import Posting

from faultatlas.data.study import Study


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the keys and proxies of whoever runs the tests."""
    for name in ("STACKEXCHANGE_KEY", "GITHUB_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def posting(
    command: Callable[..., CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    fake_time: FakeTime,
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
                running.enter_context(Study.kept_open())
            made = world or StackExchange.small()
            made.clock = lambda: fake_time.now.replace(tzinfo=UTC).timestamp()
            server = running.enter_context(serving(made))
            return Posting(command, monkeypatch, server, tmp_path / study)

        yield start

"""What tests of `miner papers` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from fake_time import FakeTime
from loopback import serving
from loopback.index import Index
from loopback.scopus import Scopus
from papering import Papering

from faultatlas.data.study import Study


@pytest.fixture
def papering(
    command: Callable[..., CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    fake_time: FakeTime,
) -> Iterator[Callable[..., Papering]]:
    """Serves an index, if one is given, and runs `miner papers` into a new study."""
    for name in ("OPENALEX_API_KEY", "SCOPUS_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as running:
        running.enter_context(Study.kept_open())

        def start(world: Index | None = None, study: str = "study") -> Papering:
            at = Papering(command, monkeypatch, tmp_path / study)
            if world is not None:
                world.clock = lambda: fake_time.now.replace(tzinfo=UTC).timestamp()
                at.running = running.enter_context(serving(world))
                at.source = "scopus" if isinstance(world, Scopus) else "openalex"
            return at

        yield start

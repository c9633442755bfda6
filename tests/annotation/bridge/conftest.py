"""A real Label Studio, started once for each process that runs tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from labelstudio import LabellingRater, LabelStudio
from needed import need

from faultatlas.annotation.bridge.installation import Installation, cache_folder


@pytest.fixture(scope="session")
def installation() -> Installation:
    """Label Studio in the cache folder: `annotation serve` or `.ci/run` have put it there."""
    found = Installation(cache_folder())
    need(found.is_ready, f"{found.folder} is missing: run `annotation serve` once")
    return found


@pytest.fixture(scope="session")
def running_server(
    installation: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabelStudio]:
    server = LabelStudio.at(tmp_path_factory.mktemp("label-studio"), installation)
    server.start()
    yield server
    server.end()


@pytest.fixture
def label_studio(running_server: LabelStudio, monkeypatch: pytest.MonkeyPatch) -> LabelStudio:
    """A server that runs, with the token of whoever leads the study in the environment."""
    running_server.ensure()
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", running_server.token)
    return running_server


@pytest.fixture(scope="session")
def people(running_server: LabelStudio) -> dict[str, LabellingRater]:
    """Two people with accounts."""
    return {name: running_server.rater(f"{name}@x.invalid") for name in ("ana", "ben")}

"""What tests of `miner commits` share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from commits_reading import Reading

from faultatlas.data.study import Study


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study without rows, to be copied: making one takes longer than reading a few commits."""
    folder = tmp_path_factory.mktemp("blank")
    with Study(folder).writing():
        pass
    return folder


@pytest.fixture
def reading(
    command: Callable[..., CompletedProcess[str]],
    blank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Reading:
    """A study without rows, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT"):
        monkeypatch.delenv(name, raising=False)
    return Reading(command, Path(shutil.copytree(blank, tmp_path / "study")))

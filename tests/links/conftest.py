"""What tests of links share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from linking import Linking

from faultatlas.data.study import Study


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study without texts, made once."""
    folder = tmp_path_factory.mktemp("empty")
    with Study(folder).writing():
        pass
    return folder


@pytest.fixture
def linking(empty: Path, tmp_path: Path) -> Linking:
    """A copy of it."""
    return Linking(Path(shutil.copytree(empty, tmp_path / "study")))

"""What tests of screening share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import pytest
from reading_papers import Reading

from faultatlas.data.study import Study


@pytest.fixture(scope="session")
def empty_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study without rows, which is copied: making one takes longer."""
    study = Study(tmp_path_factory.mktemp("papers"))
    with study.writing() as writer:
        writer.execute("SELECT 1")
    return study.database


@pytest.fixture
def reading(tmp_path: Path, empty_study: Path) -> Iterator[Reading]:
    """A study in the folder where commands run; it stays open, which saves most of the time."""
    copy(empty_study, tmp_path)
    with Study.kept_open():
        yield Reading(Study(tmp_path))

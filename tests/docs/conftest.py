"""What tests of pages share."""

from __future__ import annotations

from pathlib import Path

import pytest
from documenting import copied, made


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all pages."""
    folder = copied(tmp_path_factory.mktemp("whole"))
    ended = made(folder)
    assert ended.returncode == 0, ended.stderr
    return folder / "build" / "site"

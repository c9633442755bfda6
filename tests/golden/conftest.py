"""Golden cases run the program as users have it."""

from __future__ import annotations

import pytest

from faultatlas.data import engine


@pytest.fixture(autouse=True, scope="module")
def new_studies_are_copies() -> None:
    """Here they are made as users make them."""


@pytest.fixture(autouse=True, scope="module")
def studies_share_instances() -> None:
    """Here each study has an instance of its own."""
    engine.close_idle()

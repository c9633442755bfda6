"""Golden cases run the program as users have it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="module")
def fast_study() -> None:
    """Here studies are made and opened as users make and open them."""

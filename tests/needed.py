"""What tests need of the machine: without it they are skipped, and fail with `CI=true`."""

from __future__ import annotations

import os

import pytest

IN_CI = os.environ.get("CI") == "true"


def need(is_there: object, what: str) -> None:
    """End a test here unless a part is there."""
    if not is_there:
        if IN_CI:
            pytest.fail(what)
        pytest.skip(what)


def needing(is_there: object, what: str) -> pytest.MarkDecorator:
    """A mark for tests of a part; with `CI=true` they run without it, and show what is missing."""
    return pytest.mark.skipif(not is_there and not IN_CI, reason=what)

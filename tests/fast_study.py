"""Studies that are made and opened fast: both take longer than most of what a test asks.

A new study is a copy of an empty one. It stays open until the test ends, so that no other process
can have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from warming import empty_database

from faultatlas.data.study import Study


@contextmanager
def fast_studies(*, made: bool = True, opened: bool = True) -> Iterator[Callable[[], None]]:
    """Meanwhile studies are made so, opened so, or both; gives what closes them."""
    with ExitStack() as until_the_end:
        if made:
            until_the_end.enter_context(Study.made_from(empty_database()))
        if not opened:
            yield lambda: None
            return
        yield until_the_end.enter_context(Study.kept_open())

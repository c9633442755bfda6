"""Studies that are made and opened fast: both take longer than most of what a test asks.

A new study is a copy of an empty one. It stays open until the test ends, so that no other process
can have it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from warming import empty_database

from faultatlas.data.study import Study
from faultatlas.report.catalogue import PROGRAMS


@contextmanager
def fast_studies(*, made: bool = True, opened: bool = True) -> Iterator[Callable[[], None]]:
    """Meanwhile studies are made so, opened so, or both; gives what closes them."""
    with ExitStack() as until_the_end:
        if made:
            until_the_end.enter_context(Study.made_from(empty_database()))
        if not opened:
            yield lambda: None
            return
        close = until_the_end.enter_context(Study.kept_open())
        keeper = Keeper(close)
        _keepers.append(keeper)
        until_the_end.callback(_keepers.remove, keeper)
        yield close


class Keeper:
    """Keeps studies open from one transaction to the next, until a test starts our program.

    The other process may need the study, so from then on this file's tests open it as users do.
    """

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close

    def stop(self) -> None:
        """Close what is open, and keep nothing any more."""
        self._close()
        Study._kept_open = None  # noqa: SLF001 - until the end of the file


_keepers: list[Keeper] = []  # that of the file whose tests run


def _before_a_process_starts(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook. Git and other tools do not open studies."""
    if not _keepers:
        return
    if event == "os.fork" or (event == "subprocess.Popen" and _is_ours(arguments)):
        _keepers[-1].stop()


def _is_ours(arguments: tuple[Any, ...]) -> bool:
    """Whether a Python program is started: ours has a console script, or is run by Python."""
    name = Path(os.fsdecode(arguments[0] or arguments[1][0])).name
    return name.startswith("python") or name in PROGRAMS


sys.addaudithook(_before_a_process_starts)

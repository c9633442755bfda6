"""The entry points of the four programs. Ctrl-C ends them with 130 and without a traceback.

Before the command runs, Ctrl-C ends the process at once. While it runs, Ctrl-C raises
KeyboardInterrupt, so that transactions are rolled back and the run is recorded as interrupted.
"""

from __future__ import annotations

import os
import signal
from functools import partial
from types import FrameType

INTERRUPTED = 130

_interrupts: list[int] = []


def start(program: str) -> None:
    """Run a program with the words of the command line."""
    # A shell ignores SIGINT in what it starts in the background: that stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from faultatlas.report.program import run  # Ctrl-C may come while this imports

    try:
        run(program)
    finally:
        end_at_once()  # nothing is left to roll back


def raise_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _raise)


def end_at_once() -> None:
    """Let Ctrl-C end the process from now on."""
    if signal.getsignal(signal.SIGINT) is _raise:
        signal.signal(signal.SIGINT, _end)


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed: libraries turn KeyboardInterrupt into errors of their own."""
    return bool(_interrupts)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _raise(number: int, _frame: FrameType | None) -> None:
    _interrupts.append(number)
    raise KeyboardInterrupt


miner = partial(start, "miner")
annotation = partial(start, "annotation")
analysis = partial(start, "analysis")
report = partial(start, "report")

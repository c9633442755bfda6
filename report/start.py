"""The entry points of the four programs. Ctrl-C ends them with 130 and without a traceback.

Before the command runs, Ctrl-C ends the process at once. While it runs, Ctrl-C raises
KeyboardInterrupt, so that transactions are rolled back and the run is recorded as interrupted.
"""

from __future__ import annotations

# The module signal imports others first, and Ctrl-C may come meanwhile.
import _signal as signal  # type: ignore[import-not-found]
import os

INTERRUPTED = 130

_interrupts: list[int] = []


def start(program: str) -> None:
    """Run a program with the words of the command line."""
    # A shell ignores SIGINT in what it starts in the background: that stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from faultatlas.report.program import run

    try:
        run(program)
    except BaseException as error:
        end_at_once()
        if not _is_interrupt(error):
            raise
    else:
        return
    from faultatlas.report.console import Console

    Console().tell("interrupted; what was stored is complete")
    raise SystemExit(INTERRUPTED)


def raise_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _raise)


def end_at_once() -> None:
    """Let Ctrl-C end the process from now on: nothing is left to roll back."""
    if signal.getsignal(signal.SIGINT) is _raise:
        signal.signal(signal.SIGINT, _end)


def accept_interrupt() -> None:
    """Take Ctrl-C for the usual end of a command, such as one that runs a server."""
    _interrupts.clear()


def _is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind it: libraries turn KeyboardInterrupt into errors of their own.

    Typer exits with 130, and what swallows KeyboardInterrupt lets the command end well.
    """
    if isinstance(error, SystemExit):
        return error.code == INTERRUPTED or bool(_interrupts and not error.code)
    return bool(_interrupts)


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


def _raise(number: int, _frame: object) -> None:
    _interrupts.append(number)
    raise KeyboardInterrupt


def miner() -> None:
    """Mine the evidence."""
    start("miner")


def annotation() -> None:
    """Label it."""
    start("annotation")


def analysis() -> None:
    """Analyse it."""
    start("analysis")


def report() -> None:
    """Show the numbers."""
    start("report")

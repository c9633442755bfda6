"""What workers do in tests of pools: small, and importable by a worker."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.executing import Task


def touch(task: Path) -> Path:
    """The simplest task: a file with the worker's number."""
    task.write_text(str(os.getpid()))
    return task


def die(task: Path) -> Path:
    """Killed in the middle, each time."""
    with task.open("a") as tries:
        tries.write("x")
    os.kill(os.getpid(), signal.SIGKILL)
    return task


def fill(task: Path) -> Path:
    """As on a full disk."""
    raise OSError(errno.ENOSPC, "No space left on device", str(task))


class StrangeError(Exception):
    """One that does not survive the way between processes."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def fail(task: Path) -> Path:
    """A bug of ours."""
    raise StrangeError(str(task), "!")


def hold(task: Path) -> Path:
    """Has a child, says so, and waits until it is ended; then it cleans up."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        try:
            task.write_text(f"{os.getpid()} {child.pid}")
            time.sleep(600)
        finally:
            child.kill()
            task.with_suffix(".cleaned").touch()
    return task


ROOM = "ROOM_FOR_RUNS"


def until_full(task: Task) -> Path:
    """Runs bugs as always, until so many results lie on the disk."""
    from faultatlas.analysis.reexecution.executing import execute

    if len(list(task.root.rglob("run.json"))) >= int(os.environ[ROOM]):
        raise OSError(errno.ENOSPC, "No space left on device")
    return execute(task)

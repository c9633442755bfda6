"""Where processes of a sampler are killed: once, at a named point, by themselves or by a worker.

The point and a file that marks that it has happened stand in the environment, which workers share
with the sampler. In the sandbox nothing of it is seen: a program that shall be found running waits
for as long as there is a file `hold` in its folder.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

POINT, MARK = "KILL_POINT", "KILL_MARK"
SAMPLER = ("submits", "runs", "takes", "stores", "stored")
WORKER = ("worker begins", "worker prepared", "worker runs", "worker ran", "worker wrote")
CHILD = ("program", "first of the sandbox", "sandbox", "launcher", "fixed program")
# What of the processes between a worker and the program is meant, from the worker down.
_DEPTH = {"launcher": 0, "sandbox": 1, "first of the sandbox": 2}
HELD = """
import pathlib, sys, time
pathlib.Path("started").touch()
while pathlib.Path("hold").exists():
    time.sleep(0.01)
"""
_installed: set[str] = set()


def is_first(what: str = "") -> bool:
    """Whether nobody was here before, in any process."""
    try:
        os.close(os.open(os.environ[MARK] + what, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def kill_here(point: str, what: str = "") -> None:
    if os.environ.get(POINT) == point and is_first(what):
        os.kill(os.getpid(), signal.SIGKILL)


def wait_for(is_so: Callable[[], Any]) -> Any:
    while not (found := is_so()):
        time.sleep(0.005)
    return found


def around(owner: Any, name: str, before: Callable[..., None], after: Callable[..., None]) -> None:
    """Do something before and after each call of a function."""
    inner = getattr(owner, name)

    def outer(*arguments: Any, **options: Any) -> Any:
        before(*arguments, **options)
        found = inner(*arguments, **options)
        after(*arguments, **options)
        return found

    setattr(owner, name, outer)


def nothing(*_arguments: Any, **_options: Any) -> None:
    pass


def on_sampler() -> None:
    """In the sampler: its points, and workers that have theirs."""
    from faultatlas.analysis.reexecution import executing, pools, sampler, storing

    around(pools.LocalPool, "submit", nothing, lambda *_a, **_o: kill_here("submits"))
    around(sampler.Sampler, "_tell", _when_one_runs, nothing)
    takes = iter(range(99))
    around(
        sampler.Sampler, "_take", lambda *_: next(takes) == 3 and kill_here("takes"), nothing
    )  # fmt: skip
    around(storing, "store", lambda *_a, **_o: kill_here("stores"), nothing)
    around(storing, "store", nothing, lambda *_a, **_o: kill_here("stored"))
    executing.execute = execute


def _when_one_runs(_sampler: Any) -> None:
    # Once: later runs are not held, and one that has just ended would be waited for in vain.
    if os.environ.get(POINT) == "runs" and not Path(os.environ[MARK]).exists():
        folder = Path(os.environ[MARK]).parent
        wait_for(lambda: list(folder.rglob("workspace/started")))
        kill_here("runs")


def execute(task: Any) -> Path:
    """What workers do here."""
    from faultatlas.analysis.reexecution import executing, results
    from faultatlas.analysis.reexecution.sandbox import running

    if not _installed:
        _installed.add("points")
        around(running, "run", _begins, nothing)
        around(results, "write_run", lambda *_: kill_here("worker ran"), nothing)
        around(results, "write_run", nothing, lambda *_: kill_here("worker wrote"))
    kill_here("worker begins")
    return _execute_of(executing)(task)


def _execute_of(executing: Any) -> Callable[[Any], Path]:
    found: Callable[[Any], Path] = executing.execute
    return found


def _begins(request: Any) -> None:
    """A run of a program is about to begin; one of them is held, and something of it killed."""
    kill_here("worker prepared")
    point = os.environ.get(POINT, "")
    held = {"runs", "worker runs", *CHILD}
    wanted = point != "fixed program" or ("fixed-3-" in str(request.workspace))
    if point not in held or not wanted or not is_first("-held"):
        return
    (request.workspace / "hold").touch()
    if point == "runs":  # the sampler sees it, and kills itself
        return
    me = os.getpid()

    def kill() -> None:
        wait_for((request.workspace / "started").exists)
        if point == "worker runs":
            os.kill(me, signal.SIGKILL)
        chain = _below(me)
        os.kill(chain[_DEPTH.get(point, -1)], signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()


def _below(pid: int) -> list[int]:
    """Children of children: the program is the last."""
    chain = []
    while True:
        found = [
            int(word)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for word in (thread / "children").read_text().split()
        ]
        if not found:
            return chain
        pid = found[0]
        chain.append(pid)

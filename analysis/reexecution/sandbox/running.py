"""Runs one command of a bug in a sandbox, and says how it ended and what it used."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from faultatlas.analysis.reexecution.runs import Isolation, Outcome
from faultatlas.analysis.reexecution.sandbox import choosing, disk, groups
from faultatlas.analysis.reexecution.sandbox.bubblewrap import USER
from faultatlas.analysis.reexecution.sandbox.requests import Ended, Request
from faultatlas.analysis.reexecution.sandbox.tasks import task
from faultatlas.analysis.reexecution.sandbox.watching import Watched, one_line

__all__ = ["Ended", "Request", "run", "run_as"]

OWN_PROCESSES = 4  # bubblewrap's and ours count too
THREADS_A_CORE = 4  # pools of threads grow with the host

# The kernel counts no processes of root's but in groups.
UNLIMITED = "root, without control groups, cannot limit processes: run it as another user"


def run(request: Request) -> Ended:
    """Runs a command and waits for its end. A StudyError says that this host has no sandbox.

    It may be called from any thread: the thread that calls it stays in it until the end, and
    the kernel ends the run if that thread dies.
    """
    kind = choosing.choose(request.isolation, unsafe_network=request.unsafe_network)
    separate = kind != choosing.NONE and choosing.offer(kind).separate_user
    return run_as(request, kind, separate_user=separate and _readable_by_all(request))


def run_as(
    request: Request, kind: str, *, separate_user: bool, closed: bool | None = None
) -> Ended:
    """The same, with a kind of isolation that was chosen before.

    `closed`: the program can make no user namespace of its own; None: if this host can do that.
    """
    if closed is None:
        closed = kind != choosing.NONE and choosing.is_closed(kind, separate_user=separate_user)
    try:
        return _run(request, kind, separate_user=separate_user, closed=closed)
    except OSError as error:  # the host's disk is full, it has no processes left, ...
        return Ended(Outcome.NOT_STARTED, Isolation(kind), problem=one_line(str(error)))


def _run(request: Request, kind: str, *, separate_user: bool, closed: bool) -> Ended:
    with contextlib.ExitStack() as stack:
        most = request.limits.processes + OWN_PROCESSES + THREADS_A_CORE * (os.cpu_count() or 1)
        group = groups.make(request.limits.memory_mb, most)
        stack.callback(group.remove)
        if kind != choosing.NONE and not (group.processes or separate_user) and os.geteuid() == 0:
            return Ended(Outcome.NOT_STARTED, Isolation(kind), problem=UNLIMITED)
        told = task(request, kind, group, separate_user=separate_user, closed=closed, stack=stack)
        if separate_user:
            disk.give(request.workspace, USER)
        watched = Watched(request, group, told, stack)
        watched.follow()
        return watched.ended(
            Isolation(
                kind,
                network=kind == choosing.NONE,
                memory=group.memory or "address space",
                processes=group.processes or "watched",
            )
        )


def _readable_by_all(request: Request) -> bool:
    """Whether another user can use interpreter and environment."""
    wanted = list(request.readonly)
    if request.argv and request.argv[0].startswith("/"):
        wanted.append(Path(request.argv[0]))
    for one in wanted:
        with contextlib.suppress(OSError):
            if one.stat().st_mode & 0o005 != 0o005:
                return False
    return True

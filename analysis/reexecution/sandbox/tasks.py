"""What the launcher is told: one run, as plain values for JSON."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from faultatlas.analysis.reexecution.inside import HARNESS, WORKSPACE
from faultatlas.analysis.reexecution.sandbox import filtering
from faultatlas.analysis.reexecution.sandbox.bubblewrap import USER, arguments
from faultatlas.analysis.reexecution.sandbox.groups import MARK, Group, is_orphan, new_name
from faultatlas.analysis.reexecution.sandbox.places import places
from faultatlas.analysis.reexecution.sandbox.processes import tasks_of
from faultatlas.analysis.reexecution.sandbox.requests import Request
from faultatlas.analysis.reexecution.sandbox.trying import tried_once
from faultatlas.analysis.reexecution.workspace import remove
from faultatlas.data.errors import StudyError

OPEN_FILES = 4096
OWN_TASKS = 64  # what bubblewrap, the launcher and threads need besides


def task(
    request: Request,
    kind: str,
    group: Group,
    *,
    separate_user: bool,
    closed: bool,
    stack: contextlib.ExitStack,
) -> dict[str, Any]:
    """Everything that the launcher needs to know but on which descriptor it reports."""
    directory = _directory(request.directory)
    told: dict[str, Any] = {
        "kind": kind,
        "parent": os.getpid(),
        "groups": group.entrances(),
        "limits": _limits(request, group, USER if separate_user else os.geteuid()),
        "user": USER,
        "mapped": not separate_user,
        "closed": closed,
        "variables": dict(request.variables),
        "argv": list(request.argv),
        "filter": filtering.program().hex(),
    }
    if kind == "none":
        return told | _without_sandbox(request, directory, stack)
    seen = places(request.workspace, request.readonly, request.devices, request.limits)
    inside = str(PurePosixPath(WORKSPACE, directory))
    if kind == "namespaces":
        return told | {"directory": inside, "places": [asdict(one) for one in seen]}
    words = arguments(
        shutil.which("bwrap") or "bwrap",
        request.argv,
        seen,
        inside,
        setpriv=(shutil.which("setpriv") or "setpriv") if separate_user else "",
        closed=closed,
    )
    return told | {"argv": words}


def report_to(told: dict[str, Any], status: int) -> dict[str, Any]:
    """The same, with the descriptor on which launcher and bubblewrap report."""
    words = told["argv"]
    if told["kind"] == "bubblewrap":
        words = [words[0], "--json-status-fd", str(status), *words[1:]]
    return told | {"status": status, "argv": words}


def _limits(request: Request, group: Group, user: int) -> dict[str, int]:
    """What setrlimit is told, by the names of the limits."""
    limits = {
        "CORE": 1,  # with 0 a program of the host may still be given the core; with 1 none is
        "FSIZE": max(1, request.limits.disk_mb) << 20,
        "NOFILE": OPEN_FILES,
    }
    if not group.memory and not request.devices:  # a GPU's driver reserves more than there is
        limits["AS"] = (2 * request.limits.memory_mb + 1024) << 20
    if not group.processes:  # else a program that forks without end is faster than who watches it
        limits["NPROC"] = tasks_of(user) + request.limits.processes + OWN_TASKS
    return limits


def _without_sandbox(
    request: Request, directory: str, stack: contextlib.ExitStack
) -> dict[str, Any]:
    """Its places are those of the host: a home of its own, the harness where it lies."""
    _sweep_homes()
    home = str(Path(tempfile.gettempdir(), new_name()))
    Path(home).mkdir(mode=0o700)
    stack.callback(_removed, Path(home))
    replaced = {"HOME": home, "TMPDIR": home, "PYTHONPATH": str(HARNESS)}
    kept = {name: value for name, value in replaced.items() if name in request.variables}
    workspace = request.workspace.resolve()
    return {"variables": request.variables | kept, "directory": str(workspace / directory)}


@tried_once
def _sweep_homes() -> None:
    """What killed processes of ours left: once for each process that runs without a sandbox."""
    for home in Path(tempfile.gettempdir()).glob(f"{MARK}-*"):
        with contextlib.suppress(OSError):
            found = home.lstat()
            is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if is_ours and is_orphan(home.name):
                _removed(home)


def _removed(home: Path) -> None:
    """However deep a program has nested it."""
    with contextlib.suppress(OSError):
        remove(home)


def _directory(name: str) -> str:
    """Inside the workspace, whatever an artifact says."""
    normal = PurePosixPath(os.path.normpath(name))
    if normal.is_absolute() or ".." in normal.parts or "\0" in name:
        raise StudyError(
            f"the working directory {name!r} leaves the workspace",
            "Give a path relative to the workspace in bug.toml (directory).",
        )
    return str(normal)

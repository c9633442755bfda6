"""Runs small programs in a sandbox, and looks for what they left behind."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from needed import need

from faultatlas.analysis.reexecution.bugs import Limits
from faultatlas.analysis.reexecution.inside import variables
from faultatlas.analysis.reexecution.sandbox import choosing
from faultatlas.analysis.reexecution.sandbox.running import Ended, Request, run

# What a Python of this installation needs to start.
PREFIXES = tuple({Path(sys.prefix), Path(sys.base_prefix)})
SMALL = Limits(seconds=20, memory_mb=256, processes=16, disk_mb=16, output_mb=1)


def needs(kind: str) -> None:
    """Without that sandbox the test is skipped; where changes are landed, it fails."""
    offer = choosing.offer(kind)
    need(offer.works, f"no sandbox of the kind {kind}: {offer.problem}")


@dataclass(frozen=True)
class Ran:
    """How a program ended, and what it wrote."""

    ended: Ended
    stdout: str
    stderr: str
    workspace: Path


def request(
    folder: Path, code: str, kind: str, *, limits: Limits = SMALL, seed: int = 1
) -> Request:
    """`code` as the program of a bug, in a workspace of its own."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "program.py").write_text(code, encoding="utf-8")
    return Request(
        argv=(sys.executable, "program.py"),
        workspace=workspace,
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        readonly=PREFIXES,
        variables=variables(seed),
        limits=limits,
        isolation=kind,
        unsafe_network=kind == choosing.NONE,
    )


def ran(wanted: Request) -> Ran:
    """Runs it to its end."""
    ended = run(wanted)
    texts = [path.read_text(errors="replace") for path in (wanted.stdout, wanted.stderr)]
    return Ran(ended, texts[0], texts[1], wanted.workspace)


def carrying(token: str) -> set[int]:
    """The processes that have a text in their command line or their environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            if token.encode() in words:
                found.add(int(folder.name))
    return found - {os.getpid()}


def eventually(holds: Callable[[], bool], within_s: float = 20.0) -> bool:
    """Whether something becomes true."""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True

"""Processes that a command left behind, and words that it should have said otherwise."""

from __future__ import annotations

import os
import time
from pathlib import Path

from faults.running import Ended

_PATIENCE_S = 60.0


def processes(study: Path, session: int) -> list[str]:
    """Those of the session of a command, or that have to do with its study."""
    mine, found = os.fsencode(study), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status = (process / "stat").read_text().rpartition(")")[2].split()
            words = (process / "cmdline").read_bytes()
            about = words + (process / "environ").read_bytes()
        except OSError:
            continue
        is_dead = status[0] in "ZX"
        if not is_dead and (int(status[3]) == session or mine in about):
            found.append(f"{process.name} {words!r}")
    return found


def none_left(study: Path, ended: Ended) -> None:
    """What was started by a command that was killed may need a moment to notice."""
    end = time.monotonic() + _PATIENCE_S
    while left := processes(study, ended.pid):
        assert time.monotonic() < end, left
        time.sleep(0.01)


def refused(ended: Ended, *said: str) -> str:
    """A command that failed, and said why in a line and what to do in another."""
    assert ended.code > 0, ended
    assert "Traceback" not in ended.said, ended.said
    lines = [line for line in ended.said.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 2, f"{ended.code}: {ended.said!r}"
    for word in said:
        assert word in ended.said, ended.said
    return ended.said

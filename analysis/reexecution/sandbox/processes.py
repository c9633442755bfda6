"""Which processes came from which."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def descendants(first: int) -> set[int]:
    """All that came from a process and still run, without itself."""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        return _by_parents(first)
    found: set[int] = set()
    waiting = [first]
    while waiting:
        for thread in of_process(waiting.pop(), "task"):
            with contextlib.suppress(OSError):
                more = {int(word) for word in (thread / "children").read_text().split()} - found
                found |= more
                waiting += more
    return found


def of_process(pid: int, folder: str) -> list[Path]:
    """What /proc has in a folder of a process; nothing as soon as the process has ended."""
    place = Path(f"/proc/{pid}/{folder}")
    with contextlib.suppress(OSError):  # it may end between any two looks: `glob` would not do
        return list(place.iterdir())
    return []


def _by_parents(first: int) -> set[int]:
    """The same where the kernel does not list children."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = (folder / "stat").read_text(errors="replace")
            parents[int(folder.name)] = int(text.rpartition(")")[2].split()[1])
    found = {first}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {first}


def resident_mb(pids: set[int]) -> float:
    """What processes have in memory together; what they share counts for each."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def tasks_of(user: int) -> int:
    """How many processes and threads a user has: the kernel's limit counts all of them."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if folder.stat().st_uid == user:
                text = (folder / "stat").read_text(errors="replace")
                count += int(text.rpartition(")")[2].split()[17])
    return count

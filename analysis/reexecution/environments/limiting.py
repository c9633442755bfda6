"""What an installer's command may use besides time: memory, processes, disk, and a log.

A package's own `setup.py` is a stranger's program, as a bug's run is: it gets the same control
groups and the same look at what it writes. Where there are no groups its processes are counted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from analysis.reexecution.sandbox import disk, groups
from analysis.reexecution.sandbox.processes import descendants, resident_mb

MEMORY_MB = 8192  # of all its processes together
PROCESSES = 1024  # threads count too
DISK_MB = 10_000  # that a package's own code may write
LOG_MB = 64
SPARE_MB = 128  # of the disk stay free for everybody else
_EVERY_S = 0.2


class BeyondError(Exception):
    """A command was stopped, or failed, at a limit; `is_host` where the host has no more room."""

    def __init__(self, text: str, *, is_host: bool = False) -> None:
        super().__init__(text)
        self.text, self.is_host, self.log = text, is_host, ""


class Guard:
    """Watches one command; `writes` is the folder in which it may write so much and no more."""

    def __init__(self, folder: Path, writes: Path | None) -> None:
        self._folder = folder
        self._group = groups.make(MEMORY_MB, PROCESSES)
        self._disk = disk.Watch(writes) if writes is not None else None
        self._has_room = self._free_mb() >= SPARE_MB

    @property
    def entrances(self) -> list[str]:
        """The files into which a process writes itself before it begins the command."""
        return self._group.entrances()

    def wait(self, child: subprocess.Popen[bytes], log: IO[bytes], seconds: float) -> None:
        """To its end; raises `BeyondError`, or `TimeoutExpired` after so many seconds."""
        ends_at = time.monotonic() + seconds
        while child.poll() is None:
            left = ends_at - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(child.args, seconds)
            with suppress(subprocess.TimeoutExpired):
                child.wait(min(left, _EVERY_S))
                break
            if beyond := self._beyond(child.pid, log):
                raise beyond
        if child.returncode:
            self._explain()

    def close(self) -> None:
        """Nothing of it runs on."""
        self._group.kill()
        self._group.remove()

    def _beyond(self, pid: int, log: IO[bytes]) -> BeyondError | None:
        wrote = self._disk is not None and self._disk.look() and self._disk.written
        if wrote and wrote > DISK_MB << 20:
            return BeyondError(f"writes more than {DISK_MB:,} MB")
        if os.fstat(log.fileno()).st_size > LOG_MB << 20:
            return BeyondError(f"prints more than {LOG_MB} MB")
        if self._has_room and self._free_mb() < SPARE_MB:
            return BeyondError(f"the disk has less than {SPARE_MB} MB left", is_host=True)
        if self._group.refused_processes():  # what waits for those that are there never ends
            return _too_many()
        return None if self._group.processes and self._group.memory else _counted(pid)

    def _explain(self) -> None:
        """Raises where a limit is why it failed."""
        if self._group.memory_kills():
            raise _too_large()
        if self._group.refused_processes():
            raise _too_many()

    def _free_mb(self) -> float:
        try:
            return shutil.disk_usage(self._folder).free / 2**20
        except OSError:
            return 0.0


def _counted(pid: int) -> BeyondError | None:
    """The same without groups."""
    members = descendants(pid)
    if len(members) > PROCESSES:
        return _too_many()
    return _too_large() if resident_mb(members) > MEMORY_MB else None


def _too_many() -> BeyondError:
    return BeyondError(f"starts more than {PROCESSES:,} processes")


def _too_large() -> BeyondError:
    return BeyondError(f"needs more than {MEMORY_MB:,} MB of memory")

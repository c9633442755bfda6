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

from faultatlas.analysis.reexecution.sandbox import disk, groups
from faultatlas.analysis.reexecution.sandbox.processes import descendants, of_process, resident_mb

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
    """Watches one command; `writes` is the folder in which it may write so much and no more.

    `downloads` is one that others write into as well: of it counts what the command has unpacked.
    """

    def __init__(
        self, folder: Path, writes: Path | None = None, downloads: Path | None = None
    ) -> None:
        self._folder = folder
        if full := self._full():  # before anything is begun
            raise full
        self._group = groups.make(MEMORY_MB, PROCESSES)
        self._disk = disk.Watch(writes) if writes is not None else None
        self._unpacked = _Unpacked(downloads) if downloads is not None else None

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
        if self._disk is not None:  # what came after the last look
            self._disk.look(at_once=True)
        if beyond := self._wrote_too_much():
            raise beyond

    def close(self) -> None:
        """Nothing of it runs on."""
        if self._unpacked is not None:
            self._unpacked.close()
        self._group.kill()
        self._group.remove()

    def _beyond(self, pid: int, log: IO[bytes]) -> BeyondError | None:
        if self._disk is not None:
            self._disk.look()
        if self._unpacked is not None:
            self._unpacked.look(pid)
        if beyond := self._wrote_too_much():
            return beyond
        if os.fstat(log.fileno()).st_size > LOG_MB << 20:
            return BeyondError(f"prints more than {LOG_MB} MB")
        if full := self._full():
            return full
        if self._group.refused_processes():  # what waits for those that are there never ends
            return _too_many()
        return None if self._group.processes and self._group.memory else _counted(pid)

    def _explain(self) -> None:
        """Raises where a limit is why it failed."""
        if self._group.memory_kills():
            raise _too_large()
        if self._group.refused_processes():
            raise _too_many()

    def _wrote_too_much(self) -> BeyondError | None:
        wrote = [part.written for part in (self._disk, self._unpacked) if part is not None]
        if max(wrote, default=0) > DISK_MB << 20:
            return BeyondError(f"writes more than {DISK_MB:,} MB")
        return None

    def _full(self) -> BeyondError | None:
        if self._free_mb() >= SPARE_MB:
            return None
        return BeyondError(f"the disk has less than {SPARE_MB} MB left", is_host=True)

    def _free_mb(self) -> float:
        return shutil.disk_usage(self._folder).free / 2**20


class _Unpacked:
    """What a command unpacks into a folder in which others unpack too.

    Each package goes into a folder `.tmp...` and is then given another name: a folder in which the
    command was seen to have a file open is held, and measured under whatever name.
    """

    def __init__(self, downloads: Path) -> None:
        self._start = f"{os.path.realpath(downloads)}/.tmp"
        self._held: dict[str, int] = {}
        self._next_look = 0.0
        self.written = 0  # bytes

    def look(self, pid: int) -> None:
        for place in self._seen(descendants(pid)) - set(self._held):
            with suppress(OSError):
                self._held[place] = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
        started = time.monotonic()
        if started < self._next_look:
            return
        folders = [f"/proc/self/fd/{held}/." for held in self._held.values()]
        self.written = sum(disk.used(folder).bytes for folder in folders)
        ended = time.monotonic()
        self._next_look = ended + max(disk.SHORTEST_S, (ended - started) / disk.SHARE)

    def _seen(self, pids: set[int]) -> set[str]:
        found = set()
        for pid in pids:
            for place in of_process(pid, "fd"):
                with suppress(OSError):
                    file = os.readlink(place)  # noqa: PTH115 - it is a text that is wanted
                    if file.startswith(self._start):
                        end = file.find("/", len(self._start))
                        found.add(file[: end if end > 0 else None])
        return found

    def close(self) -> None:
        for held in self._held.values():
            os.close(held)
        self._held.clear()


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

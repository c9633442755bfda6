"""How much a run has written: the blocks of its files, looked at now and then."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 512  # bytes, of st_blocks
ENTRY = 1024  # what a file costs besides its blocks: empty ones fill a disk too
SHARE = 0.05  # of the time may be spent looking
SHORTEST_S = 0.05
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Used:
    """What lies in a folder."""

    bytes: int = 0
    largest: int = 0  # the length of the longest file
    is_too_deep: bool = False  # there are folders that no path leads to


@dataclass
class Watch:
    """Looks at a folder as often as its size allows."""

    folder: Path
    before: Used = field(default_factory=Used)
    now: Used = field(default_factory=Used)
    next_look: float = 0.0

    def __post_init__(self) -> None:
        self.before = self.now = used(self.folder)  # what lies there already is not the run's

    def look(self, *, at_once: bool = False) -> bool:
        """Measures again, when it is time to; whether it did."""
        started = time.monotonic()
        if started < self.next_look and not at_once:
            return False
        self.now = used(self.folder)
        ended = time.monotonic()
        self.next_look = ended + max(SHORTEST_S, (ended - started) / SHARE)
        return True

    @property
    def written(self) -> int:
        """Bytes that the run has added."""
        return max(0, self.now.bytes - self.before.bytes)


def used(folder: Path | str) -> Used:
    """All that lies in a folder, links not followed, each file once. Files may vanish meanwhile."""
    total = Used()
    seen: set[tuple[int, int]] = set()
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        try:
            for name, found in _entries(path):
                total.bytes += ENTRY
                if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
                    if (found.st_dev, found.st_ino) in seen:
                        continue
                    seen.add((found.st_dev, found.st_ino))
                total.bytes += found.st_blocks * BLOCK
                if stat.S_ISREG(found.st_mode):
                    total.largest = max(total.largest, found.st_size)
                elif stat.S_ISDIR(found.st_mode):
                    waiting.append(f"{path}/{name}")
        except OSError as error:
            total.is_too_deep |= error.errno == errno.ENAMETOOLONG
    return total


def _entries(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """What lies in a folder. One that a run has closed is opened: its files count too."""
    try:
        folder = os.open(path, os.O_RDONLY | _FOLDER)
    except PermissionError:
        closed = os.open(path, os.O_PATH | _FOLDER)
        try:
            mode = stat.S_IMODE(os.fstat(closed).st_mode)
            os.chmod(f"/proc/self/fd/{closed}", mode | 0o500)  # noqa: PTH101
            folder = os.open(path, os.O_RDONLY | _FOLDER)
        finally:
            os.close(closed)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    yield entry.name, entry.stat(follow_symlinks=False)
    finally:
        os.close(folder)


def unlinked(pids: set[int]) -> dict[int, int]:
    """Bytes of files that have no name (any more), but that processes keep open; by device."""
    total: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    found = Path(entry.path).stat()
                    key = (found.st_dev, found.st_ino)
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode) and key not in seen:
                        seen.add(key)
                        size = found.st_blocks * BLOCK
                        total[found.st_dev] = total.get(found.st_dev, 0) + size
    return total


def give(folder: Path, user: int) -> None:
    """Hands a workspace to the user that the run is. Files that lie elsewhere too are left."""
    os.chown(folder, user, user, follow_symlinks=False)
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        try:
            for name, found in _entries(path):
                is_folder = stat.S_ISDIR(found.st_mode)
                if found.st_uid != user and (is_folder or found.st_nlink == 1):
                    os.chown(f"{path}/{name}", user, user, follow_symlinks=False)
                if is_folder:
                    waiting.append(f"{path}/{name}")
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:  # a run has made that, and has it
                raise


def make_removable(folder: Path) -> None:
    """Folders that a run has closed to everyone can be read and removed again."""
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):
            found = Path(path).lstat()
            if found.st_mode & 0o700 != 0o700:
                Path(path).chmod(stat.S_IMODE(found.st_mode) | 0o700)
            with os.scandir(path) as entries:
                waiting += [one.path for one in entries if one.is_dir(follow_symlinks=False)]

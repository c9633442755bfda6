"""Whether a database file stayed as it was while DuckDB opened it.

DuckDB reads the headers of a file first, locks the file then, and does not look at the headers
again. A process that writes in between is overlooked: what it wrote is lost, or the file seems
damaged. And a file may be replaced in between. So the headers are read before and after.

On POSIX systems a process loses its lock on a file as soon as it closes any handle of it.
Therefore the handle here is closed only when this process has no connection to the file left.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

_HEADERS = 3 * 4096  # a main header and two that are written in turn, each with a counter

_File = tuple[int, int]  # device and inode
_guard = threading.Lock()
_connections: dict[_File, int] = {}
_handles: dict[_File, list[int]] = {}


class Watch:
    """A database file from before it is opened until the connection is closed."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._handle: int | None = None
        self._headers = b""
        with _guard:
            self._file = _file_at(database)
            # With a connection of ours there is a lock already, and nobody can write.
            if self._file is not None and self._file not in _connections:
                self._look()
            if self._file is not None:
                _connections[self._file] = _connections.get(self._file, 0) + 1

    def is_unchanged(self) -> bool:
        """Whether the file is the one that it was, and was not written to."""
        if self._file != _file_at(self._database):
            return False
        return self._handle is None or os.pread(self._handle, _HEADERS, 0) == self._headers

    def end(self) -> None:
        """The connection is closed, or there is none."""
        if self._file is None:
            return
        with _guard:
            if self._handle is not None:
                _handles.setdefault(self._file, []).append(self._handle)
            _connections[self._file] -= 1
            if not _connections[self._file]:
                del _connections[self._file]
                for handle in _handles.pop(self._file, ()):
                    os.close(handle)

    def _look(self) -> None:
        if not hasattr(os, "pread"):  # Windows, where nobody can write to an opened file
            return
        with suppress(OSError):  # DuckDB will say what is wrong
            self._handle = os.open(self._database, os.O_RDONLY | os.O_CLOEXEC)
            found = os.fstat(self._handle)
            self._file = found.st_dev, found.st_ino
            self._headers = os.pread(self._handle, _HEADERS, 0)


def _file_at(path: Path) -> _File | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

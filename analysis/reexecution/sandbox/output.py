"""What a run writes: kept up to a limit, with its end, and counted beyond."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

CHUNK = 1 << 16
TAIL = 1 << 18  # bytes of the end that are kept beyond the limit: tracebacks stand there


class Pump:
    """From a pipe into a file. The file is appended to, and never longer than limit and tail."""

    def __init__(self, descriptor: int, path: Path, limit: int) -> None:
        self.descriptor = descriptor
        self.bytes = 0
        self.ended = False
        self._file: BinaryIO = path.open("ab")
        self._room = max(0, limit - self._file.tell())
        self._tail = bytearray()
        self._dropped = 0
        os.set_blocking(descriptor, False)

    @property
    def cut(self) -> bool:
        """Whether something was not kept."""
        return self._dropped > 0

    def pump(self) -> int:
        """Takes what is there, at most a few chunks, so that nobody waits; how much it was."""
        taken = 0
        while taken < 16 * CHUNK:
            try:
                chunk = os.read(self.descriptor, CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                self.ended = True
                break
            taken += len(chunk)
            self._keep(chunk)
        self.bytes += taken
        return taken

    def _keep(self, chunk: bytes) -> None:
        kept, rest = chunk[: self._room], chunk[self._room :]
        if kept:
            self._file.write(kept)
            self._room -= len(kept)
        if rest:
            self._tail += rest
            beyond = len(self._tail) - TAIL
            if beyond > 0:
                del self._tail[:beyond]
                self._dropped += beyond

    def flush(self) -> None:
        """So that others can read what was kept."""
        self._file.flush()

    def close(self) -> None:
        """Writes the end of what was cut, and closes both."""
        try:
            with self._file:
                if self._dropped:
                    self._file.write(f"\n[{self._dropped} bytes were not kept]\n".encode())
                self._file.write(self._tail)
        finally:
            os.close(self.descriptor)

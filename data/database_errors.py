"""DuckDB's errors about files in a user's words, and who holds a lock.

DuckDB reports a held lock, a full disk or a damaged file only in the words of its message, so those
words are matched here and nowhere else.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from faultatlas.data.errors import StudyError

_HELD = re.compile(r"Conflicting lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")
# Linux and macOS; Windows, which does not say who.
_HELD_BY_SOMEBODY = ("Could not set lock on file", "being used by another process")
_OF_THIS_PROCESS = "another connection of this process"
_SAME_PROCESS = ("different configuration than existing connections", "Unique file handle conflict")

_FULL = ("No space left on device", "File too large", "Disk quota exceeded", "not enough space")
_READ_ONLY = (
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Access is denied",
)
_DAMAGED_LOG = "Failure while replaying WAL"
_DAMAGED = (
    "not a valid DuckDB database file",
    "Corrupt database file",
    "Could not read enough bytes",
    "Failed to deserialize",
    "Serialization Error",
    _DAMAGED_LOG,
    "Loading external extensions is disabled",  # another program's database, such as SQLite's
)


@dataclass(frozen=True)
class LockHolder:
    """The process that has the file; pid 0 if nobody knows."""

    pid: int
    program: str

    @classmethod
    def of(cls, pid: int) -> Self:
        """A process by its number."""
        if pid == os.getpid():
            return cls(0, _OF_THIS_PROCESS)
        if not pid:
            return cls(0, "another process")
        return cls(pid, _command_of(pid) or "another program")

    def __str__(self) -> str:
        return f"process {self.pid} ({self.program})" if self.pid else self.program


def lock_holder(message: str) -> LockHolder | None:
    """Who holds the lock that DuckDB complains of; None if it complains of something else."""
    match = _HELD.search(message)
    if match:
        pid = int(match["pid"])
        return LockHolder(pid, _command_of(pid) or Path(match["program"]).name)
    if any(words in message for words in _SAME_PROCESS):
        return LockHolder(0, _OF_THIS_PROCESS)
    if any(words in message for words in _HELD_BY_SOMEBODY):
        return LockHolder.of(0)
    return None


def pauses() -> Iterator[float]:
    """How long to wait between two tries: short at first, then half a second."""
    return itertools.chain((0.02, 0.05, 0.1, 0.2), itertools.repeat(0.5))


def is_storage_problem(message: str) -> bool:
    """Whether the file system, not the statement, is at fault."""
    return any(word in message for word in (*_FULL, *_READ_ONLY, *_DAMAGED))


def explain(error: Exception, database: Path) -> StudyError:
    """The error in a user's words."""
    message = str(error)
    if any(word in message for word in _FULL):
        return StudyError(
            f"no room left to write {database}",
            "Free disk space and run this again. What was stored before is untouched.",
        )
    if any(word in message for word in _READ_ONLY):
        return StudyError(
            f"{database} cannot be written: no permission, or a read-only disk",
            "Choose a directory of yours with --study DIR. Nothing was changed.",
        )
    if _DAMAGED_LOG in message:
        return StudyError(
            f"{database}.wal is damaged: the log of what was stored last",
            f"Put a copy of the study back; or remove that file, which leaves what {database.name} "
            "had before, and run the last command again. Nothing was changed.",
        )
    if any(word in message for word in _DAMAGED):
        return StudyError(
            f"{database} is damaged, or is not a DuckDB file",
            "Put a copy of it back, or choose another --study. The file was left as it is.",
        )
    return StudyError(
        f"{database} cannot be opened: {message.splitlines()[0]}",
        "Check the path, or choose another --study. Nothing was changed.",
    )


def _command_of(pid: int) -> str:
    """The command of a process, without its arguments: those may contain anything."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended, is another user's, or no /proc on this system
        return ""
    names = [Path(word.decode(errors="replace")).name for word in words[:2] if word]
    if len(names) == 2 and names[0].startswith("python") and not names[1].startswith("-"):
        return names[1]
    return names[0] if names else ""

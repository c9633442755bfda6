"""The DuckDB instances of this process, and the files that they have for a moment.

To make an instance takes three times as long as to give a file to one that is there. So after
a connection only the file goes, and its lock with it: the instance stays for the next one.

An instance is made for one file and can reach no other, which cannot be undone later: a view in
a foreign study neither reads nor writes anything else. After an error it is not used again.
"""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from data import locks
from data.errors import StudyError

# Nothing is fetched behind the user's back.
# Times with a zone become UTC in TIMESTAMP columns, wherever the program runs.
_CONFIG = {"autoinstall_known_extensions": "false", "TimeZone": "UTC"}
_NAME = "study"  # of the file inside an instance, whatever it is called outside
_ENDINGS = ("", ".wal", ".wal.checkpoint", ".wal.recovery")  # what belongs to a database file
_KEPT = 4  # two studies, each for reading and for writing


@dataclass(frozen=True)
class Use:
    """What a file is opened for. With `other_files` other ones can be reached as well."""

    read_only: bool
    keep_log: bool = False
    other_files: bool = False


@dataclass(eq=False)
class _Instance:
    path: str
    use: Use
    root: duckdb.DuckDBPyConnection
    users: int = 0
    is_spoilt: bool = False


_guard = threading.Lock()
_instances: dict[tuple[str, Use], _Instance] = {}  # the one that was used last comes last


class Session:
    """A connection to an open file; after the last one of an instance the file is given up."""

    def __init__(self, instance: _Instance) -> None:
        self._instance = instance
        self.connection = instance.root.cursor()
        self.connection.execute(f"USE {_NAME}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(spoilt=kind is not None and not issubclass(kind, StudyError))

    def close(self, *, spoilt: bool = False) -> None:
        """End the connection; a spoilt instance serves nobody else."""
        with suppress(duckdb.Error):  # after a full disk there is nothing left to close
            self.connection.close()
        with _guard:
            _leave(self._instance, spoilt=spoilt)

    def leave_log(self) -> None:
        """What stands in the log stays there when this ends."""
        self.connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        self._instance.is_spoilt = True


def connect(database: Path, use: Use) -> Session:
    """Open a database file; duckdb.Error if it cannot be had."""
    path = os.path.realpath(database)  # of a link, what it leads to: there its log is
    with _guard:
        instance = _entered(path, use, f"{database.absolute()}.tmp")
        try:
            return Session(instance)
        except BaseException:
            _leave(instance, spoilt=True)
            raise


def in_memory(overflow: str) -> duckdb.DuckDBPyConnection:
    """An empty database that reaches no file; what has no room in memory goes to a folder."""
    return duckdb.connect(
        config={**_CONFIG, "enable_external_access": "false", "temp_directory": overflow}
    )


def close_idle(beyond: int = 0) -> None:
    """Close instances that have no file, those first that were used least lately."""
    with _guard:
        _close_idle(beyond)


atexit.register(close_idle)
if hasattr(os, "register_at_fork"):  # the threads of an instance are not there in a forked process
    os.register_at_fork(before=close_idle)


def _entered(path: str, use: Use, overflow: str) -> _Instance:
    instance = _instances.pop((path, use), None)
    is_new = instance is None
    instance = instance or _Instance(path, use, _made(path, use, overflow))
    _instances[path, use] = instance
    try:
        if not instance.users:
            mode = "READ_ONLY" if use.read_only else "READ_WRITE"
            instance.root.execute(f"ATTACH {_quoted(path)} AS {_NAME} ({mode})")
    except BaseException as error:
        if isinstance(error, duckdb.Error) and locks.holder(str(error)):
            raise  # it is nothing of the instance's, which will be asked again
        _leave(instance, spoilt=True)
        if is_new or not isinstance(error, duckdb.Error):
            raise
        return _entered(path, use, overflow)
    instance.users += 1
    return instance


def _leave(instance: _Instance, *, spoilt: bool) -> None:
    instance.users = max(0, instance.users - 1)
    instance.is_spoilt |= spoilt or instance.use.other_files
    key = instance.path, instance.use
    if instance.is_spoilt and _instances.get(key) is instance:
        del _instances[key]
    if instance.users:
        return
    if not instance.is_spoilt:
        try:
            instance.root.execute(f"DETACH {_NAME}")
        except duckdb.Error:  # the log could not be written back: it stays beside the file
            del _instances[key]
            instance.is_spoilt = True
    if instance.is_spoilt:
        _close(instance)
    _close_idle(_KEPT)


def _close_idle(beyond: int) -> None:
    idle = [key for key, instance in _instances.items() if not instance.users]
    for key in idle[: max(0, len(idle) - beyond)]:
        _close(_instances.pop(key))


def _close(instance: _Instance) -> None:
    with suppress(duckdb.Error):  # after a full disk there is nothing left to close
        instance.root.close()


def _made(path: str, use: Use, overflow: str) -> duckdb.DuckDBPyConnection:
    root = duckdb.connect(config={**_CONFIG, "temp_directory": overflow})
    if use.keep_log:
        # Writing the log back on every close costs more than a short transaction; reading a
        # long log back on every open does too. So DuckDB writes it back once it has grown.
        root.execute("PRAGMA disable_checkpoint_on_shutdown")
        root.execute("SET checkpoint_threshold = '1MB'")
    if not use.other_files:
        allowed = ", ".join(_quoted(path + ending) for ending in _ENDINGS)
        root.execute(f"SET allowed_paths = [{allowed}]")
        root.execute("SET enable_external_access = false")
        if use.read_only:
            root.execute("SET lock_configuration = true")
    return root


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"

"""The DuckDB instances of this process, and the files that they have for a moment.

To make an instance takes three times as long as to give a file to one that is there. So after
a connection only the file goes, and its lock with it: the instance stays for the next one.

An instance is made for one file and can reach no other one, which cannot be undone later: a view
in a foreign study reads and writes nothing else. Only where a file is copied, by us and as a
whole, other files are within reach; such an instance is not kept, nor is one after an error.

A file has one instance at a time. Two would lose its lock: the system gives the lock of a process
up as soon as the process closes any handle of the file.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from faultatlas.data import locks
from faultatlas.data.errors import StudyError
from faultatlas.data.sql_text import literal

_CONFIG = {
    "autoinstall_known_extensions": "false",  # nothing is fetched behind the user's back
    "TimeZone": "UTC",  # in TIMESTAMP columns, wherever the program runs
    "async_threads": "0",  # they read what is far away; each instance would start eight
}
_NAME = "study"  # of the file inside an instance, whatever it is called outside
_BESIDE = (".wal", ".wal.checkpoint", ".wal.recovery")  # files that DuckDB puts beside a database
_KEPT = 4  # two studies, each for reading and for writing
_MOST_FILES = 32  # one after the other in an instance: each leaves a little memory behind


class InUse(duckdb.Error):
    """This process has the file open for another use: said as DuckDB says it of its own."""

    def __init__(self, path: str) -> None:
        super().__init__(f"Unique file handle conflict: {path} is open already")


@dataclass(frozen=True)
class Use:
    """What a file is opened for. With `other_files` other ones can be reached as well."""

    read_only: bool
    keep_log: bool = False
    other_files: bool = False

    @property
    def kind(self) -> tuple[bool, bool]:
        """What one instance cannot change."""
        return self.read_only, self.other_files


@dataclass(eq=False)
class _Instance:
    path: str
    use: Use
    root: duckdb.DuckDBPyConnection
    overflow: str  # the folder for what has no room in memory
    keeps_log: bool = False
    users: int = 0
    files: int = 0  # that it had, this one or again
    is_spoilt: bool = False


_lock = threading.Lock()
_mine = threading.local()  # whether this thread has the lock, or is about to
_left: deque[_Instance] = deque()  # by connections that have ended
_open: dict[str, _Instance] = {}  # by the file that they have
_idle: dict[tuple[str, tuple[bool, bool]], _Instance] = {}  # the one that was used last comes last
_of_parent: list[_Instance] = []  # in a forked process: their threads are not here


class Session:
    """A connection to an open file; after the last one of an instance the file is given up."""

    def __init__(self, instance: _Instance) -> None:
        self._instance = instance
        self.connection = instance.root.cursor()
        # Also where an interrupt keeps anybody from closing it.
        self._end = weakref.finalize(self, _ended, instance, self.connection)
        self._end.atexit = False
        instance.users += 1
        self.connection.execute(f"USE {_NAME}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(spoilt=kind is not None)

    def close(self, *, spoilt: bool = False) -> None:
        """End the connection, once; a spoilt instance serves nobody after its last one."""
        self._instance.is_spoilt |= spoilt
        self._end()

    def leave_log(self) -> None:
        """What stands in the log stays there when this ends."""
        self._instance.is_spoilt = True
        self.connection.execute("PRAGMA disable_checkpoint_on_shutdown")


def connect(database: Path, use: Use) -> Session:
    """Open a database file; duckdb.Error or InUse if it cannot be had."""
    path = os.path.realpath(database)  # of a link, what it leads to: there its log is
    _refuse_links(path)
    with _alone():
        instance = _open.get(path)
        if instance is None:
            instance = _attached(path, use)
        elif instance.use.kind != use.kind:
            raise InUse(path)
        try:
            return Session(instance)
        except BaseException:
            instance.is_spoilt = True
            if not instance.users:
                _give_up(instance)
            raise


def in_memory(overflow: str) -> duckdb.DuckDBPyConnection:
    """An empty database that reaches no file; what has no room in memory goes to a folder."""
    return duckdb.connect(
        config={**_CONFIG, "enable_external_access": "false", "temp_directory": overflow}
    )


def close_idle() -> None:
    """Close the instances that have no file."""
    with _alone():
        _close_idle(0)


@contextmanager
def _alone() -> Iterator[None]:
    """What connections of this thread leave meanwhile, when they are collected, waits its turn."""
    _mine.is_busy = True
    try:
        with _lock:
            try:
                yield
            finally:
                while _left:
                    _leave(_left.popleft())
    finally:
        _mine.is_busy = False
    _settle()


def _ended(instance: _Instance, connection: duckdb.DuckDBPyConnection) -> None:
    try:
        with suppress(duckdb.Error):  # after a full disk there is nothing left to close
            connection.close()
    finally:
        _left.append(instance)
        _settle()


def _settle() -> None:
    """Let go what connections have left, unless this thread is about to do so."""
    if _left and not getattr(_mine, "is_busy", False):
        with _alone():
            pass


def _attached(path: str, use: Use) -> _Instance:
    """An instance that has the file: one that there is, if it is still of any use."""
    instance = _idle.pop((path, use.kind), None)
    is_new = instance is None
    instance = instance or _made(path, use)
    try:
        _keep_log(instance, wanted=use.keep_log)
        mode = "READ_ONLY" if use.read_only else "READ_WRITE"
        instance.root.execute(f"ATTACH {literal(path)} AS {_NAME} ({mode})")
    except BaseException as error:
        if isinstance(error, duckdb.Error) and locks.holder(str(error)):
            _idle[path, use.kind] = instance  # nothing is wrong with it, and it is asked again
            raise
        _close(instance)
        if is_new or not isinstance(error, duckdb.Error):
            raise
        return _attached(path, use)
    instance.files += 1
    _open[path] = instance
    return instance


def _leave(instance: _Instance) -> None:
    instance.users -= 1
    if not instance.users:
        _give_up(instance)


def _give_up(instance: _Instance) -> None:
    """Its file goes. Where the log cannot be written back, it stays beside the file."""
    if _open.get(instance.path) is instance:
        del _open[instance.path]
    try:
        if _is_kept(instance):
            instance.root.execute(f"DETACH {_NAME}")
            _idle[instance.path, instance.use.kind] = instance
            _close_idle(_KEPT)
            return
    except duckdb.Error:
        pass
    except BaseException:
        _close(instance)
        raise
    _close(instance)


def _is_kept(instance: _Instance) -> bool:
    is_like_new = instance.files < _MOST_FILES and not Path(instance.overflow).exists()
    return is_like_new and not (instance.is_spoilt or instance.use.other_files)


def _close_idle(most: int) -> None:
    """Those that were used least lately."""
    while len(_idle) > most:
        _close(_idle.pop(next(iter(_idle))))


def _close(instance: _Instance) -> None:
    with suppress(duckdb.Error):  # after a full disk there is nothing left to close
        instance.root.close()


def _made(path: str, use: Use) -> _Instance:
    # Nobody who made the folder can have foreseen this name, and put a link there: DuckDB lets
    # queries reach everything below. The number is for whoever cleans up.
    overflow = f"{path}.{os.urandom(4).hex()}.{os.getpid()}.tmp"
    files = ", ".join(literal(path + ending) for ending in ("", *_BESIDE))
    return _Instance(path, use, _root(use, overflow, f"allowed_paths = [{files}]"), overflow)


def _root(use: Use, overflow: str, reach: str) -> duckdb.DuckDBPyConnection:
    """A new instance; the setting `reach` says which files it can have, unless it can have all."""
    root = duckdb.connect(config={**_CONFIG, "temp_directory": overflow})
    if not use.other_files:
        root.execute(f"SET {reach}")
        root.execute("SET enable_external_access = false")
        if use.read_only:
            root.execute("SET lock_configuration = true")
    return root


def _keep_log(instance: _Instance, *, wanted: bool) -> None:
    """Writing the log back on every close costs more than a short transaction; reading a long log
    back on every open does too. So DuckDB writes it back once it has grown.
    """
    if instance.keeps_log != wanted:
        turned = "disable" if wanted else "enable"
        instance.root.execute(f"PRAGMA {turned}_checkpoint_on_shutdown")
        threshold = "SET checkpoint_threshold = '1MB'" if wanted else "RESET checkpoint_threshold"
        instance.root.execute(threshold)
        instance.keeps_log = wanted


def _refuse_links(path: str) -> None:
    """A link beside a foreign database would let its views reach what it leads to."""
    for ending in _BESIDE:
        if Path(path + ending).is_symlink():
            raise StudyError(
                f"{path}{ending} is a link",
                "DuckDB writes plain files there: remove the link. Nothing was changed.",
            )


def _before_fork() -> None:
    _mine.is_busy = True
    _lock.acquire()
    _close_idle(0)


def _after_fork_in_parent() -> None:
    _lock.release()
    _mine.is_busy = False
    _settle()


def _after_fork_in_child() -> None:
    _of_parent.extend(_open.values())
    _open.clear()
    _left.clear()
    _lock.release()
    _mine.is_busy = False


atexit.register(close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )

"""Studies that stay open between the transactions of a test.

DuckDB takes longer to open a file than most commands take for their work, and every `reading()`
and `writing()` opens it. Here a study is opened once; each of them gets a connection of its own
to it. What a user sees stays: the file is whole after each transaction, nothing is written while
a study is read, and programs that a test starts get the file. Locks are not: tests of the store
itself, of kills and of waiting open studies as usual.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

import duckdb
import pytest

from data import store
from data.store import Study

_opened_as_usual = Study._opened  # noqa: SLF001  (opening is what is changed here)
_connect = duckdb.connect

State = tuple[int, int, int] | None


def _state(file: Path) -> State:
    """By what a file that was replaced or written by somebody else is told."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@dataclass
class _Held:
    """A file that is open."""

    file: Path
    connection: duckdb.DuckDBPyConnection
    state: State = None
    users: list[bool] = field(default_factory=list)  # whether each one only reads

    @property
    def log(self) -> int:
        """How long the log beside it is."""
        found = _state(self.file.with_name(f"{self.file.name}.wal"))
        return found[2] if found else 0

    @contextmanager
    def used(self, *, read_only: bool, keep_log: bool) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of one's own; the file must not be open in another way, as in DuckDB."""
        assert read_only not in {not each for each in self.users}, "reading while writing"
        self.users.append(read_only)
        log = self.log
        connection = self.connection.cursor()
        try:
            yield connection
            assert not read_only or len(self.users) > 1 or self.log == log, "written by a reader"
        finally:
            self.users.remove(read_only)
            with suppress(duckdb.Error):
                connection.close()
            if not read_only and not keep_log:
                with suppress(duckdb.Error):  # others have a transaction open: the last one does it
                    self.connection.execute("CHECKPOINT")
            self.state = _state(self.file)

    def close(self) -> None:
        with suppress(duckdb.Error):
            if self.state != _state(self.file):  # it is another file by now
                self.connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            self.connection.close()


class _Holding:
    """The files that are open."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._lock = RLock()

    def of(self, file: Path) -> _Held:
        name = os.path.realpath(file)
        with self._lock:
            found = self._held.get(name)
            if found and not found.users and found.state != _state(file):
                self._held.pop(name).close()
                found = None
            if found is None:
                found = _Held(file, store._open(file, read_only=False), _state(file))  # noqa: SLF001
                self._held[name] = found
            return found

    def close(self, file: str | None = None) -> None:
        """All, or one; what is just in use stays, as it would without us."""
        with self._lock:
            for name in [*self._held]:
                if file in (None, name) and not self._held[name].users:
                    self._held.pop(name).close()


@contextmanager
def studies_held_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Leave studies open; the function closes them."""
    holding = _Holding()

    @contextmanager
    def opened(
        self: Study, *, read_only: bool, keep_log: bool = False, other_files: bool = False
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        if other_files:  # nobody else may have it then
            holding.close(os.path.realpath(self.database))
            with _opened_as_usual(
                self, read_only=read_only, keep_log=keep_log, other_files=True
            ) as connection:
                yield connection
            return
        try:
            held = holding.of(self.database)
        except duckdb.Error:  # damaged, or in use: what is said then is not our matter
            with _opened_as_usual(self, read_only=read_only, keep_log=keep_log) as connection:
                yield connection
            return
        with (
            held.used(read_only=read_only, keep_log=keep_log) as connection,
            self._explaining(connection),
        ):
            yield connection

    def connect(database: Any = ":memory:", *arguments: Any, **options: Any) -> Any:
        """Who opens a file by other means gets it."""
        holding.close(os.path.realpath(database))
        return _connect(database, *arguments, **options)

    start = subprocess.Popen.__init__

    def started(self: subprocess.Popen[Any], *arguments: Any, **options: Any) -> None:
        """A program may want the file."""
        holding.close()
        start(self, *arguments, **options)

    monkeypatch.setattr(Study, "_opened", opened)
    monkeypatch.setattr(duckdb, "connect", connect)
    monkeypatch.setattr(subprocess.Popen, "__init__", started)
    with ExitStack() as last:
        last.callback(holding.close)
        yield holding.close

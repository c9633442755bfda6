"""DuckDB: how the file of a study is opened, read and written. The one module that imports duckdb.

DuckDB lets one process write a file or several read it. Nothing stays open between transactions,
so that others get their turn. A connection reaches no other file, no network and no extension.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from faultatlas.data.database_errors import explain, is_storage_problem
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal, schema

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.schema import Execute

Error = duckdb.Error
CatalogError = duckdb.CatalogException
VERSION = duckdb.__version__
# Their messages quote values, so words such as "No space left on device" may be a bug's title.
STATEMENT_ERRORS = (duckdb.DataError, duckdb.IntegrityError, duckdb.ProgrammingError)

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # nothing is fetched behind the user's back
    "TimeZone": "UTC",  # in TIMESTAMP columns, wherever the program runs
    "async_threads": "0",  # they read remote files; each instance would start eight
}
_BESIDE = (".wal", ".wal.checkpoint", ".wal.recovery")  # files that DuckDB puts beside a database
_INTERRUPT_S = 0.01  # between two interrupts of a query that took too long
_HEADERS = 3 * 4096  # a main header and two that are written in turn, each with a counter


@dataclass(frozen=True)
class Use:
    """What a file is opened for. With `other_files` it can be copied: others are within reach."""

    read_only: bool
    keep_log: bool = False
    other_files: bool = False


# --- opening -----------------------------------------------------------------------------


def connect(database: Path, use: Use) -> duckdb.DuckDBPyConnection:
    """Open a database file; raise duckdb.Error if another process has it, or if it is damaged."""
    path = os.path.realpath(database)  # of a link, its target: the log is beside that
    for ending in _BESIDE:
        # A link beside a foreign database would let its views reach what it leads to.
        if Path(path + ending).is_symlink():
            raise StudyError(
                f"{path}{ending} is a link",
                "DuckDB writes plain files there: remove the link. Nothing was changed.",
            )
    config = {**_CONFIG, "temp_directory": overflow(path, os.getpid())}
    if not use.other_files:
        config["enable_external_access"] = "false"
    connection = duckdb.connect(path, read_only=use.read_only, config=config)
    try:
        if use.read_only and not use.other_files:
            with suppress(duckdb.InvalidInputException):  # another reader of this process did
                connection.execute("SET lock_configuration = true")
        if use.keep_log:
            # Writing the log back on every close costs more than a short transaction. DuckDB
            # writes it back once it has grown.
            leave_log(connection)
            connection.execute("SET checkpoint_threshold = '1MB'")
    except BaseException:
        connection.close()
        raise
    return connection


@cache
def overflow(path: str, process: int) -> str:
    """The folder for what does not fit into memory: all connections of a process have the same.

    Nobody who made the study can have foreseen the name and put a link there: DuckDB lets queries
    read everything below. The number is for whoever cleans up.
    """
    return f"{path}.{os.urandom(4).hex()}.{process}.tmp"


def leave_log(connection: duckdb.DuckDBPyConnection) -> None:
    """Leave the file as it is when the connection ends: its log is not written back."""
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")


@contextmanager
def in_memory(spill: str, reads: Iterable[Path] = ()) -> Iterator[Writer]:
    """An empty database that reaches no file but those named.

    What does not fit into memory goes to the folder `spill`.
    """
    with closing(duckdb.connect(config={**_CONFIG, "temp_directory": spill})) as connection:
        files = ", ".join(literal(os.path.realpath(path)) for path in reads)
        connection.execute(f"SET allowed_paths = [{files}]")
        connection.execute("SET enable_external_access = false")
        yield Writer(connection)


def new_database() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, to make a schema in."""
    return duckdb.connect(config=_CONFIG)


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection, *, commit: bool = True) -> Iterator[Writer]:
    """One transaction: committed at the end, rolled back after an error."""
    connection.execute("BEGIN TRANSACTION")
    try:
        yield Writer(connection)
        connection.execute("COMMIT" if commit else "ROLLBACK")
    except BaseException:
        with suppress(duckdb.Error):  # a failed commit has ended the transaction already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explaining(database: Path) -> Iterator[None]:
    """Turn DuckDB's errors about files into messages for users."""
    try:
        yield
    except RuntimeError as error:
        # What DuckDB makes of Ctrl-C while a statement runs.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        # A full disk or a damaged block may show only when the statement runs.
        if not isinstance(error, STATEMENT_ERRORS) and is_storage_problem(str(error)):
            raise explain(error, database) from error
        raise


class HeaderCheck:
    """Whether a file stays as it is while DuckDB opens it.

    DuckDB reads the headers of a file first, locks the file then, and does not read the headers
    again. What a process writes in between is lost, or the file seems damaged. And a file may be
    replaced in between. So the headers are compared before and after.

    On POSIX systems a process loses its lock on a file when it closes any handle of it. Therefore
    the handle here is closed only when this process has no connection to the file left.
    """

    _guard = threading.Lock()
    _connections: dict[tuple[int, int], int] = {}  # noqa: RUF012 - of this process, on purpose
    _handles: dict[tuple[int, int], list[int]] = {}  # noqa: RUF012

    def __init__(self, database: Path) -> None:
        self._database = database
        self._handle: int | None = None
        self._headers = b""
        with self._guard:
            self._file = self._file_now()
            # With a connection of ours there is a lock already, and nobody can write.
            if self._file is not None and self._file not in self._connections:
                self._read()
            if self._file is not None:
                self._connections[self._file] = self._connections.get(self._file, 0) + 1

    def unchanged(self) -> bool:
        """Whether the file is the same one, and was not written to."""
        if self._file != self._file_now():
            return False
        return self._handle is None or os.pread(self._handle, _HEADERS, 0) == self._headers

    def close(self) -> None:
        """The connection is closed, or there is none."""
        if self._file is None:
            return
        with self._guard:
            if self._handle is not None:
                self._handles.setdefault(self._file, []).append(self._handle)
            self._connections[self._file] -= 1
            if not self._connections[self._file]:
                del self._connections[self._file]
                for handle in self._handles.pop(self._file, ()):
                    os.close(handle)

    def _read(self) -> None:
        if not hasattr(os, "pread"):  # Windows, where nobody can write to an opened file
            return
        with suppress(OSError):  # DuckDB reports what is wrong
            self._handle = os.open(self._database, os.O_RDONLY | os.O_CLOEXEC)
            status = os.fstat(self._handle)
            self._file = status.st_dev, status.st_ino
            self._headers = os.pread(self._handle, _HEADERS, 0)

    def _file_now(self) -> tuple[int, int] | None:
        try:
            status = self._database.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


# --- reading and writing -----------------------------------------------------------------


class Reader:
    """Queries on an open study."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """All rows of a query as dictionaries: for small answers."""
        cursor = self._connection.execute(sql, list(parameters))
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        cursor = self._connection.execute(sql, list(parameters))
        first = cursor.fetchone()
        while cursor.fetchmany(10_000):  # DuckDB accepts no other query before the end of a result
            pass
        return first[0] if first else None

    def arrow(self, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
        """All rows of a query as an Arrow table: for large answers."""
        return self._connection.sql(sql, params=list(parameters)).to_arrow_table()

    def batches(
        self, sql: str, parameters: Sequence[Any] = (), rows: int = 4096
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a query, some thousand at a time; no other query may run meanwhile."""
        result = self._connection.sql(sql, params=list(parameters))
        yield from result.to_arrow_reader(rows)

    @contextmanager
    def limited_to(self, seconds: float) -> Iterator[None]:
        """End queries of strangers after so long, with a TimeoutError."""
        is_over = threading.Event()

        def interrupt() -> None:
            if is_over.wait(seconds):
                return
            # Again and again: an interrupt between two queries is lost.
            while not is_over.wait(_INTERRUPT_S):
                self._connection.interrupt()

        timer = threading.Thread(target=interrupt, daemon=True)
        timer.start()
        try:
            yield
        except (duckdb.InterruptException, duckdb.OutOfMemoryException) as error:
            raise TimeoutError(str(error)) from error
        finally:
            is_over.set()
            timer.join()

    def problem(self, sql: str, more: str = "it is more than a condition") -> str | None:
        """What is wrong with a query that a user wrote, in one line; None if nothing is."""
        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                return more
            self._connection.execute(f"EXPLAIN {sql}")
        except duckdb.Error as error:
            return " ".join(str(error).partition("\n\n")[0].split())
        return None


class Writer(Reader):
    """A transaction on an open study: all of it happens, or nothing."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run one statement."""
        self._connection.execute(sql, list(parameters))

    def insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> int:
        """Append rows to a table of the schema, given as columns; return how many."""
        size = _size(table, columns)
        if size:
            self._connection.execute(_insertion(table, columns), [*map(list, columns.values())])
        return size

    def upsert(
        self, table: str, columns: Mapping[str, Sequence[Any]], keep: Iterable[str] = ()
    ) -> tuple[int, int]:
        """Insert rows or replace those with the same key; return how many are new and changed.

        In a table with `row_hash` a row whose hash is stored already is left alone, with the run
        that wrote it. Where there is `updated_at`, an older row never replaces a newer one. In the
        columns of `keep` a NULL replaces nothing.
        """
        size = _size(table, columns)
        (key,) = schema().tables[table].key
        compared = [name for name in ("row_hash", "updated_at") if name in columns]
        selected = ", ".join([key, *compared])
        stored = {
            row[key]: row
            for row in self.rows(
                f"SELECT {selected} FROM store.{table} WHERE list_contains(?, {key})",
                [list(columns[key])],
            )
        }
        new, changed = [], []
        for index in range(size):
            row = stored.get(columns[key][index])
            if row is None:
                new.append(index)
            elif _replaces({name: columns[name][index] for name in compared}, row):
                changed.append(index)
        if new:
            self.insert(table, _selected(columns, new))
        if changed:
            kept = [name for name in keep if name in columns]
            values = {name: f"excluded.{name}" for name in columns if name != key} | {
                name: f"coalesce(excluded.{name}, {table}.{name})" for name in kept
            }
            assigned = ", ".join(f"{name} = {value}" for name, value in values.items())
            rows = _selected(columns, changed)
            self._connection.execute(
                f"{_insertion(table, rows)} ON CONFLICT ({key}) DO UPDATE SET {assigned}",
                [*map(list, rows.values())],
            )
        return len(new), len(changed)

    def put(
        self,
        table: str,
        key: Mapping[str, Any],
        values: Mapping[str, Any],
        first: Mapping[str, Any] | None = None,
    ) -> None:
        """Insert one row, or replace the one with that key; `first` is for a new row only.

        ON CONFLICT would be one statement, which DuckDB takes twice as long to plan and run.
        """
        assigned = ", ".join(f"{name} = ?" for name in values)
        where = " AND ".join(f"{name} = ?" for name in key)
        replaced = self.value(
            f"UPDATE {table} SET {assigned} WHERE {where}", [*values.values(), *key.values()]
        )
        if not replaced:
            row = {**key, **(first or {}), **values}
            self.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                [*row.values()],
            )


def _size(table: str, columns: Mapping[str, Sequence[Any]]) -> int:
    unknown = columns.keys() - schema().tables[table].columns.keys()
    sizes = {len(values) for values in columns.values()}
    if unknown or len(sizes) != 1:
        raise ValueError(f"columns of {table}: unknown {sorted(unknown)}, lengths {sorted(sizes)}")
    return sizes.pop()


def _insertion(table: str, columns: Iterable[str]) -> str:
    """The statement that inserts lists of values, each of its column's type."""
    types = schema().tables[table].columns
    values = ", ".join(f"unnest(?::{types[name].value_type}[])" for name in columns)
    return f"INSERT INTO store.{table} ({', '.join(columns)}) SELECT {values}"


def _selected(
    columns: Mapping[str, Sequence[Any]], rows: Sequence[int]
) -> dict[str, Sequence[Any]]:
    if len(rows) == len(next(iter(columns.values()))):
        return dict(columns)
    return {name: [values[index] for index in rows] for name, values in columns.items()}


def _replaces(row: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    if "row_hash" in row and row["row_hash"] == stored["row_hash"]:
        return False
    times = row.get("updated_at"), stored.get("updated_at")
    return None in times or bool(times[0] >= times[1])  # type: ignore[operator]


# --- copies ------------------------------------------------------------------------------

_COPY = "compact_copy"


def write_copy(execute: Execute, target: Path, same: Callable[[str, str], bool]) -> None:
    """Copy the connection's database to a new file, whole and without a log beside it.

    `same` compares two databases by their names, after the copy was opened again. DuckDB keeps
    deleted rows in blocks that it may use again, so only a copy is free of them.
    """
    discard(target)
    source = execute("SELECT current_database()").fetchone()[0]
    try:
        execute(f"ATTACH {literal(str(target))} AS {_COPY} (READ_WRITE)")
        execute(f'COPY FROM DATABASE "{source}" TO {_COPY}')
        # Not left to the detaching: a connection may be told to leave the log as it is.
        execute(f"CHECKPOINT {_COPY}")
        execute(f"DETACH {_COPY}")
        log_of(target).unlink(missing_ok=True)  # if it were of any use, the comparison would fail
        execute(f"ATTACH {literal(str(target))} AS {_COPY} (READ_ONLY)")
        _require_same(same=same(source, _COPY))
        execute(f"DETACH {_COPY}")
    except BaseException:
        with suppress(Exception):  # where it was not attached, or the disk is full
            execute(f"DETACH {_COPY}")
        discard(target)
        raise


def _require_same(*, same: bool) -> None:
    if not same:
        raise StudyError(
            "the copy of the study is not the same as the study",
            "Run this again with the newest DuckDB. The study was not changed.",
        )


def discard(target: Path) -> None:
    """Remove a copy that is of no use, such as one of a process that was killed."""
    target.unlink(missing_ok=True)
    log_of(target).unlink(missing_ok=True)


def log_of(database: Path) -> Path:
    """The log that DuckDB writes beside a database."""
    return database.with_name(f"{database.name}.wal")

"""A study on disk: open it, read it, write it in short transactions.

The one module that imports duckdb. DuckDB lets one process at a time have the file, and
a reader keeps writers out, so nothing here stays open: every `reading()` and `writing()`
opens the file, works and closes it, and waits its turn when another process has it.
Foreign errors (a lock, a full disk, a damaged file) become `StudyError` here, once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from data import locks
from data.errors import StudyError
from data.migration import Migration, shipped_migrations

if TYPE_CHECKING:
    import pyarrow as pa

DATABASE = "study.duckdb"
SETTINGS = "study.toml"
WAIT_S = 30.0

_SETTINGS_TEXT = """\
# Choices of this study. A command's options win over what stands here.
# Own taxonomies go into taxonomies/, one YAML file each.

[study]
# title = "What are the high-priority defects of ...?"
"""


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
        row = self._connection.execute(sql, list(parameters)).fetchone()
        return row[0] if row else None

    def arrow(self, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
        """All rows of a query as an Arrow table: for large answers."""
        return self._connection.execute(sql, list(parameters)).to_arrow_table()


class Writer(Reader):
    """A transaction on an open study: all of it happens, or nothing."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run one statement."""
        self._connection.execute(sql, list(parameters))

    def insert(self, table: str, batch: pa.Table) -> int:
        """Append an Arrow batch to a table, columns matched by name; returns the number of rows."""
        self._connection.register("incoming_batch", batch)
        try:
            self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming_batch")
        finally:
            self._connection.unregister("incoming_batch")
        return int(batch.num_rows)


class Study:
    """A study directory. Opening one touches nothing; the first `writing()` creates it."""

    def __init__(
        self,
        directory: Path,
        *,
        wait_s: float = WAIT_S,
        tell: Callable[[str], None] = lambda _message: None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        migrations: Sequence[Migration] | None = None,
    ) -> None:
        self.directory = directory
        self.database = directory / DATABASE
        self._wait_s = wait_s
        self._tell = tell
        self._sleep = sleep
        self._clock = clock
        self._migrations = shipped_migrations() if migrations is None else tuple(migrations)
        self._current = False

    @property
    def exists(self) -> bool:
        """Whether there is a study here."""
        return self.database.exists()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The study for queries; an older one is upgraded first."""
        if not self.exists:
            raise StudyError(
                f"there is no study in {self.directory}",
                "Name one with --study DIR or $STUDY, or make one: analysis coverage-gap, "
                "annotation import.",
            )
        if not self._current:
            self._upgrade()
        connection = self._connect(read_only=True)
        try:
            yield Reader(connection)
        finally:
            connection.close()

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """One transaction: committed at the end, undone by any error."""
        if not self._current:
            self._create()
            self._upgrade()
        connection = self._connect(read_only=False)
        try:
            with self._transaction(connection):
                yield Writer(connection)
        finally:
            _close(connection)

    def schema_version(self) -> int:
        """The newest migration that this study has had; 0 for none."""
        connection = self._connect(read_only=True)
        try:
            return max(_applied(connection), default=0)
        finally:
            connection.close()

    def _create(self) -> None:
        if self.exists:
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            settings = self.directory / SETTINGS
            if not settings.exists():
                settings.write_text(_SETTINGS_TEXT, encoding="utf-8")
        except OSError as error:
            raise self._explained(error) from error
        self._tell(f"new study in {self.directory}")

    def _upgrade(self) -> None:
        """Apply what is missing, each migration and its record in one transaction."""
        if self.exists:
            connection = self._connect(read_only=True)
            try:
                applied = _applied(connection)
            finally:
                connection.close()
            if not self._missing(applied):
                self._current = True
                return
        connection = self._connect(read_only=False)
        try:
            # Looked up again: another process may have upgraded in between.
            missing = self._missing(_applied(connection))
            for migration in missing:
                with self._transaction(connection):
                    migration.apply(connection.execute)
        finally:
            _close(connection)
        self._current = True

    def _missing(self, applied: dict[int, str]) -> list[Migration]:
        newest = max((migration.number for migration in self._migrations), default=0)
        if applied and max(applied) > newest:
            raise StudyError(
                f"{self.database} was written by a newer faultatlas "
                f"(schema {max(applied)}, this one knows {newest})",
                "Upgrade faultatlas, or use another --study. Nothing was changed.",
            )
        for migration in self._migrations:
            checksum = applied.get(migration.number)
            if checksum is not None and checksum != migration.checksum:
                raise StudyError(
                    f"{self.database} has another migration {migration.number} than this "
                    f"program ({migration.name})",
                    "It was written by a changed faultatlas: use that one. Nothing was changed.",
                )
        return [migration for migration in self._migrations if migration.number not in applied]

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        give_up = self._clock() + self._wait_s
        told: locks.Holder | None = None
        for pause in locks.pauses():
            try:
                return _open(self.database, read_only=read_only)
            except duckdb.Error as error:
                holder = locks.holder(str(error))
                if holder is None:
                    raise self._explained(error) from error
                if holder != told:
                    self._tell(f"waiting for {holder}, which has {self.database} open")
                    told = holder
                if self._clock() + pause > give_up:
                    raise StudyError(
                        f"{self.database} is in use by {holder}; waited {self._wait_s:.0f} s",
                        "Let it finish or close it (a notebook that is connected counts), "
                        "then run this again. Nothing was written.",
                    ) from error
            self._sleep(pause)
        raise AssertionError("pauses are endless")

    @contextmanager
    def _transaction(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        connection.execute("BEGIN TRANSACTION")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException as error:
            with suppress(duckdb.Error):  # a failed commit has ended the transaction already
                connection.execute("ROLLBACK")
            if isinstance(error, duckdb.Error) and locks.is_storage_problem(str(error)):
                raise self._explained(error) from error
            raise

    def _explained(self, error: Exception) -> StudyError:
        return locks.explained(error, self.database)


def _open(database: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(
        str(database),
        read_only=read_only,
        # Nothing is fetched or loaded behind the user's back, and no other file is read.
        config={"autoinstall_known_extensions": "false"},
    )
    if not read_only:
        # Writing the log back on every close costs more than the transaction itself;
        # DuckDB does it by itself when the log has grown.
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    return connection


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # after a full disk there is nothing left to close
        connection.close()


def _applied(connection: duckdb.DuckDBPyConnection) -> dict[int, str]:
    """Migration number to checksum, of those this database has had."""
    there = connection.execute(
        "SELECT count(*) FROM information_schema.tables "
        "WHERE table_schema = 'store' AND table_name = 'schema_migration'"
    ).fetchone()
    if there is None or there[0] == 0:
        return {}
    rows = connection.execute("SELECT number, checksum FROM store.schema_migration").fetchall()
    return dict(rows)

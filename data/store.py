"""A study on disk: open it, read it, write it in short transactions.

With `engine`, the modules that import duckdb. DuckDB lets one process at a time have the file,
and a reader keeps writers out, so nothing here stays open: every `reading()` and `writing()`
opens the file, works and closes it, and waits its turn when another process has it.
Foreign errors (a lock, a full disk, a damaged file) become `StudyError` here, once.
"""

from __future__ import annotations

import glob
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb

from faultatlas.data import compaction, drafts, engine, locks, settings
from faultatlas.data.engine import Session, Use
from faultatlas.data.errors import StudyError
from faultatlas.data.migration import Migration, shipped_migrations
from faultatlas.data.watching import Watch

if TYPE_CHECKING:
    import pyarrow as pa

DATABASE = "study.duckdb"
WAIT_S = 30.0

# Their messages quote values, so words such as "No space left on device" may be a bug's title.
STATEMENT_ERRORS = (duckdb.DataError, duckdb.IntegrityError, duckdb.ProgrammingError)

_READING = Use(read_only=True)
_WRITING = Use(read_only=False)


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
        # All of them: DuckDB lets nothing else be asked before a result is read to its end.
        found = self._connection.execute(sql, list(parameters)).fetchall()
        return found[0][0] if found else None

    def arrow(self, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
        """All rows of a query as an Arrow table: for large answers."""
        return self._connection.sql(sql, params=list(parameters)).to_arrow_table()

    def batches(
        self, sql: str, parameters: Sequence[Any] = (), rows: int = 4096
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a query, some thousand at a time; nothing else may be asked meanwhile."""
        found = self._connection.sql(sql, params=list(parameters))
        yield from found.to_arrow_reader(rows)

    @contextmanager
    def no_longer_than(self, seconds: float) -> Iterator[None]:
        """What is asked here ends after so long: for queries of strangers. TimeoutError."""
        timer = threading.Timer(seconds, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (duckdb.InterruptException, duckdb.OutOfMemoryException) as error:
            raise TimeoutError(str(error)) from error
        finally:
            timer.cancel()

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

    def insert(self, table: str, batch: pa.Table) -> int:
        """Append an Arrow batch to a table, columns matched by name; returns the number of rows."""
        # After an error the transaction is over and so is the connection: unregistering then
        # would only hide what went wrong behind "transaction is aborted".
        self._connection.register("incoming_batch", batch)
        self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming_batch")
        self._connection.unregister("incoming_batch")
        return int(batch.num_rows)

    def upsert(
        self, table: str, key: str, batch: pa.Table, keep: AbstractSet[str] = frozenset()
    ) -> tuple[int, int]:
        """Put an Arrow batch into a table that has `row_hash`; returns new and changed rows.

        A row whose hash is stored already is left alone, with the run that wrote it. Where the
        batch has `updated_at`, an older row never replaces a newer one. In the columns of `keep`
        a NULL replaces nothing.
        """
        newer = "AND coalesce(i.updated_at >= t.updated_at, true)"
        self._connection.register("incoming_batch", batch)
        found = self._connection.execute(
            f"SELECT i.{key}, t.{key} IS NOT NULL FROM incoming_batch i "
            f"LEFT JOIN {table} t USING ({key}) WHERE t.{key} IS NULL OR "
            f"(i.row_hash <> t.row_hash {newer if 'updated_at' in batch.column_names else ''})"
        ).fetchall()
        new = [row[0] for row in found if not row[1]]
        changed = [row[0] for row in found if row[1]]
        incoming = (
            f"INSERT INTO {table} BY NAME SELECT * FROM incoming_batch "
            f"WHERE {key} IN (SELECT unnest(?::VARCHAR[]))"
        )
        if new:  # by themselves: most batches have nothing else, and looking for others is dear
            self._connection.execute(incoming, [new])
        if changed:
            columns = [name for name in batch.column_names if name != key]
            stored = table.rpartition(".")[2]
            values = {name: f"excluded.{name}" for name in columns} | {
                name: f"coalesce(excluded.{name}, {stored}.{name})" for name in keep & {*columns}
            }
            assigned = ", ".join(f"{name} = {value}" for name, value in values.items())
            self._connection.execute(
                f"{incoming} ON CONFLICT ({key}) DO UPDATE SET {assigned}", [changed]
            )
        self._connection.unregister("incoming_batch")
        return len(new), len(changed)

    def put(
        self,
        table: str,
        key: Mapping[str, Any],
        values: Mapping[str, Any],
        first: Mapping[str, Any] | None = None,
    ) -> None:
        """Store one row: new, or in the place of the one with that key.

        What `first` says holds for a new row only. With ON CONFLICT it would be one statement,
        which DuckDB takes twice as long to plan and run.
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


class Study:
    """A study directory. Opening one touches nothing; the first `writing()` creates it."""

    _template: ClassVar[bytes | None] = None
    _kept_open: ClassVar[dict[Path, Session] | None] = None

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

    @classmethod
    @contextmanager
    def made_from(cls, template: bytes) -> Iterator[None]:
        """Let new studies be copies of this file of an empty one: for tests, which make many."""
        before, cls._template = cls._template, template
        try:
            yield
        finally:
            cls._template = before

    @classmethod
    @contextmanager
    def kept_open(cls) -> Iterator[Callable[[], None]]:
        """Leave studies open between transactions: for tests, which have many small ones.

        Nobody else can have them until the function that this gives closes them.
        """
        before, sessions = cls._kept_open, dict[Path, Session]()

        def close() -> None:
            while sessions:
                sessions.popitem()[1].close()

        cls._kept_open = sessions
        try:
            yield close
        finally:
            cls._kept_open = before
            close()

    @property
    def exists(self) -> bool:
        """Whether there is a study here."""
        return self.database.exists()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The study for queries; an older one is upgraded first."""
        self._require_file()
        with self._upgraded(_READING) as connection:
            yield Reader(connection)

    @contextmanager
    def writing(self, *, keep_log: bool = False) -> Iterator[Writer]:
        """One transaction: committed at the end, undone by any error.

        Afterwards the database file is whole by itself, and can be copied. A command that
        writes page after page may `keep_log`: the rows are as safe, but stand in the log
        beside the file until it has grown or a transaction does not keep it.
        """
        if not self._current:
            self._create()
        with (
            self._upgraded(Use(read_only=False, keep_log=keep_log)) as connection,
            _transaction(connection),
        ):
            yield Writer(connection)

    @contextmanager
    def scratch(self) -> Iterator[Writer]:
        """An empty database in memory for a long computation: nobody waits for it.

        What does not fit goes to the disk beside the study, for as long as it is open.
        """
        overflow = f"{self.database}.{os.getpid()}.tmp"
        with self._explaining(), closing(engine.in_memory(overflow)) as connection:
            yield Writer(connection)

    def schema_version(self) -> int:
        """The newest migration that this study has had; 0 for none."""
        with self._opened(_READING) as connection:
            return max(_applied(connection), default=0)

    def copy_to(self, target: Path) -> None:
        """Write the study to a new file, as it is between two transactions of others."""
        self._require()
        with self._opened(Use(read_only=True, other_files=True)) as connection:
            try:
                compaction.write_copy(connection.execute, target)
            except duckdb.Error as error:
                if locks.is_storage_problem(str(error)):
                    raise locks.explained(error, target) from error
                raise

    def compact(self) -> None:
        """Write the file anew, so that deleted rows are gone from the disk as well.

        Killed at any instant, the study is the old file or the new one, each whole.
        """
        self._require()
        with self._opened(Use(read_only=False, keep_log=True, other_files=True)) as connection:
            # From here on nobody else has the file. It must not be opened by other means: the
            # system gives a process's lock up with the first handle that is closed.
            connection.execute("FORCE CHECKPOINT")
            try:
                database = self.database.resolve()  # of a link, what it leads to
                draft = database.with_name(f"{database.name}.compact.new")
                shutil.rmtree(f"{database}.tmp", ignore_errors=True)  # of another program
                self._drop_overflow()
                compaction.write_copy(connection.execute, draft)
                compaction.take_place(draft, database)
            except OSError as error:
                raise self._explained(error) from error

    def _drop_overflow(self) -> None:
        """Remove what killed processes had no room for in memory."""
        database = self.database.resolve()
        for folder in database.parent.glob(f"{glob.escape(database.name)}.*.tmp"):
            if not drafts.is_running(folder.name.split(".")[-2]):
                shutil.rmtree(folder, ignore_errors=True)

    def _require(self) -> None:
        """A study of this schema; an older one is upgraded."""
        self._require_file()
        if not self._current:
            self._upgrade(for_reading=True)

    def _require_file(self) -> None:
        if not self.exists:
            raise StudyError(
                f"there is no study in {self.directory}",
                "Name one with --study DIR or $STUDY, or make one: miner fetch, commits, posts or "
                "papers, annotation import, analysis coverage-gap or reexecute.",
            )

    def _create(self) -> None:
        _refuse_odd_path(self.database)
        for name in (DATABASE, settings.SETTINGS):
            drafts.drop_abandoned(self.directory, name)
        self._drop_overflow()
        if self.exists:
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            drafts.put(
                self.directory / settings.SETTINGS,
                lambda draft: draft.write_text(settings.TEXT, encoding="utf-8"),
            )
            made = drafts.put(self.database, self._make)
        except (OSError, duckdb.Error) as error:
            raise self._explained(error) from error
        if made:
            self._tell(f"new study in {self.directory}")

    def _make(self, draft: Path) -> None:
        """A database with all tables: one without any would be no study, if we were killed here."""
        if self._template is not None and self._migrations == shipped_migrations():
            draft.write_bytes(self._template)
            return
        # Nothing foreign is in it, and no instance is to be kept for a file that changes its name.
        with engine.connect(draft, Use(read_only=False, other_files=True)) as session:
            for migration in self._migrations:
                with _transaction(session.connection):
                    migration.apply(session.connection.execute)

    @contextmanager
    def _upgraded(self, use: Use) -> Iterator[duckdb.DuckDBPyConnection]:
        """The study with the schema of this program: mostly it has it, and is opened only once."""
        if not self._current:
            with self._session(use) as session:
                known = {migration.number: migration.checksum for migration in self._migrations}
                self._current = known != {} and _applied(session.connection) == known
                if self._current:
                    yield session.connection
                    return
                if not use.read_only:  # it may be refused, and is then left as it is
                    session.leave_log()
            self._upgrade(for_reading=use.read_only)
        with self._opened(use) as connection:
            yield connection

    def _upgrade(self, *, for_reading: bool = False) -> None:
        """Apply what is missing, each migration and its record in one transaction."""
        with self._opened(_READING) as connection:
            applied = _applied(connection)
            missing = self._missing(applied)
            foreign = not applied and _has_tables(connection)
        if foreign or (for_reading and not applied):
            raise StudyError(
                f"{self.database} is no study of faultatlas: it has none of its tables",
                "Choose another --study, or put a copy of the study back. Nothing was changed.",
            )
        if missing:
            if applied:
                self._tell(f"upgrading {self.database} to schema {missing[-1].number}")
            with self._opened(_WRITING) as connection:
                # Looked up again: another process may have upgraded in between.
                for migration in self._missing(_applied(connection)):
                    with _transaction(connection):
                        migration.apply(connection.execute)
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

    def _connect(self, use: Use) -> tuple[Session, Watch]:
        give_up = self._clock() + self._wait_s
        told: locks.Holder | None = None
        for pause in locks.pauses():
            watch = Watch(self.database)
            try:
                session = engine.connect(self.database, use)
                if watch.is_unchanged():
                    return session, watch
                if not use.read_only:
                    session.leave_log()
                session.close()
                watch.end()
            except duckdb.Error as error:
                is_unchanged = watch.is_unchanged()
                watch.end()
                holder = locks.holder(str(error))
                if holder is None and not is_unchanged:
                    continue
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
            except BaseException:
                watch.end()
                raise
            self._sleep(pause)
        raise AssertionError("pauses are endless")

    @contextmanager
    def _session(self, use: Use) -> Iterator[Session]:
        if self._kept_open is not None:
            if not use.other_files:
                if self.database not in self._kept_open:
                    self._kept_open[self.database] = engine.connect(self.database, _WRITING)
                yield self._kept_open[self.database]
                return
            if kept := self._kept_open.pop(self.database, None):
                kept.close()
        with self._explaining():
            opened, watch = self._connect(use)
            try:
                with opened as session:
                    yield session
            finally:
                watch.end()

    @contextmanager
    def _opened(self, use: Use) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._session(use) as session:
            yield session.connection

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """What goes wrong is told in a user's words."""
        try:
            yield
        except RuntimeError as error:
            # What DuckDB makes of Ctrl-C while a statement runs.
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from error
            raise
        except duckdb.Error as error:
            # A full disk or a damaged block may show only when the statement runs.
            if not isinstance(error, STATEMENT_ERRORS) and locks.is_storage_problem(str(error)):
                raise self._explained(error) from error
            raise

    def _explained(self, error: Exception) -> StudyError:
        return locks.explained(error, self.database)


def _refuse_odd_path(database: Path) -> None:
    """What the file system allows and DuckDB does not, before anything is made."""
    try:
        str(database).encode()
    except UnicodeEncodeError:
        name = os.fsencode(database).decode(errors="replace")
        raise StudyError(
            f"the path {name!r} cannot be written as UTF-8", "Rename the directory."
        ) from None
    if database.is_symlink() and not database.exists():
        raise StudyError(
            f"{database} is a link that leads nowhere", "Remove the link, or put its target back."
        )
    for directory in (database.parent, *database.parent.parents):
        if directory.exists():
            if not directory.is_dir():
                raise StudyError(
                    f"{directory} is a file, not a directory", "Choose another --study."
                )
            break


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.execute("BEGIN TRANSACTION")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):  # a failed commit has ended the transaction already
            connection.execute("ROLLBACK")
        raise


def _has_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    found = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE NOT internal").fetchone()
    return found is not None and found[0] > 0


def _applied(connection: duckdb.DuckDBPyConnection) -> dict[int, str]:
    """Migration number to checksum, of those this database has had."""
    try:
        found = connection.execute("SELECT number, checksum FROM store.schema_migration").fetchall()
    except duckdb.CatalogException:  # to look whether it is there takes longer than to open it
        return {}
    return dict(found)

"""A study on disk: a directory with a database, read and written in short transactions."""

from __future__ import annotations

import glob
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from faultatlas.data import database, files, settings
from faultatlas.data.database import HeaderCheck, Reader, Use, Writer
from faultatlas.data.database_errors import (
    LockHolder,
    explain,
    is_storage_problem,
    lock_holder,
    pauses,
)
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import VERSION_TABLE, catalog, difference, is_of_this_schema, schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["BUGS", "DATABASE", "REEXECUTION", "Reader", "Study", "Writer"]

DATABASE = "study.duckdb"
BUGS, REEXECUTION = "bugs", "reexecution"  # folders: imported bugs, and what their runs left
WAIT_S = 30.0

_READING = Use(read_only=True)
_WRITING = Use(read_only=False)
_WORTH_TELLING_S = 0.2


class Study:
    """A study directory. Opening one touches nothing; the first `writing()` creates it."""

    _template: ClassVar[bytes | None] = None
    _kept_open: ClassVar[dict[Path, tuple[DuckDBPyConnection, int]] | None] = None

    def __init__(
        self,
        directory: Path,
        *,
        wait_s: float = WAIT_S,
        tell: Callable[[str], None] = lambda _message: None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        dry_run: bool = False,
    ) -> None:
        self.dry_run = dry_run
        self.directory = directory
        self.database = directory / DATABASE
        self._wait_s = wait_s
        self._tell = tell
        self._sleep = sleep
        self._clock = clock
        self._is_checked = False  # whether the database has the schema of this program

    @property
    def exists(self) -> bool:
        """Whether there is a study here."""
        return self.database.exists()

    def without_writing(self) -> Study:
        """The same study, in which every transaction is rolled back at its end."""
        study = copy(self)
        study.dry_run = True
        return study

    # Transactions

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The study for queries."""
        self._require()
        with self._opened(_READING) as connection:
            yield Reader(connection)

    @contextmanager
    def writing(self, *, keep_log: bool = False) -> Iterator[Writer]:
        """One transaction: committed at the end, undone by any error and in a dry run.

        Afterwards the database file is complete, and can be copied. A command that writes page
        after page may `keep_log`: the rows are as safe, but are in the log beside the file until it
        has grown or a transaction does not keep it.
        """
        if self.dry_run:
            self._require()
        else:
            self._create()
        with (
            self._opened(Use(read_only=False, keep_log=keep_log)) as connection,
            database.transaction(connection, commit=not self.dry_run) as writer,
        ):
            yield writer

    @contextmanager
    def scratch(self, reads: Sequence[Path] = ()) -> Iterator[Writer]:
        """An empty database in memory for a long computation, which reads exactly these files.

        What does not fit goes to the disk beside the study, for as long as it is open.
        """
        overflow = database.overflow(os.path.realpath(self.database), os.getpid())
        with (
            database.explaining(self.database),
            database.in_memory(overflow, reads) as writer,
        ):
            yield writer

    @contextmanager
    def turn(self, name: str, doing: str) -> Iterator[bool]:
        """Let one process at a time do something; yield whether there was a wait.

        `doing` is for the message: `reads pytorch/pytorch into this study`.
        """
        waited = False
        lock = files.Lock(self.directory / f".{files.hashed(name)}.lock")
        told = None
        for pause in pauses():
            if lock.acquire():
                break
            holder = LockHolder.of(lock.owner())
            if holder != told:
                self._tell(f"waiting for {holder}, which {doing}")
                told = holder
            waited = True
            self._sleep(pause)
        try:
            yield waited
        finally:
            lock.release()

    # Copies

    def copy_to(self, target: Path) -> None:
        """Write the study to a new file, as it is between two transactions of others."""
        self._require()
        with self._opened(Use(read_only=True, other_files=True)) as connection:
            try:
                database.write_copy(connection.execute, target, _same(connection))
            except database.Error as error:
                if is_storage_problem(str(error)):
                    raise explain(error, target) from error
                raise
            target.chmod(files.PRIVATE)

    def compact(self) -> None:
        """Write the file again, so that deleted rows are gone from the disk as well.

        Killed at any instant, the study is the old file or the new one, each complete.
        """
        self._require()
        with self._opened(Use(read_only=False, keep_log=True, other_files=True)) as connection:
            # From here on nobody else has the file. It must not be opened by other means: the
            # system gives a process's lock up with the first handle that is closed.
            connection.execute("FORCE CHECKPOINT")
            try:
                path = self.database.resolve()  # of a link, its target
                draft = path.with_name(f"{path.name}.compact.new")
                shutil.rmtree(f"{path}.tmp", ignore_errors=True)  # of another program
                self._drop_overflow()
                database.write_copy(connection.execute, draft, _same(connection))
                files.take_place(draft, path)
            except OSError as error:
                raise explain(error, self.database) from error

    def _drop_overflow(self) -> None:
        """Remove what processes that were killed had no room for in memory."""
        path = self.database.resolve()
        for folder in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):
            if not files.is_running(folder.name.split(".")[-2]):
                shutil.rmtree(folder, ignore_errors=True)

    # Making

    def _create(self) -> None:
        if self._is_checked and self.exists:
            return
        _refuse_odd_path(self.database)
        for name in (DATABASE, settings.SETTINGS):
            files.drop_abandoned(self.directory, name)
        self._drop_overflow()
        if self.exists:
            return
        try:
            if not self.directory.exists():
                self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            files.create_once(
                self.directory / settings.SETTINGS,
                lambda draft: draft.write_text(settings.TEXT, encoding="utf-8"),
            )
            made = files.create_once(self.database, self._make)
        except (OSError, database.Error) as error:
            raise explain(error, self.database) from error
        if made:
            self._tell(f"new study in {self.directory}")

    def _make(self, draft: Path) -> None:
        """A database with all tables: one without any would be no study, if we were killed here."""
        if self._template is not None:
            draft.write_bytes(self._template)
            return
        connection = database.connect(draft, Use(read_only=False, other_files=True))
        try:
            with database.transaction(connection):
                schema().create(connection.execute)
        finally:
            connection.close()

    # Opening

    def _require(self) -> None:
        if not self.exists:
            raise StudyError(
                f"there is no study in {self.directory}",
                "Name one with --study DIR or $STUDY, or make one: miner fetch, commits, posts or "
                "papers, annotation import, analysis coverage-gap or reexecute.",
            )

    @contextmanager
    def _opened(self, use: Use) -> Iterator[DuckDBPyConnection]:
        if kept := self._kept(use):
            with closing(kept.cursor()) as connection:
                yield connection
            return
        with database.explaining(self.database):
            connection, lock, header = self._connect(use)
            try:
                if not self._is_checked:
                    self._check_schema(connection, use)
                yield connection
            finally:
                with suppress(database.Error):  # after a full disk nothing is left to close
                    connection.close()
                header.close()
                lock.release()
                if use.keep_log:
                    with suppress(OSError):
                        database.log_of(self.database).chmod(files.PRIVATE)

    def _connect(self, use: Use) -> tuple[DuckDBPyConnection, files.Lock, HeaderCheck]:
        """Open the file as soon as it is free, under a lock on the directory.

        A reader keeps that lock only until the file is open.
        """
        give_up = self._clock() + self._wait_s
        told: LockHolder | None = None
        lock = files.Lock(self.directory)
        for pause in pauses():
            if lock.acquire(shared=use.read_only):
                opened = self._open_locked(use, lock)
                if isinstance(opened, tuple):
                    return opened
                holder, is_brief = opened, False
            else:  # perhaps by somebody who waits for the file, too
                holder, is_brief = LockHolder.of(lock.owner()), pause < _WORTH_TELLING_S
            if holder is None:  # the file was changed while it was opened
                holder, is_brief = LockHolder(0, "another program"), pause < _WORTH_TELLING_S
            if holder != told and not is_brief:
                self._tell(f"waiting for {holder}, which has {self.database} open")
                told = holder
            if self._clock() + pause > give_up:
                raise StudyError(
                    f"{self.database} is in use by {holder}; waited {self._wait_s:.0f} s",
                    "Let it finish or close it (a notebook that is connected counts), "
                    "then run this again. Nothing was written.",
                )
            self._sleep(pause)
        raise AssertionError("pauses are endless")

    def _open_locked(
        self, use: Use, lock: files.Lock
    ) -> tuple[DuckDBPyConnection, files.Lock, HeaderCheck] | LockHolder | None:
        """Open the file, or say who has it; None if it was changed meanwhile."""
        header = HeaderCheck(self.database)
        holder = None
        try:
            connection = database.connect(self.database, use)
            if header.unchanged():
                if use.read_only:
                    lock.release()
                return connection, lock, header
            if not use.read_only:
                database.leave_log(connection)
            connection.close()
        except database.Error as error:
            holder = lock_holder(str(error))
            if holder is None and header.unchanged():
                header.close()
                lock.release()
                raise explain(error, self.database) from error
        except BaseException:
            header.close()
            lock.release()
            raise
        header.close()
        lock.release()
        return holder

    def _check_schema(self, connection: DuckDBPyConnection, use: Use) -> None:
        """Refuse a database that is no study, is one of another version, or was altered."""
        try:
            if is_of_this_schema(connection.execute, database.VERSION, _empty_database):
                self._is_checked = True
                return
            problem = self._schema_problem(connection)
        except BaseException:
            if not use.read_only:
                database.leave_log(connection)
            raise
        if not use.read_only:  # it is left as it is
            database.leave_log(connection)
        raise problem

    def _schema_problem(self, connection: DuckDBPyConnection) -> StudyError:
        names = {name for _kind, name, _sql in catalog(connection.execute)}
        if "store.schema_migration" in names:
            return StudyError(
                f"{self.database} was made by an earlier development version of faultatlas",
                "Make a new study and run your commands again. Nothing was changed.",
            )
        if f"store.{VERSION_TABLE}" not in names:
            return StudyError(
                f"{self.database} is not a faultatlas study: it has none of its tables",
                "Choose another --study, or put a copy of the study back. Nothing was changed.",
            )
        row = connection.execute(f"SELECT max(version) FROM store.{VERSION_TABLE}").fetchone()
        version = row[0] if row else None
        if isinstance(version, int) and version > schema().version:
            return StudyError(
                f"{self.database} was written by a newer faultatlas "
                f"(schema {version}, this one knows {schema().version})",
                "Upgrade faultatlas, or use another --study. Nothing was changed.",
            )
        return StudyError(
            f"{self.database} does not have the schema of this faultatlas: "
            f"{difference(connection.execute, _empty_database)}",
            "Use a study that this version made. Keep views of your own in another database. "
            "Nothing was changed.",
        )

    # For tests

    def _kept(self, use: Use) -> DuckDBPyConnection | None:
        """The connection that is kept open, if this use can have it."""
        if self._kept_open is None:
            return None
        inode = self.database.stat().st_ino
        connection, of = self._kept_open.get(self.database, (None, inode))
        if connection and (of != inode or use.other_files):  # of a file that was replaced, perhaps
            connection.close()
            del self._kept_open[self.database]
            connection = None
        if connection is None and not use.other_files:
            connection = database.connect(self.database, _WRITING)
            self._kept_open[self.database] = connection, inode
        return connection

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
        before, connections = cls._kept_open, dict[Path, "tuple[DuckDBPyConnection, int]"]()

        def close() -> None:
            while connections:
                connections.popitem()[1][0].close()

        cls._kept_open = connections
        try:
            yield close
        finally:
            cls._kept_open = before
            close()


def _empty_database() -> Any:
    return database.new_database().execute


def _same(connection: DuckDBPyConnection) -> Callable[[str, str], bool]:
    """Whether two attached databases have the same objects and as many rows."""

    def objects(name: str) -> list[tuple[Any, ...]]:
        rows = connection.execute(_OBJECTS, [name]).fetchall()
        counts = [
            connection.execute(
                f'SELECT count(*) FROM "{name}"."{schema_name}"."{table}"'
            ).fetchone()
            for kind, schema_name, table, *_ in sorted(rows, key=repr)
            if kind == "table"
        ]
        return [*sorted(rows, key=repr), *map(tuple, filter(None, counts))]

    return lambda one, other: objects(one) == objects(other)


_OBJECTS = """
SELECT 'table', schema_name, table_name, sql, comment
FROM duckdb_tables() WHERE database_name = $1 AND NOT internal
UNION ALL SELECT 'view', schema_name, view_name, sql, comment
FROM duckdb_views() WHERE database_name = $1 AND NOT internal
UNION ALL SELECT 'column', schema_name, table_name || '.' || column_name, data_type, comment
FROM duckdb_columns() WHERE database_name = $1 AND NOT internal
UNION ALL SELECT 'constraint', schema_name, table_name, constraint_text, NULL
FROM duckdb_constraints() WHERE database_name = $1
UNION ALL SELECT 'index', schema_name, index_name, sql, comment
FROM duckdb_indexes() WHERE database_name = $1
UNION ALL SELECT 'sequence', schema_name, sequence_name, last_value::VARCHAR, comment
FROM duckdb_sequences() WHERE database_name = $1
UNION ALL SELECT 'function', schema_name, function_name, macro_definition, comment
FROM duckdb_functions() WHERE database_name = $1 AND NOT internal
"""


def _refuse_odd_path(path: Path) -> None:
    """Refuse what the file system allows and DuckDB does not, before anything is made."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        name = os.fsencode(path).decode(errors="replace")
        raise StudyError(
            f"the path {name!r} cannot be written as UTF-8", "Rename the directory."
        ) from None
    if os.name == "posix" and "\\" in str(path):  # DuckDB takes it for a slash
        raise StudyError(f"the path {path} contains a backslash", "Rename the directory.")
    if path.is_symlink() and not path.exists():
        raise StudyError(
            f"{path} is a link that leads nowhere", "Remove the link, or put its target back."
        )
    for directory in (path.parent, *path.parent.parents):
        if directory.exists():
            if not directory.is_dir():
                raise StudyError(
                    f"{directory} is a file, not a directory", "Choose another --study."
                )
            break

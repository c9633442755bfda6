"""A database file written anew: what is in it, and nothing of what was deleted from it.

DuckDB keeps deleted rows in blocks that it may use again, so only a copy is free of them. The
functions take the `execute` of a connection whose database is the one to copy.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.sql_text import literal, quoted

Execute = Callable[..., Any]

_COPY = "compact_copy"
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


def write_copy(execute: Execute, target: Path) -> None:
    """Copy the connection's database to a new file, whole and without a log beside it.

    Copied are schemas, tables with their keys, views, comments, sequences and where they stand;
    the copy is opened again and compared before this returns.
    """
    discard(target)
    source = execute("SELECT current_database()").fetchone()[0]
    try:
        execute(f"ATTACH {literal(str(target))} AS {_COPY} (READ_WRITE)")
        execute(f"COPY FROM DATABASE {quoted(source)} TO {_COPY}")
        # Not left to the detaching: a connection may be told to leave the log as it is.
        execute(f"CHECKPOINT {_COPY}")
        execute(f"DETACH {_COPY}")
        _log_of(target).unlink(missing_ok=True)  # were it of any use, the comparison would tell
        execute(f"ATTACH {literal(str(target))} AS {_COPY} (READ_ONLY)")
        _compare(execute, source)
        execute(f"DETACH {_COPY}")
    except BaseException:
        with suppress(Exception):  # where it was not attached, or the disk is full
            execute(f"DETACH {_COPY}")
        discard(target)
        raise


def take_place(draft: Path, database: Path) -> None:
    """Give a finished copy the name of the database, at once and for good."""
    shutil.copymode(database, draft)
    draft.replace(database)
    with suppress(OSError):  # where a directory cannot be opened, the system sees to it
        directory = os.open(database.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def discard(target: Path) -> None:
    """Remove a copy that is of no use, such as one of a process that was killed."""
    target.unlink(missing_ok=True)
    _log_of(target).unlink(missing_ok=True)


def row_counts(execute: Execute, database: str) -> dict[str, int]:
    """Rows of every table."""
    tables = execute(
        "SELECT schema_name, table_name FROM duckdb_tables() "
        "WHERE database_name = ? AND NOT internal AND NOT temporary ORDER BY ALL",
        [database],
    ).fetchall()
    return {
        f"{schema}.{table}": execute(
            f"SELECT count(*) FROM {quoted(database)}.{quoted(schema)}.{quoted(table)}"
        ).fetchone()[0]
        for schema, table in tables
    }


def _compare(execute: Execute, source: str) -> None:
    for what in (_objects, row_counts):
        if what(execute, source) != what(execute, _COPY):
            raise StudyError(
                "the copy of the study is not the same as the study",
                "Run this again with the newest DuckDB. The study was left as it is.",
            )


def _objects(execute: Execute, database: str) -> list[tuple[Any, ...]]:
    return sorted(execute(_OBJECTS, [database]).fetchall(), key=repr)


def _log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.wal")

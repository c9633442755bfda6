"""Studies as an older program left them: with fewer tables, and rows in those that there were."""

from __future__ import annotations

from pathlib import Path

import duckdb

from faultatlas.data.migration import shipped_migrations
from faultatlas.data.store import Study

_COLUMNS = (
    "SELECT table_name, list(column_name) FROM duckdb_columns() "
    "WHERE database_name = ? AND schema_name = 'store' GROUP BY ALL"
)


def made_old(study: Path, schema: int) -> None:
    """Put the study's rows into a database of an older schema, which takes its place."""
    now, then = study / "study.duckdb", study.with_name(f"schema-{schema}")
    with Study(then, migrations=shipped_migrations()[:schema]).writing():
        pass
    with duckdb.connect(str(then / now.name)) as connection:
        connection.execute(f"ATTACH '{now}' AS newer")
        newer = dict(connection.execute(_COLUMNS, ["newer"]).fetchall())
        older = dict(connection.execute(_COLUMNS, ["study"]).fetchall())
        for table, columns in older.items():
            if table == "schema_migration" or table not in newer:
                continue
            assert set(columns) <= set(newer[table])
            listed = ", ".join(f'"{name}"' for name in columns)
            connection.execute(
                f'INSERT INTO study.store."{table}" ({listed}) '
                f'SELECT {listed} FROM newer.store."{table}"'
            )
    now.with_name("study.duckdb.wal").unlink(missing_ok=True)
    (then / now.name).replace(now)
    for path in then.iterdir():
        path.unlink()
    then.rmdir()

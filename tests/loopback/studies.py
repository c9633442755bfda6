"""What a study holds of a tracker, to be compared with another study of it.

Read as it is, in any schema: also right after the fetch was killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from faultatlas.data import database
from faultatlas.data.database import Use

MINED = ("issue", "comment", "issue_event", "departure", "lost_label", "alias")
# What two fetches of the same pages differ in; of a time at which something was noticed, only
# whether there is one counts.
_OF_RUN = ("run_id", "fetched_at")
_NOTICED = ("gone_at", "lost_at")
_THERE = "artifact_id NOT IN (SELECT artifact_id FROM store.departure)"

Rows = list[tuple[Any, ...]]


@contextmanager
def opened(directory: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The study, whatever its schema is."""
    with database.connect(directory / "study.duckdb", Use(read_only=True)) as connection:
        yield connection


def mined(directory: Path) -> dict[str, Rows]:
    """All mined rows in every column but run and time of fetching."""
    found = {}
    with opened(directory) as study:
        for table in MINED:
            names = [row[0] for row in study.execute(f"DESCRIBE store.{table}").fetchall()]
            columns = [
                f"{name} IS NOT NULL AS {name}" if name in _NOTICED else name
                for name in names
                if name not in _OF_RUN
            ]
            asked = f"SELECT {', '.join(columns)} FROM store.{table} ORDER BY ALL"
            found[table] = study.execute(asked).fetchall()
    return found


def live(directory: Path) -> dict[str, Rows]:
    """The issues, comments and events that the tracker still had when they were last asked for.

    Without their responses: which page a row was on depends on what came between.
    """
    conditions = {"issue": "true", "comment": "gone_at IS NULL", "issue_event": "true"}
    with opened(directory) as study:
        return {
            table: study.execute(
                f"SELECT * EXCLUDE (run_id, fetched_at, response_id) FROM store.{table} "
                f"WHERE {condition} AND {_THERE} ORDER BY ALL"
            ).fetchall()
            for table, condition in conditions.items()
        }


def progress(directory: Path) -> dict[str, Rows]:
    """Where the next fetch goes on, and what it need not read again."""
    with opened(directory) as study:
        return {
            "checkpoint": study.execute(
                "SELECT stream, selection, url, since, etag, is_complete FROM store.checkpoint "
                "ORDER BY ALL"
            ).fetchall(),
            "part_read": study.execute(
                "SELECT * EXCLUDE run_id FROM store.part_read ORDER BY ALL"
            ).fetchall(),
        }


def so_far(directory: Path) -> tuple[int, Rows]:
    """How many pages are stored, and how each run ended; one that was killed never did."""
    if not (directory / "study.duckdb").exists():
        return 0, []
    with opened(directory) as study:
        if not study.execute("FROM duckdb_tables() WHERE schema_name = 'store'").fetchall():
            return 0, []  # killed before there was a table
        pages = study.execute("SELECT count(*) FROM store.response").fetchall()[0][0]
        runs = study.execute(
            "SELECT command, outcome, ended_at IS NOT NULL FROM store.run ORDER BY started_at"
        ).fetchall()
    return pages, runs


def keyed(directory: Path) -> Path:
    """The directory for a study that calls people by the same pseudonyms as others made here."""
    directory.mkdir(parents=True)
    key = directory / "study.key"
    key.write_text("5" * 64, encoding="ascii")
    key.chmod(0o600)
    return directory

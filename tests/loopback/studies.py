"""What a study holds of a tracker, to be compared with another study of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb

MINED = ("issue", "comment", "issue_event", "departure", "lost_label", "alias")
# What two fetches of the same pages differ in; of times at which something was noticed, only
# whether there is one counts.
_OF_RUN = ("run_id", "fetched_at")
_NOTICED = ("gone_at", "lost_at")

Rows = list[tuple[Any, ...]]


def query(directory: Path, sql: str) -> Rows:
    """Rows of a study, with nothing but DuckDB."""
    with duckdb.connect(str(directory / "study.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def mined(directory: Path, *, with_responses: bool = True) -> dict[str, Rows]:
    """All mined rows in every column but run and time of fetching."""
    dropped = (*_OF_RUN, *(() if with_responses else ("response_id",)))
    found = {}
    with duckdb.connect(str(directory / "study.duckdb"), read_only=True) as connection:
        for table in MINED:
            names = [row[0] for row in connection.execute(f"DESCRIBE store.{table}").fetchall()]
            columns = [
                f"{name} IS NOT NULL AS {name}" if name in _NOTICED else name
                for name in names
                if name not in dropped
            ]
            found[table] = connection.execute(
                f"SELECT {', '.join(columns)} FROM store.{table} ORDER BY ALL"
            ).fetchall()
    return found


def live(directory: Path) -> dict[str, Rows]:
    """The issues, comments and events that the tracker still had when they were last asked for.

    Without their responses: which page a row was on depends on what came between.
    """
    there = "artifact_id NOT IN (SELECT artifact_id FROM store.departure)"
    dropped = "(run_id, fetched_at, response_id)"
    return {
        "issue": query(directory, f"SELECT * EXCLUDE {dropped} FROM store.issue WHERE {there} ORDER BY ALL"),
        "comment": query(
            directory,
            f"SELECT * EXCLUDE {dropped} FROM store.comment "
            f"WHERE gone_at IS NULL AND {there} ORDER BY ALL",
        ),
        "issue_event": query(
            directory, f"SELECT * EXCLUDE {dropped} FROM store.issue_event WHERE {there} ORDER BY ALL"
        ),
    }


def progress(directory: Path) -> dict[str, Rows]:
    """Where the next fetch goes on, and what it need not read again."""
    return {
        "checkpoint": query(
            directory,
            "SELECT * EXCLUDE (run_id, updated_at, listed_count, counted_at) "
            "FROM store.checkpoint ORDER BY ALL",
        ),
        "part_read": query(directory, "SELECT * FROM store.part_read ORDER BY ALL"),
    }


def runs(directory: Path) -> Rows:
    """How each run ended, in their order; one that was killed never did."""
    if not (directory / "study.duckdb").exists():
        return []
    return query(
        directory,
        "SELECT command, outcome, ended_at IS NOT NULL FROM store.run ORDER BY started_at",
    )


def with_key_of(other: Path, directory: Path) -> Path:
    """A directory for a study that calls people by the same pseudonyms as another."""
    directory.mkdir(parents=True)
    shutil.copy(other / "study.key", directory)
    return directory

"""The store: rows in bulk against rows one by one, and what a short transaction costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
from bench.measured import Line, Target, in_turn, seconds

from faultatlas.data import provenance
from faultatlas.data.clock import utc_now
from faultatlas.data.old import arrow_rows
from faultatlas.data.old.records import IssueRow, row_hash
from faultatlas.data.study import DATABASE, Study
from faultatlas.miner.archive import Exchange
from faultatlas.miner.tables import batch

LABELS = 20_000
ISSUES = 5_000
PART = 10  # one by one: a tenth of the rows, scaled


def measures() -> Iterator[Line]:
    """All lines."""
    yield labels()
    yield issues()
    yield short_transactions()
    yield kept_log()


def labels() -> Line:
    """Labels as one Arrow batch against row by row."""
    rows = pa.table(
        {
            "settlement_id": [f"{number:016x}" for number in range(LABELS)],
            "round": ["r"] * LABELS,
            "item_id": [f"github:o/r#{number}" for number in range(LABELS)],
            "artifact_id": [f"github:o/r#{number}" for number in range(LABELS)],
            "taxonomy": ["hp-defects"] * LABELS,
            "taxonomy_version": ["1.0.0"] * LABELS,
            "codes": [["A1"]] * LABELS,
            "settled_by": ["imported"] * LABELS,
            "rule": ["as the sheet says"] * LABELS,
            "run_id": ["run"] * LABELS,
        }
    )
    part = rows.slice(0, LABELS // PART).to_pylist()

    def by_batch() -> None:
        with tempfile.TemporaryDirectory() as folder, Study(Path(folder)).writing() as writer:
            arrow_rows.insert(writer, "store.settlement", rows)

    def by_row() -> None:
        with tempfile.TemporaryDirectory() as folder, Study(Path(folder)).writing() as writer:
            for row in part:
                writer.execute(
                    f"INSERT INTO store.settlement ({', '.join(row)}) VALUES "
                    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    list(row.values()),
                )

    ours, other = in_turn(
        partial(seconds, by_batch), partial(seconds, by_row), count=3, warm_up=True
    )
    return Line(f"{LABELS:,} labels as an Arrow batch", "row by row", ours,
                tuple(PART * each for each in other), target=Target(ratio=0.1))  # fmt: skip


def issues() -> Line:
    """Issues as the miner stores them, against DuckDB's executemany of the same rows."""
    rows, exchange = _issue_rows()
    part = [
        [*map(_plain, astuple(row)), row_hash(row), "run", exchange.fetched_at, "response"]
        for row in rows[: ISSUES // PART]
    ]
    ready = batch(rows, exchange)  # as the other's rows are
    with tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder))

        def by_batch() -> None:
            with study.writing() as writer:
                arrow_rows.upsert(writer, "store.issue", "artifact_id", ready)

        def by_row(connection: duckdb.DuckDBPyConnection) -> None:
            places = ", ".join("?" * len(part[0]))
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO store.issue VALUES ({places})", part)
            connection.execute("COMMIT")

        def emptied_by_row() -> float:
            with duckdb.connect(Path(folder) / DATABASE) as connection:
                connection.execute("DELETE FROM store.issue")
                spent = seconds(partial(by_row, connection))
                connection.execute("DELETE FROM store.issue")
            return spent * PART

        ours, other = in_turn(partial(seconds, by_batch), emptied_by_row, count=3)
    return Line(f"{ISSUES:,} issues as an Arrow batch", "executemany of DuckDB", ours, other,
                target=Target(ratio=0.05))  # fmt: skip


def short_transactions() -> Line:
    """A transaction that opens and closes the file, in a study that has 10 times the rows."""
    with _study_with(200_000) as large, _study_with(20_000) as small:
        ours, other = in_turn(partial(_write, large), partial(_write, small), count=9, warm_up=True)
    return Line("one short transaction, 200,000 rows in the table", "20,000 rows", ours, other,
                "s", Target(ratio=2))  # fmt: skip


def kept_log() -> Line:
    """A short transaction that keeps the log against one that writes it back."""
    with _study_with(1) as study:
        ours, other = in_turn(
            partial(_write, study), partial(_write, study, keep_log=False), count=9, warm_up=True
        )
    return Line("one short transaction, log kept", "log written back", ours, other, "s",
                Target(ratio=1))  # fmt: skip


def _write(study: Study, *, keep_log: bool = True) -> float:
    began = time.perf_counter()
    with study.writing(keep_log=keep_log) as writer:
        provenance.record(writer, provenance.begin("bench", {}), "ok")
    return time.perf_counter() - began


@contextmanager
def _study_with(rows: int) -> Iterator[Study]:
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        study = Study(Path(folder))
        numbers = [f"{number:08}" for number in range(rows)]
        with study.writing() as writer:
            arrow_rows.insert(
                writer,
                "store.run",
                pa.table(
                    {
                        "run_id": numbers,
                        "command": ["x"] * rows,
                        "arguments": ["{}"] * rows,
                        "version": ["0"] * rows,
                        "started_at": [utc_now()] * rows,
                        "outcome": ["ok"] * rows,
                    }
                ),
            )
        yield study


def _issue_rows() -> tuple[list[IssueRow], Exchange]:
    moment = utc_now()
    first = IssueRow(
        artifact_id="", source="github", project="o/r", number="1", is_pull=False, node_id="n",
        title="Loss becomes NaN", body="word " * 200, author="person_1", author_association="NONE",
        state="open", state_reason=None, tracker_labels=("bug", "high priority"), tracker_type=None,
        tracker_priority=None, milestone=None, comment_count=2, reaction_count=0, is_locked=False,
        is_draft=None, created_at=moment, updated_at=moment, closed_at=None, merged_at=None,
        closed_by=None, url="https://example.org/1",
    )  # fmt: skip
    exchange = Exchange("run", "github", "github:o/r", {"kind": "issues"}, "/", "/", 200, {},
                        moment, b"[]")  # fmt: skip
    return [replace(first, artifact_id=f"github:o/r#{n}") for n in range(ISSUES)], exchange


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value

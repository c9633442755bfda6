"""Mining: what a fetch needs in memory and requests, and how fast its rows get into the study."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path

import duckdb
from loopback import TOKEN
from measured import Measured

from data.provenance import utc_now
from data.records import IssueRow, row_hash
from data.store import DATABASE, Study
from miner.archive import Exchange
from miner.tables import batch

BIN = Path(sys.executable).parent
TESTS = Path(__file__).parents[1]
ROWS = 5_000
SMALL, LARGE = 20_000, 100_000
_LIMIT_MB = 700


def bulk_insert() -> Measured:
    """Issues as the miner stores them, against DuckDB's executemany of the same rows."""
    moment = utc_now()
    first = IssueRow(
        artifact_id="", source="github", project="o/r", number="1", is_pull=False, node_id="n",
        title="Loss becomes NaN", body="word " * 200, author="person_1", author_association="NONE",
        state="open", state_reason=None, tracker_labels=("bug", "high priority"), tracker_type=None,
        tracker_priority=None, milestone=None, comment_count=2, reaction_count=0, is_locked=False,
        is_draft=None, created_at=moment, updated_at=moment, closed_at=None, merged_at=None,
        closed_by=None, url="https://example.org/1",
    )  # fmt: skip
    rows = [replace(first, artifact_id=f"github:o/r#{number}") for number in range(ROWS)]
    exchange = Exchange("run", "github", "github:o/r", {"kind": "issues"}, "/", "/", 200, {},
                        moment, b"[]")  # fmt: skip
    part = [
        [*map(_plain, astuple(row)), row_hash(row), "run", moment, "response"]
        for row in rows[: ROWS // 10]
    ]

    ready = batch(rows, exchange)  # as the other's rows are
    ours, other = [], []
    with tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder))
        for _round in range(3):
            start = time.process_time()
            with study.writing() as writer:
                writer.upsert("store.issue", "artifact_id", ready)
            ours.append(time.process_time() - start)
            with duckdb.connect(Path(folder) / DATABASE) as connection:
                connection.execute("DELETE FROM store.issue")
                places = ", ".join("?" * len(part[0]))
                start = time.process_time()
                connection.execute("BEGIN")
                connection.executemany(f"INSERT INTO store.issue VALUES ({places})", part)
                connection.execute("COMMIT")
                other.append((time.process_time() - start) * len(rows) / len(part))
                connection.execute("DELETE FROM store.issue")
    fast, slow = statistics.median(ours), statistics.median(other)
    return Measured(f"{ROWS:,} issues by Arrow / executemany", fast, slow, "<= 0.05",
                    fast / slow <= 0.05)  # fmt: skip


def memory() -> Measured:
    """Peak memory of a fetch with comments, of 100,000 issues by that of 20,000."""
    large, small = peak_mb(LARGE), peak_mb(SMALL)
    return Measured(
        f"memory of a fetch, {LARGE:,} / {SMALL:,} issues",
        large,
        small,
        f"<= 1.3, < {_LIMIT_MB} MB",
        large / small <= 1.3 and large < _LIMIT_MB,
        "MB",
    )


def peak_mb(issues: int) -> float:
    """Peak memory of `miner fetch` in a process of its own, against a server in another."""
    with served(issues) as url, tempfile.TemporaryDirectory() as folder:
        line = [
            BIN / "miner",
            "fetch",
            "example/large",
            "--api-url",
            url,
            "--study",
            folder,
            "--json",
        ]
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen(
                line,
                stdout=said,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "GITHUB_TOKEN": TOKEN},
            )
            _pid, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            found = json.load(said)
    if child.returncode or found["rows"]["issues_new"] != issues:
        raise RuntimeError(f"the fetch of {issues} issues was not complete")
    scale = 1024 if sys.platform != "darwin" else 1024**2
    return usage.ru_maxrss / scale


@contextmanager
def served(issues: int) -> Iterator[str]:
    """A loopback server with so many issues, two comments each, in a process of its own."""
    line = [sys.executable, "-m", "loopback", "--payloads", f"generated:{issues}"]
    with subprocess.Popen(
        line, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value

"""A file that changes while DuckDB opens it is opened again: DuckDB would not notice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from faultatlas.data import database
from faultatlas.data.database import HeaderCheck, Use
from faultatlas.data.study import Study, Writer

pytestmark = pytest.mark.usual_opening  # other processes have the study too

pytestmark = pytest.mark.usual_opening  # other processes have the study too

Start = Callable[..., "Popen[str]"]

_ROW = "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')"
_WRITER = """
import sys
from pathlib import Path
from faultatlas.data.study import Study
study = Study(Path(sys.argv[1]), sleep=lambda _seconds: None)
for number in range(int(sys.argv[3])):
    with study.writing() as writer:
        writer.execute("INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')",
                       [f"{sys.argv[2]} {number}"])
"""
# Somebody who knows nothing of our lock: a notebook, for example.
_PLAIN_WRITER = """
import sys, duckdb
with duckdb.connect(sys.argv[1]) as connection:
    row = "'other 0', 'x', '{}', '0', now(), NULL, 'ok'"
    connection.execute(f"INSERT INTO store.run VALUES ({row})")
"""


def add(writer: Writer, name: str) -> None:
    writer.execute(_ROW, [name])


def run_ids(study: Study) -> set[str]:
    with study.reading() as reader:
        return {row["run_id"] for row in reader.rows("SELECT run_id FROM runs")}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study(tmp_path / "study")
    with study.writing() as writer:
        add(writer, "old")
    return study


def test_two_that_write_at_once_lose_nothing(study: Study, start: Start) -> None:
    other = start("other.py", _WRITER, study.directory, "other", 25)
    one = start("one.py", _WRITER, study.directory, "one", 25)
    assert [one.wait(), other.wait()] == [0, 0]
    assert len(run_ids(study)) == 51


@pytest.mark.parametrize("reads", [True, False])
def test_a_file_that_was_written_to_between_two_looks_is_opened_again(
    study: Study, start: Start, monkeypatch: pytest.MonkeyPatch, *, reads: bool
) -> None:
    opened: list[Path] = []
    plain = database.connect

    def late(path: Path, use: Use) -> Any:
        opened.append(path)
        if len(opened) == 1:
            assert start("other.py", _PLAIN_WRITER, study.database).wait() == 0
        return plain(path, use)

    monkeypatch.setattr(database, "connect", late)
    if reads:
        assert run_ids(study) == {"old", "other 0"}
    else:
        with study.writing() as writer:
            add(writer, "mine")
        assert run_ids(study) == {"old", "other 0", "mine"}
    assert len(opened) == (2 if reads else 3)


def test_a_file_that_was_replaced_between_two_looks_is_opened_again(
    study: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.duckdb"
    study.copy_to(copy)
    plain = database.connect

    def slow(path: Path, use: Use) -> Any:
        connection = plain(path, use)
        if copy.exists():
            copy.replace(path)
        return connection

    monkeypatch.setattr(database, "connect", slow)
    with study.writing() as writer:
        add(writer, "new")
    assert run_ids(study) == {"old", "new"}
    assert run_ids(Study(study.directory)) == {"old", "new"}


_NESTED = """
import sys
from pathlib import Path
from faultatlas.data.study import Study
study = Study(Path(sys.argv[1]))
with study.reading() as outer:
    with study.reading() as inner:
        inner.value("SELECT count(*) FROM runs")
    print("inner closed", flush=True)
    sys.stdin.readline()
"""


def test_a_reader_inside_a_reader_does_not_give_the_lock_away(study: Study, start: Start) -> None:
    process = start("nested.py", _NESTED, study.directory)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "inner closed\n"
    told: list[str] = []

    def free(_seconds: float) -> None:
        process.stdin.write("\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        process.wait()

    with Study(study.directory, tell=told.append, sleep=free).writing() as writer:
        add(writer, "new")
    assert len(told) == 1
    assert "waiting for" in told[0]


def test_no_handle_is_left_open(study: Study) -> None:
    handles = Path("/proc/self/fd")
    if not handles.exists():
        handles = Path("/dev/fd")
    before = len(os.listdir(handles))  # noqa: PTH208  (iterating holds a handle itself)
    for _ in range(5):
        run_ids(study)
        with study.reading() as reader, study.reading():
            reader.value("SELECT 1")
    assert len(os.listdir(handles)) == before  # noqa: PTH208  (as above)


def test_a_file_that_is_not_there_is_nobodys_business(tmp_path: Path) -> None:
    header = HeaderCheck(tmp_path / "none")
    assert header.unchanged()
    header.close()

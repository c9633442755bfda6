"""A study is open only as long as a transaction, and its SQL reaches nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from faultatlas.data import database
from faultatlas.data.database import Use
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Reader, Study, Writer

pytestmark = pytest.mark.usual_opening

AT = datetime(2026, 1, 1)  # noqa: DTZ001  (as the study stores it)
_ROW = "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')"
_OTHER = """
import sys, duckdb
try:
    duckdb.connect(sys.argv[1]).close()
except duckdb.IOException:
    sys.exit(1)
"""
_FILES = Path("/proc/self/fd")
on_linux = pytest.mark.skipif(not _FILES.exists(), reason="open files are listed on Linux only")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """One with a row, used for reading and for writing already."""
    study = Study(tmp_path / "study", wait_s=0)
    with study.writing() as writer:
        add(writer, "first")
    assert run_ids(study) == {"first"}
    return study


def add(writer: Writer, run_id: str) -> None:
    writer.execute(_ROW, [run_id])


def run_ids(study: Study) -> set[str]:
    with study.reading() as reader:
        return {row["run_id"] for row in reader.rows("SELECT run_id FROM store.run")}


def held(folder: Path) -> list[str]:
    """The files in a folder that this process has open."""
    found = []
    for handle in _FILES.iterdir():
        try:
            name = str(handle.readlink())
        except OSError:  # the handle that lists them
            continue
        if name.startswith(str(folder)):
            found.append(name)
    return found


@on_linux
def test_between_two_transactions_nothing_of_a_study_is_open(study: Study) -> None:
    with study.writing() as writer:
        add(writer, "second")
        assert held(study.directory)
    assert held(study.directory) == []
    with study.reading():
        assert held(study.directory)
    assert held(study.directory) == []


def test_a_study_that_was_put_in_the_place_of_another_is_the_one_that_is_read(
    study: Study, tmp_path: Path
) -> None:
    other = Study(tmp_path / "other")
    with other.writing() as writer:
        add(writer, "of the other")
    shutil.rmtree(study.directory)
    with pytest.raises(StudyError, match="no study"), study.reading():
        pass
    shutil.copytree(other.directory, study.directory)
    assert run_ids(study) == {"of the other"}


@pytest.mark.parametrize("read_only", [True, False])
def test_no_view_of_a_study_ever_reaches_another_file(
    study: Study, tmp_path: Path, *, read_only: bool
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret", encoding="utf-8")
    _plant(study, secret)
    # What DuckDB would call the folder for what does not fit into memory: it can be reached.
    study.database.with_name("study.duckdb.tmp").symlink_to(tmp_path)
    with closing(database.connect(study.database, Use(read_only=read_only))) as connection:
        for view in ("by_name", "by_folder"):
            with pytest.raises(duckdb.Error, match="disabled by configuration"):
                connection.execute(f"FROM planted.{view}")
        for setting in ("enable_external_access = true", f"allowed_paths = ['{secret}']"):
            with pytest.raises(duckdb.Error, match=r"(?i)cannot"):
                connection.execute(f"SET {setting}")
        with pytest.raises(duckdb.Error, match="disabled by configuration"):
            connection.execute(f"COPY (SELECT 1) TO '{tmp_path / 'written'}'")


def _plant(study: Study, secret: Path) -> None:
    """Views such as a stranger could put into a study; both files are there when they are made."""
    beside = study.database.with_name("study.duckdb.tmp")
    beside.mkdir()
    (beside / secret.name).touch()
    with duckdb.connect(str(study.database)) as connection:
        connection.execute("CREATE SCHEMA planted")
        for name, path in (("by_name", secret), ("by_folder", beside / secret.name)):
            asked = f"SELECT content FROM read_text('{path}')"
            connection.execute(f"CREATE VIEW planted.{name} AS {asked}")
    shutil.rmtree(beside, ignore_errors=True)


@pytest.mark.parametrize("ending", [".wal", ".wal.checkpoint", ".wal.recovery"])
def test_a_link_where_duckdb_has_its_log_is_refused(
    study: Study, tmp_path: Path, ending: str
) -> None:
    link = study.database.with_name(f"study.duckdb{ending}")
    link.symlink_to(tmp_path / "secret.txt")
    for use in (study.reading, study.writing):
        with pytest.raises(StudyError, match="is a link"), use():
            pass
    link.unlink()
    assert run_ids(study) == {"first"}


def is_held(study: Study) -> bool:
    """Whether another process cannot have it."""
    return (
        subprocess.run([sys.executable, "-c", _OTHER, study.database], check=False).returncode != 0
    )


def test_whoever_reads_has_the_lock_whatever_others_of_the_process_do(study: Study) -> None:
    with study.reading() as first:
        with pytest.raises(ZeroDivisionError), study.reading():
            raise ZeroDivisionError
        with study.reading() as third:
            assert third.value("SELECT count(*) FROM store.run") == 1
        assert is_held(study)
        assert first.value("SELECT count(*) FROM store.run") == 1
    assert not is_held(study)


@pytest.mark.parametrize("outer", ["reading", "writing"])
def test_a_second_use_at_the_same_time_is_refused_and_the_lock_stays(
    study: Study, tmp_path: Path, outer: str
) -> None:
    inner = study.writing if outer == "reading" else study.reading
    with getattr(study, outer)():
        with pytest.raises(StudyError, match="another connection of this process"), inner():
            pass
        with pytest.raises(StudyError, match="another connection of this process"):
            study.copy_to(tmp_path / "copy.duckdb")
        assert is_held(study)
    assert not is_held(study)


@pytest.mark.parametrize("use", ["reading", "writing"])
def test_an_interrupt_while_a_file_is_opened_leaves_nothing_open(
    study: Study, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = database.connect
    opened = []

    def interrupted(path: Path, how: Use) -> Any:
        opened.append(connect(path, how))
        opened[0].close()
        raise RuntimeError("Query interrupted")  # what DuckDB makes of Ctrl-C

    with monkeypatch.context() as patch:
        patch.setattr(database, "connect", interrupted)
        with pytest.raises(KeyboardInterrupt), getattr(study, use)():
            pass
    assert not is_held(study)
    with study.writing() as writer:
        add(writer, "second")
    assert run_ids(study) == {"first", "second"}


def test_what_had_no_room_in_memory_is_gone_with_the_transaction(study: Study) -> None:
    with study.writing() as writer:
        threads = writer.value("SELECT current_setting('threads')")
        writer.execute("SET memory_limit = '40MB'")
        writer.execute("SET threads = 1")
        writer.execute(
            "CREATE TEMP TABLE big AS SELECT hash(range) AS h, repeat('x', 50) || range AS t "
            "FROM range(600_000) ORDER BY h"
        )
        assert list(study.directory.glob("*.tmp"))
        writer.execute(f"SET threads = {threads + 1}")
    assert list(study.directory.glob("*.tmp")) == []
    with study.writing() as writer:
        assert "40" not in writer.value("SELECT current_setting('memory_limit')")
        assert writer.value("SELECT current_setting('threads')") == threads


def test_after_an_error_the_study_is_open_to_others_and_to_us(study: Study) -> None:
    with study.writing() as writer:
        add(writer, "kept")
    with pytest.raises(Exception, match="Duplicate"), study.writing() as writer:
        add(writer, "kept")
    with pytest.raises(Exception, match="no_such_table"), study.reading() as reader:
        reader.rows("SELECT * FROM no_such_table")
    with study.writing() as writer:
        add(writer, "second")
    assert run_ids(study) == {"first", "kept", "second"}


def test_threads_that_read_at_once_share_the_file(study: Study) -> None:
    together = threading.Barrier(4, timeout=60)
    found: list[set[str]] = []

    def read() -> None:
        with study.reading() as reader:
            together.wait()  # all four have it open
            found.append({row["run_id"] for row in reader.rows("SELECT run_id FROM store.run")})

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"first"}] * 4
    with study.writing() as writer:  # the last one gave it up
        add(writer, "second")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_reads_and_writes_as_well(study: Study) -> None:
    child = os.fork()
    if not child:
        try:
            with study.writing() as writer:
                add(writer, "of the child")
            os._exit(0 if run_ids(study) == {"first", "of the child"} else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert run_ids(study) == {"first", "of the child"}


def _comments(**columns: list[Any]) -> dict[str, list[Any]]:
    size = len(columns["comment_id"])
    fixed = {"artifact_id": "a", "fetched_at": AT, "response_id": "x"}
    return {**{name: [value] * size for name, value in fixed.items()}, **columns}


def test_upsert_replaces_what_changed_and_leaves_the_rest_to_its_run(study: Study) -> None:
    def put(keep: tuple[str, ...] = (), **columns: list[Any]) -> tuple[int, int]:
        with study.writing() as writer:
            return writer.upsert("comment", _comments(**columns), keep)

    day = [AT + timedelta(days=number) for number in range(3)]
    assert put(comment_id=["1", "2"], body=["one", "two"], row_hash=[1, 2], run_id=["r"] * 2,
               updated_at=[day[1], day[1]], url=["u", None]) == (2, 0)  # fmt: skip
    later = {"run_id": ["s"] * 3, "url": [None] * 3, "updated_at": [day[1], day[0], day[2]]}
    assert put(("url",), comment_id=["1", "2", "3"], body=["one!", "older", "new"],
               row_hash=[9, 8, 7], **later) == (1, 1)  # fmt: skip
    assert put(comment_id=["3"], body=["not read"], row_hash=[7], run_id=["t"]) == (0, 0)
    with study.reading() as reader:
        rows = reader.rows("SELECT comment_id, body, url, run_id FROM comments ORDER BY comment_id")
    assert [tuple(row.values()) for row in rows] == [
        ("1", "one!", "u", "s"),  # changed; no NULL replaced the address
        ("2", "two", None, "r"),  # an older row replaces no newer one
        ("3", "new", None, "s"),  # the same hash: left alone
    ]


def test_a_column_that_the_schema_lacks_is_refused(study: Study) -> None:
    with study.writing() as writer, pytest.raises(ValueError, match="unknown"):
        writer.insert("comment", _comments(comment_id=["1"], colour=["red"]))


def test_a_time_limit_holds_for_every_query_of_a_block(study: Study) -> None:
    numbers = "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t)"

    def ask(reader: Reader) -> None:
        with reader.limited_to(0.05):
            end = time.monotonic() + 0.1
            while time.monotonic() < end:  # the limit passes while no query runs
                pass
            reader.value(f"{numbers} SELECT max(n) FROM t")

    with study.reading() as reader:
        with pytest.raises(TimeoutError):
            ask(reader)
        assert reader.value("SELECT 1") == 1

"""Taking turns: DuckDB lets one process have the file, and a reader keeps writers out."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from faultatlas.data import database_errors as locks
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study, Writer

pytestmark = [pytest.mark.usual_making, pytest.mark.usual_opening]

Start = Callable[..., "Popen[str]"]

# What a notebook does: it opens the file and leaves it open.
HOLDER = """
import sys
import duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
print("open", flush=True)
sys.stdin.readline()
connection.close()
"""

WRITER = """
import sys
from pathlib import Path
from faultatlas.data.study import Study
study = Study(Path(sys.argv[1]), tell=lambda message: print(message, flush=True))
for number in range(20):
    with study.writing() as writer:
        writer.execute(
            "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')",
            [f"{sys.argv[2]} {number:02}"],
        )
"""
BOTH = sorted(f"{name} {number:02}" for name in ("one", "two") for number in range(20))


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        assert self.now < 60, "it waits for ever"


def add_run(writer: Writer, run_id: str) -> None:
    writer.execute(
        "INSERT INTO store.run VALUES (?, 'miner fetch', '{}', '0', now(), NULL, 'ok')", [run_id]
    )


def run_ids(study: Study) -> list[str]:
    with study.reading() as reader:
        return [row["run_id"] for row in reader.rows("SELECT run_id FROM runs ORDER BY run_id")]


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where a study is, with no run in it."""
    with Study(tmp_path / "study").writing():
        pass
    return tmp_path / "study"


@pytest.fixture
def hold(directory: Path, start: Start) -> Callable[..., Popen[str]]:
    """Another process that has the file open once this returns."""

    def begin(how: str = "reading", *arguments: str) -> Popen[str]:
        holder = start("notebook.py", HOLDER, directory / "study.duckdb", how, *arguments)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        return holder

    return begin


def release(holder: Popen[str]) -> None:
    assert holder.stdin is not None
    holder.stdin.write("\n")
    holder.stdin.flush()
    assert holder.wait() == 0


# Several processes


def test_two_processes_that_write_at_the_same_time_lose_nothing(
    directory: Path, start: Start
) -> None:
    writers = [start(f"{name}.py", WRITER, directory, name) for name in ("one", "two")]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert run_ids(Study(directory)) == BOTH


def test_writers_say_for_whom_they_wait_and_go_on_when_it_is_gone(
    directory: Path, start: Start, hold: Callable[..., Popen[str]]
) -> None:
    holder = hold("reading")
    writers = [start(f"{name}.py", WRITER, directory, name) for name in ("one", "two")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == (
            f"waiting for process {holder.pid} (notebook.py), "
            f"which has {directory / 'study.duckdb'} open\n"
        )
    assert run_ids(Study(directory)) == []
    release(holder)
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert run_ids(Study(directory)) == BOTH


@pytest.mark.parametrize("how", ["reading", "writing"])
def test_a_holder_that_is_released_in_time_is_named_once(
    directory: Path, hold: Callable[..., Popen[str]], how: str
) -> None:
    holder = hold(how)
    told: list[str] = []
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            release(holder)

    study = Study(directory, tell=told.append, sleep=sleep)
    with study.writing() as writer:
        add_run(writer, "after all")
    assert [f"process {holder.pid} (notebook.py)" in message for message in told] == [True]
    assert pauses == list(itertools.islice(locks.pauses(), 3))
    assert run_ids(study) == ["after all"]


def test_a_holder_that_stays_is_named_and_nothing_is_written(
    directory: Path, hold: Callable[..., Popen[str]]
) -> None:
    holder = hold("reading")
    before = contents(directory)
    told: list[str] = []
    clock = Clock()
    study = Study(directory, wait_s=5, tell=told.append, sleep=clock.sleep, clock=clock)
    with pytest.raises(StudyError, match="is in use by") as raised, study.writing() as writer:
        add_run(writer, "never")
    assert f"process {holder.pid} (notebook.py); waited 5 s" in raised.value.message
    assert "close it" in raised.value.hint
    assert 4 < clock.now <= 5
    assert len(told) == 1
    assert contents(directory) == before
    release(holder)
    assert run_ids(study) == []


def test_readers_wait_for_a_writer_but_not_for_a_reader(
    directory: Path, hold: Callable[..., Popen[str]]
) -> None:
    clock = Clock()
    study = Study(directory, wait_s=1, sleep=clock.sleep, clock=clock)
    reader = hold("reading")
    assert run_ids(study) == []
    assert clock.now == 0
    release(reader)
    hold("writing")
    with pytest.raises(StudyError, match=r"\(notebook.py\); waited 1 s"), study.reading():
        pass


def test_the_arguments_of_the_holder_are_not_told(
    directory: Path, hold: Callable[..., Popen[str]]
) -> None:
    hold("reading", "--token", "hunter2hunter2")
    clock = Clock()
    study = Study(directory, wait_s=1, sleep=clock.sleep, clock=clock)
    with pytest.raises(StudyError) as raised, study.writing():
        pass
    assert "hunter2" not in str(raised.value)


def test_a_second_connection_of_the_same_process_is_named_as_such(directory: Path) -> None:
    clock = Clock()
    study = Study(directory, wait_s=1, sleep=clock.sleep, clock=clock)
    with (
        study.reading(),
        pytest.raises(StudyError, match="another connection of this process"),
        study.writing(),
    ):
        pass
    with study.writing() as writer:
        add_run(writer, "afterwards")
    assert run_ids(study) == ["afterwards"]


# DuckDB's words


def test_a_holder_that_has_ended_is_named_as_duckdb_names_it(start: Start) -> None:
    ended = start("ended.py", "")
    ended.wait()
    message = f"IO Error: ... Conflicting lock is held in /opt/R/bin/R (PID {ended.pid}). See also"
    assert locks.lock_holder(message) == locks.LockHolder(ended.pid, "R")
    assert str(locks.lock_holder(message)) == f"process {ended.pid} (R)"


def test_the_program_of_a_holder_is_its_script_or_its_interpreter(start: Start) -> None:
    code = "import sys; print(); sys.stdin.read()"
    message = "Conflicting lock is held in /usr/bin/python3.11 (PID {})"
    script = start("notebook.py", code)
    with Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as interpreter:
        for process in (script, interpreter):
            assert process.stdout is not None
            process.stdout.readline()  # only now it is the program, not a copy of this one
        found = [
            locks.lock_holder(message.format(process.pid)) for process in (script, interpreter)
        ]
    assert found == [
        locks.LockHolder(script.pid, "notebook.py"),
        locks.LockHolder(interpreter.pid, Path(sys.executable).name),
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("IO Error: Could not set lock on file", locks.LockHolder(0, "another process")),
        ("IO Error: No space left on device", None),
        ("Constraint Error: Duplicate key", None),
    ],
)
def test_a_lock_is_told_from_other_errors(message: str, expected: locks.LockHolder | None) -> None:
    assert locks.lock_holder(message) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Could not write file: No space left on device", "no room left to write"),
        ("[Errno 122] Disk quota exceeded", "no room left to write"),
        ("Cannot open file: Permission denied", "cannot be written: no permission"),
        ("[Errno 30] Read-only file system: 'x'", "cannot be written: no permission"),
        ("Corrupt database file: computed checksum", "is damaged"),
        ('Failure while replaying WAL file "s.wal": Corrupt', "study.duckdb.wal is damaged"),
        ("Something new\nof several lines", "cannot be opened: Something new"),
    ],
)
def test_every_error_is_one_line_and_has_a_next_step(words: str, expected: str) -> None:
    error = locks.explain(OSError(words), Path("s/study.duckdb"))
    assert expected in error.message
    assert "\n" not in error.message
    assert error.hint
    assert locks.is_storage_problem(words) == ("Something new" not in words)

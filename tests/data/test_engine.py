"""The DuckDB instances that a process keeps: quicker, and nothing else is different."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from data import engine
from data.errors import StudyError
from data.store import Study, Writer

_ROW = "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')"
_FILES = Path("/proc/self/fd")
_THREADS = Path("/proc/self/task")
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


@pytest.mark.parametrize("times", [0, 1, 2])
def test_no_view_of_a_study_ever_reaches_another_file(
    study: Study, tmp_path: Path, times: int
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret", encoding="utf-8")
    for _ in range(times):
        run_ids(study)
        with study.writing():
            pass
    reads = f"SELECT content FROM read_text('{secret}')"
    for use in (study.reading, study.writing):
        with pytest.raises(Exception, match="disabled by configuration"), use() as reader:
            reader.rows(reads)
        with pytest.raises(Exception, match=r"cannot be|Cannot"), use() as reader:
            reader.rows("SET enable_external_access = true")
        with pytest.raises(Exception, match=r"disabled by configuration|Cannot"), use() as reader:
            reader.rows(f"SET allowed_paths = ['{secret}']")


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


def test_an_instance_that_died_of_an_error_that_nobody_saw_is_replaced(
    study: Study,
) -> None:
    for instance in engine._instances.values():  # noqa: SLF001
        instance.root.close()  # as useless as after what DuckDB calls a fatal error
    assert run_ids(study) == {"first"}
    with study.writing() as writer:
        add(writer, "second")
    assert run_ids(study) == {"first", "second"}


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


def test_one_that_fails_takes_nothing_from_one_that_reads_on(study: Study) -> None:
    with study.reading() as reader:
        with pytest.raises(ZeroDivisionError), study.reading():
            raise ZeroDivisionError
        assert reader.value("SELECT count(*) FROM store.run") == 1
    with study.writing() as writer:
        add(writer, "second")
    assert run_ids(study) == {"first", "second"}


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


@on_linux
def test_many_studies_do_not_make_many_instances(tmp_path: Path) -> None:
    counts = []
    for number in range(12):
        one = Study(tmp_path / f"study {number}")
        with one.writing() as writer:
            add(writer, "a")
        assert run_ids(one) == {"a"}
        counts.append(len(list(_THREADS.iterdir())))
    assert max(counts[6:]) <= max(counts[:6])

"""A study written anew: the same study, without the bytes of what was deleted from it."""

from __future__ import annotations

import base64
import hashlib
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from faultatlas.data import database
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.study import DATABASE, Study

pytestmark = pytest.mark.usual_opening

Start = Callable[..., "Popen[str]"]

# Which tables, views, comments, keys, sequences (and where they stand) a study has.
_CATALOGUE = {
    "tables": "SELECT schema_name, table_name, sql, comment FROM duckdb_tables()",
    "views": "SELECT schema_name, view_name, sql, comment FROM duckdb_views() WHERE NOT internal",
    "columns": "SELECT table_name, column_name, data_type, is_nullable, column_default, comment "
    "FROM duckdb_columns() WHERE NOT internal",
    "keys": "SELECT table_name, constraint_type, constraint_text FROM duckdb_constraints()",
    "sequences": "SELECT schema_name, sequence_name, last_value FROM duckdb_sequences()",
    "indexes": "SELECT index_name, sql FROM duckdb_indexes()",
    "version": "SELECT * FROM store.schema_version",
}


def noise(name: str) -> str:
    """Text that no compression hides."""
    return base64.b85encode(hashlib.shake_256(name.encode()).digest(300)).decode()


def rows_of(numbers: range) -> pa.Table:
    return pa.table(
        {
            "run_id": [f"run {i:06}" for i in numbers],
            "command": [noise(f"command {i}") for i in numbers],
            "arguments": ["{}"] * len(numbers),
            "version": ["0"] * len(numbers),
            "started_at": pa.array([0] * len(numbers), pa.timestamp("us")),
            "outcome": ["ok"] * len(numbers),
        }
    )


def everything(study: Study) -> dict[str, Any]:
    with study.reading() as reader:
        found: dict[str, Any] = {
            name: sorted(map(repr, reader.rows(sql))) for name, sql in _CATALOGUE.items()
        }
        for table in reader.rows("SELECT schema_name AS s, table_name AS t FROM duckdb_tables()"):
            name = f"{table['s']}.{table['t']}"
            found[name] = reader.rows(f"SELECT * FROM {name} ORDER BY ALL")
        return found


def names(study: Study) -> set[str]:
    return {path.name for path in study.directory.iterdir()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = Study(tmp_path_factory.mktemp("made") / "study")
    with study.writing() as writer:
        arrow_rows.insert(writer, "store.run", rows_of(range(300)))
        for number in range(5):
            writer.execute(
                "INSERT INTO store.result (run_id, result, analysis, parameters, content) "
                "VALUES (?, 'r', 'a', '{}', '{}')",
                [f"run {number:06}"],
            )
    return study.directory


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Study:
    return Study(Path(shutil.copytree(made, tmp_path / "a 'quoted' study")))


def test_everything_is_there_afterwards_and_goes_on(study: Study) -> None:
    before = everything(study)
    study.compact()
    assert everything(study) == before
    assert everything(Study(study.directory)) == before
    assert names(study) == {DATABASE, "study.toml"}
    with study.writing() as writer:
        writer.execute(
            "INSERT INTO store.result (run_id, result, analysis, parameters, content) "
            "VALUES ('later', 'r', 'a', '{}', '{}')"
        )
        assert writer.value("SELECT run_id FROM results WHERE is_latest") == "later"


def test_deleted_rows_are_gone_from_the_file(study: Study) -> None:
    secret = noise("command 70").encode()
    with study.writing(keep_log=True) as writer:
        writer.execute("DELETE FROM store.run WHERE run_id = 'run 000070'")
    held = b"".join(path.read_bytes() for path in study.directory.iterdir())
    assert secret in held  # what this is for: DuckDB leaves it there
    size = study.database.stat().st_size
    study.compact()
    for path in study.directory.iterdir():
        assert secret not in path.read_bytes()
    assert study.database.stat().st_size <= size
    with study.reading() as reader:
        assert reader.value("SELECT count(*) FROM runs") == 299


def test_a_log_is_taken_over(study: Study) -> None:
    with study.writing(keep_log=True) as writer:
        arrow_rows.insert(writer, "store.run", rows_of(range(300, 303)))
    study.compact()
    assert names(study) == {DATABASE, "study.toml"}
    with study.reading() as reader:
        assert reader.value("SELECT count(*) FROM runs") == 303


def test_leftovers_of_a_killed_process_are_removed(study: Study) -> None:
    secret = b"what somebody wrote"
    for name in (".compact.new", ".compact.new.wal"):
        study.database.with_name(DATABASE + name).write_bytes(secret)
    spilled = study.database.with_name(f"{DATABASE}.tmp")
    spilled.mkdir()
    (spilled / "duckdb_temp_storage-0.tmp").write_bytes(secret)
    study.compact()
    assert names(study) == {DATABASE, "study.toml"}


def test_the_file_behind_a_link_is_replaced_and_keeps_its_permissions(
    study: Study, tmp_path: Path
) -> None:
    target = tmp_path / "elsewhere" / "data.duckdb"
    target.parent.mkdir()
    study.database.rename(target)
    target.chmod(0o640)
    study.database.symlink_to(target)
    secret = noise("command 1").encode()
    with study.writing() as writer:
        writer.execute("DELETE FROM store.run WHERE run_id = 'run 000001'")
    study.compact()
    assert study.database.is_symlink()
    assert secret not in target.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(target.parent.iterdir()) == [target]


def test_where_there_is_no_study_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="there is no study in"):
        Study(tmp_path / "none").compact()
    assert not (tmp_path / "none").exists()


def test_a_copy_that_lacks_something_never_takes_the_place(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(study)
    monkeypatch.setattr("faultatlas.data.study._same", lambda _connection: lambda *_names: False)
    inode = study.database.stat().st_ino
    with pytest.raises(StudyError, match="not the same"):
        study.compact()
    assert study.database.stat().st_ino == inode
    assert names(study) == {DATABASE, "study.toml"}
    assert everything(study) == before


def test_a_copy_needs_no_log_though_its_connection_keeps_one(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "old.duckdb")) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("CREATE TABLE numbers AS SELECT range AS number FROM range(10)")
        database.write_copy(connection.execute, tmp_path / "new.duckdb", lambda *_names: True)
    assert not (tmp_path / "new.duckdb.wal").exists()
    with duckdb.connect(str(tmp_path / "new.duckdb")) as copy:
        assert copy.execute("SELECT count(*) FROM numbers").fetchone() == (10,)


# Killed before or after any step, counted as the statements and the renaming of it.
_KILLED = """
import os, signal, sys
from pathlib import Path
from faultatlas.data import database
from faultatlas.data.study import Study

step, when = int(sys.argv[2]), sys.argv[3]
count = 0

def steps(act):
    def wrapped(*arguments):
        global count
        count += 1
        if count == step and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = act(*arguments)
        if count == step and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    return wrapped

write_copy = database.write_copy
database.write_copy = lambda execute, draft, same: write_copy(steps(execute), draft, same)
Path.replace = steps(Path.replace)
Study(Path(sys.argv[1])).compact()
print(count, flush=True)
"""


def test_killed_at_any_step_the_study_is_the_old_or_the_new_file(
    study: Study, start: Start
) -> None:
    with study.writing() as writer:
        writer.execute("DELETE FROM store.run WHERE run_id > 'run 000100'")
    before = everything(study)
    said, _ = start("compact.py", _KILLED, study.directory, 0, "never").communicate()
    total = int(said)
    assert total >= 8
    replaced = 0
    moments = [(3, "before"), (3, "after"), (4, "after"), (5, "after"), (6, "after")]
    for step, when in [*moments, (total, "before"), (total, "after")]:
        inode = study.database.stat().st_ino
        process = start("compact.py", _KILLED, study.directory, step, when)
        assert process.wait() == -9
        replaced += study.database.stat().st_ino != inode
        assert everything(Study(study.directory)) == before, (step, when)
    assert replaced == 1  # killed behind the renaming, and nowhere else
    study.compact()
    assert names(study) == {DATABASE, "study.toml"}


_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
study = Study(Path(sys.argv[1]))
with study.reading():
    pass
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    study.compact()
except StudyError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [5_000, 300_000])
def test_on_a_full_disk_the_study_stays_as_it_is(study: Study, start: Start, limit: int) -> None:
    before = everything(study)
    said, _ = start("compact.py", _FULL_DISK, study.directory, limit).communicate()
    assert said.startswith("no room left to write")
    assert everything(Study(study.directory)) == before
    assert not list(study.directory.glob("*.new*"))


# Others go on meanwhile

_WRITER = """
import sys
from pathlib import Path
from faultatlas.data.study import Study
study = Study(Path(sys.argv[1]), sleep=lambda _seconds: None)
for number in range(int(sys.argv[2])):
    with study.writing(keep_log=True) as writer:
        writer.execute("INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')",
                       [f"written {number}"])
print("done", flush=True)
"""


def test_what_another_process_writes_meanwhile_is_not_lost(study: Study, start: Start) -> None:
    process = start("fetch.py", _WRITER, study.directory, 12)
    while process.poll() is None:
        Study(study.directory, sleep=lambda _seconds: None).compact()
    assert process.returncode == 0
    with study.reading() as reader:
        assert reader.value("SELECT count(*) FROM runs WHERE run_id LIKE 'written%'") == 12


# A copy elsewhere


def test_a_copy_is_the_study_and_whole_by_itself(study: Study, tmp_path: Path) -> None:
    with study.writing(keep_log=True) as writer:
        arrow_rows.insert(writer, "store.run", rows_of(range(300, 303)))
    log = study.database.with_name(f"{DATABASE}.wal")
    assert log.exists()
    folder = tmp_path / "copy"
    folder.mkdir()
    study.copy_to(folder / DATABASE)
    assert [path.name for path in folder.iterdir()] == [DATABASE]
    assert log.exists()
    assert everything(Study(folder)) == everything(study)


def test_it_is_copied_while_somebody_reads(study: Study, start: Start, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from faultatlas.data.study import Study
with Study(Path(sys.argv[1])).reading():
    print("reading", flush=True)
    sys.stdin.read()
"""
    process = start("reader.py", code, study.directory)
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    study.copy_to(tmp_path / "copy.duckdb")
    assert process.poll() is None
    assert (tmp_path / "copy.duckdb").stat().st_size > 0

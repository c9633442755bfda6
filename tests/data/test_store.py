"""A study on disk: made once, written all or nothing, unharmed by what goes wrong."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from subprocess import Popen
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.settings import SETTINGS
from faultatlas.data.study import DATABASE, Study, Writer

pytestmark = [pytest.mark.usual_making, pytest.mark.usual_opening]

MOMENT = datetime(2024, 2, 29, 23, 59, 59, 123456)  # noqa: DTZ001  (stored as UTC without a zone)
HEADER = 4096  # bytes of each of the three headers of a DuckDB file
law = settings(max_examples=12)

Start = Callable[..., "Popen[str]"]


def add_run(writer: Writer, run_id: str, command: str = "miner fetch") -> None:
    writer.execute(
        "INSERT INTO store.run VALUES (?, ?, '{}', '0', ?, NULL, 'ok')", [run_id, command, MOMENT]
    )


def runs_of(number: int) -> pa.Table:
    """Rows whose text does not compress, 800 bytes each."""
    names = [f"run {i:06}" for i in range(number)]
    return pa.table(
        {
            "run_id": names,
            "command": [hashlib.shake_256(name.encode()).hexdigest(400) for name in names],
            "arguments": ["{}"] * number,
            "version": ["0"] * number,
            "started_at": [MOMENT] * number,
            "outcome": ["ok"] * number,
        }
    )


def run_ids(study: Study) -> list[str]:
    with study.reading() as reader:
        return [row["run_id"] for row in reader.rows("SELECT run_id FROM runs ORDER BY run_id")]


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with one run in it."""
    study = Study(tmp_path / "study")
    with study.writing() as writer:
        add_run(writer, "old")
    return study


# Making one


def test_the_first_writing_makes_the_study_and_says_so(tmp_path: Path) -> None:
    told: list[str] = []
    directory = tmp_path / "not" / "yet"
    study = Study(directory, tell=told.append)
    with study.writing() as writer:
        add_run(writer, "first")
    assert told == [f"new study in {directory}"]
    assert study.exists
    assert study.database == directory / DATABASE
    assert "# Choices of this study" in (directory / SETTINGS).read_text(encoding="utf-8")
    assert set(contents(directory)) <= {SETTINGS, DATABASE, f"{DATABASE}.wal"}

    again = Study(directory, tell=told.append)
    with again.writing() as writer:
        add_run(writer, "second")
    assert len(told) == 1
    assert run_ids(again) == ["first", "second"]


def test_opening_one_touches_nothing(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    assert not study.exists
    assert list(tmp_path.iterdir()) == []


def test_reading_where_there_is_none_names_the_next_step_and_makes_nothing(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    with pytest.raises(StudyError, match="there is no study in") as raised, study.reading():
        pass
    assert "--study" in raised.value.hint
    assert list(tmp_path.iterdir()) == []


def test_settings_that_are_there_stay(tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_text('[study]\ntitle = "Mine"\n', encoding="utf-8")
    with Study(tmp_path).writing():
        pass
    assert (tmp_path / SETTINGS).read_text(encoding="utf-8") == '[study]\ntitle = "Mine"\n'


def test_a_file_system_without_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_paths: Path) -> None:
        raise PermissionError(1, "Operation not permitted")  # what exFAT says

    monkeypatch.setattr(os, "link", refuse)
    with Study(tmp_path).writing() as writer:
        add_run(writer, "first")
    assert run_ids(Study(tmp_path)) == ["first"]
    assert not list(tmp_path.glob("*.new"))


# All or nothing


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, StudyError, SystemExit])
def test_an_exception_inside_a_transaction_leaves_no_row(
    study: Study, kind: type[BaseException]
) -> None:
    def write_and_fail() -> None:
        with study.writing() as writer:
            add_run(writer, "new")
            arrow_rows.insert(writer, "store.run", runs_of(10))
            raise kind("no")

    with pytest.raises(kind, match="no"):
        write_and_fail()
    assert run_ids(study) == ["old"]


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ({"run_id": ["new", "new"]}, duckdb.ConstraintException),
        ({"run_id": ["new"], "nonsense": [1]}, duckdb.BinderException),
        ({"run_id": ["new"], "started_at": ["yesterday"]}, duckdb.ConversionException),
    ],
)
def test_a_batch_that_does_not_fit_leaves_no_row_and_says_why(
    study: Study, batch: dict[str, list[Any]], expected: type[duckdb.Error]
) -> None:
    fitting = runs_of(len(batch["run_id"])).to_pydict()
    with pytest.raises(expected), study.writing() as writer:
        arrow_rows.insert(writer, "store.run", pa.table({**fitting, **batch}))
    assert run_ids(study) == ["old"]


def test_words_of_the_data_are_not_taken_for_an_error_of_the_disk(study: Study) -> None:
    title = "No space left on device"
    with study.writing() as writer:
        add_run(writer, title)
    with pytest.raises(duckdb.ConstraintException, match=title), study.writing() as writer:
        add_run(writer, title)


def test_a_killed_process_leaves_what_it_had_committed(study: Study, start: Start) -> None:
    code = """
import sys
from pathlib import Path
from faultatlas.data.study import Study
study = Study(Path(sys.argv[1]))
row = "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')"
with study.writing() as writer:
    writer.execute(row, ["committed"])
with study.writing() as writer:
    writer.execute(row, ["never committed"])
    print("inside", flush=True)
    sys.stdin.read()
"""
    process = start("fetch.py", code, study.directory)
    assert process.stdout is not None
    assert process.stdout.readline() == "inside\n"
    process.kill()
    process.wait()
    assert run_ids(study) == ["committed", "old"]


# Rows and types


def test_a_row_is_new_or_takes_the_place_of_the_one_with_its_key(study: Study) -> None:
    def put(writer: Writer, project: str, requests: int, **first: int) -> None:
        key = {"run_id": "r", "project": project}
        writer.put("store.traffic", key, {"requests": requests, "waited_s": 0.5}, first)

    with study.writing() as writer:
        put(writer, "a", 1, not_modified=7)
        put(writer, "b", 2, not_modified=8)
        put(writer, "a", 3, not_modified=9)  # in the same transaction
    with study.writing() as writer:
        put(writer, "b", 4, not_modified=9)
    with study.reading() as reader:
        rows = reader.rows("SELECT project, requests, not_modified FROM store.traffic ORDER BY ALL")
    assert [tuple(row.values()) for row in rows] == [("a", 3, 7), ("b", 4, 8)]


def test_types_survive_a_batch(study: Study) -> None:
    rows = [
        {
            "text": "naïve Größe 数据 🔥 e\u0301 \u202eright to left",
            "moment": MOMENT,
            "whole": 2**62,
            "real": 0.1,
            "truth": True,
            "document": json.dumps({"ключ": [1, None, "é"]}, ensure_ascii=False),
            "list": ["a", "", None],
        },
        {
            "text": "'; DROP TABLE store.run; --\n\t\"\\",
            "moment": datetime(1970, 1, 1),  # noqa: DTZ001  (as above)
            "whole": -1,
            "real": -1.5e300,
            "truth": False,
            "document": "null",
            "list": [],
        },
        dict.fromkeys(("text", "moment", "whole", "real", "truth", "document", "list")),
    ]
    columns = (
        "text VARCHAR, moment TIMESTAMP, whole BIGINT, real DOUBLE, truth BOOLEAN, "
        "document JSON, list VARCHAR[]"
    )
    with study.writing() as writer:
        writer.execute(f"CREATE TABLE store.everything ({columns})")
        assert arrow_rows.insert(writer, "store.everything", pa.Table.from_pylist(rows)) == 3
        assert (
            arrow_rows.insert(writer, "store.everything", pa.Table.from_pylist(rows).slice(3)) == 0
        )
    with study.reading() as reader:
        assert reader.rows("SELECT * FROM store.everything") == rows
        assert reader.arrow("SELECT * FROM store.everything").to_pylist() == rows
        assert reader.value("SELECT document->>'$.ключ[2]' FROM store.everything") == "é"
        assert reader.value("SELECT text FROM store.everything WHERE whole = ?", [7]) is None


def test_any_text_survives_a_batch(study: Study) -> None:
    with study.writing() as writer:
        writer.execute("CREATE TABLE store.line (position INTEGER, text VARCHAR)")

    @law
    @given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), max_size=50))
    def survives(texts: list[str | None]) -> None:
        batch = pa.table({"position": range(len(texts)), "text": pa.array(texts, pa.string())})
        with study.writing() as writer:
            writer.execute("DELETE FROM store.line")
            arrow_rows.insert(writer, "store.line", batch)
        with study.reading() as reader:
            rows = reader.rows("SELECT text FROM store.line ORDER BY position")
        assert [row["text"] for row in rows] == texts

    survives()


def test_columns_are_matched_by_name_and_missing_ones_are_null(study: Study) -> None:
    batch = runs_of(1)
    with study.writing() as writer:
        arrow_rows.insert(
            writer, "store.run", batch.select(sorted(batch.column_names, reverse=True))
        )
    with study.reading() as reader:
        [row] = reader.rows("SELECT * FROM runs WHERE run_id = 'run 000000'")
    assert row == {**batch.to_pylist()[0], "ended_at": None}


def test_a_time_with_a_zone_is_stored_as_utc_wherever_the_program_runs(
    tmp_path: Path, start: Start
) -> None:
    code = """
import os, sys, time
from datetime import UTC, datetime
from pathlib import Path
os.environ["TZ"] = "Asia/Kolkata"
time.tzset()
from faultatlas.data.study import Study
with Study(Path(sys.argv[1])).writing() as writer:
    moment = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
    writer.insert("rater", {"rater": ["ann"], "added_at": [moment], "run_id": ["r"]})
    writer.execute("INSERT INTO store.rater VALUES ('ben', ?, 'r')", [moment])
"""
    process = start("fetch.py", code, tmp_path / "study")
    assert process.wait() == 0
    with Study(tmp_path / "study").reading() as reader:
        moments = reader.rows("SELECT DISTINCT added_at FROM raters")
    assert moments == [{"added_at": datetime(2024, 3, 1, 12, 0)}]  # noqa: DTZ001  (as above)


# What goes wrong


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of several megabytes, all of it in the file itself and nothing in the log."""
    directory = tmp_path_factory.mktemp("large")
    with Study(directory).writing() as writer:
        arrow_rows.insert(writer, "store.run", runs_of(3000))
    with closing(duckdb.connect(str(directory / DATABASE))) as connection:
        connection.execute("CHECKPOINT")
    assert set(contents(directory)) == {SETTINGS, DATABASE}
    return directory


def not_duckdb(database: Path) -> None:
    database.write_text("run_id,command\n1,miner fetch\n" * 1000, encoding="utf-8")


def empty(database: Path) -> None:
    database.write_bytes(b"")


def sqlite(database: Path) -> None:
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE run (run_id TEXT)")


def cut_in_the_header(database: Path) -> None:
    os.truncate(database, 2 * HEADER)


def cut_by_half(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def zero(database: Path, position: int, size: int = HEADER) -> None:
    with database.open("r+b") as file:
        file.seek(position)
        file.write(bytes(size))


def first_header_zeroed(database: Path) -> None:
    zero(database, 0)


def both_root_headers_zeroed(database: Path) -> None:
    zero(database, HEADER, 2 * HEADER)


def a_block_of_rows_zeroed(database: Path) -> None:
    with closing(duckdb.connect(str(database), read_only=True)) as connection:
        found = connection.execute(
            "SELECT max(block_id), any_value(block_size) "
            "FROM pragma_storage_info('store.run'), pragma_database_size()"
        ).fetchone()
    assert found is not None
    zero(database, 3 * HEADER + found[0] * found[1])


@pytest.mark.parametrize("opened", ["reading", "writing"])
@pytest.mark.parametrize(
    "damage",
    [
        not_duckdb,
        empty,
        sqlite,
        cut_in_the_header,
        cut_by_half,
        first_header_zeroed,
        both_root_headers_zeroed,
        a_block_of_rows_zeroed,
    ],
)
def test_a_damaged_file_is_named_and_left_as_it_is(
    large: Path, tmp_path: Path, damage: Callable[[Path], None], opened: str
) -> None:
    directory = tmp_path / "study"
    shutil.copytree(large, directory)
    damage(directory / DATABASE)
    before = contents(directory)
    study = Study(directory)
    with (
        pytest.raises(StudyError, match="is damaged, or is not a DuckDB file") as raised,
        getattr(study, opened)() as reader,
    ):
        reader.rows("SELECT * FROM runs")  # which may be what finds it
    assert str(study.database) in raised.value.message
    assert "Put a copy of it back" in raised.value.hint
    assert contents(directory) == before


def test_a_damaged_log_is_named_and_left_as_it_is(study: Study) -> None:
    with study.writing(keep_log=True) as writer:
        provenance.record(writer, provenance.begin("test", {}), "ok")
    log = study.directory / f"{DATABASE}.wal"
    zero(log, log.stat().st_size // 3, 100)
    before = contents(study.directory)
    with pytest.raises(StudyError, match="is damaged"), Study(study.directory).writing():
        pass
    assert contents(study.directory) == before


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that every user can reach; pytest's own are closed to others."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


UNPRIVILEGED = """
import os, sys
from pathlib import Path
import duckdb
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import schema
from faultatlas.data.study import Study
study = Study(Path(sys.argv[1]), tell=print)
schema()  # later nobody may read this program
if os.getuid() == 0:  # for whom permissions do not count
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    with getattr(study, sys.argv[2])() as reader:
        print(reader.value("SELECT min(run_id) FROM runs"))
except StudyError as error:
    print(error)
"""


@pytest.mark.parametrize("folder", ["", "study"])
def test_a_folder_that_must_not_be_written_stays_empty(
    reachable: Path, start: Start, folder: str
) -> None:
    reachable.chmod(0o555)
    process = start("fetch.py", UNPRIVILEGED, reachable / folder, "writing")
    said, _ = process.communicate()
    assert "cannot be written: no permission" in said
    assert "--study DIR" in said
    assert "new study" not in said
    assert list(reachable.iterdir()) == []


@pytest.mark.parametrize(("opened", "expected"), [("reading", "old\n"), ("writing", "cannot be")])
def test_a_study_that_must_not_be_written_can_be_read(
    reachable: Path, start: Start, opened: str, expected: str
) -> None:
    with Study(reachable).writing() as writer:
        add_run(writer, "old")
    before = contents(reachable)
    for path in (*reachable.iterdir(), reachable):
        path.chmod(0o555 if path.is_dir() else 0o444)
    said, _ = start("status.py", UNPRIVILEGED, reachable, opened).communicate()
    assert expected in said
    assert contents(reachable) == before


FULL_DISK = """
import resource, signal, sys
from datetime import datetime
from pathlib import Path
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
directory, limit, number = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
names = [f"new {i}" for i in range(number)]
batch = {
    "run_id": names, "command": [name * 100 for name in names], "arguments": ["{}"] * number,
    "version": names, "started_at": [datetime(1970, 1, 1)] * number, "outcome": names,
}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with Study(directory).writing() as writer:
        writer.insert("run", batch)
    print("written")
except StudyError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("limit", "number"),
    [
        (40_000, 100),  # no room for the log
        (300_000, 20_000),  # nor for the blocks that a large batch writes at once
        (600_000, 130_000),  # the insert itself fails, not the commit
    ],
)
def test_a_full_disk_loses_nothing_that_was_there(
    study: Study, start: Start, limit: int, number: int
) -> None:
    said, _ = start("fetch.py", FULL_DISK, study.directory, limit, number).communicate()
    assert said.startswith(f"no room left to write {study.database}\n")
    assert "Free disk space" in said
    assert run_ids(Study(study.directory)) == ["old"]
    with Study(study.directory).writing() as writer:
        add_run(writer, "room again")
    assert run_ids(study) == ["old", "room again"]


@pytest.mark.parametrize("limit", [100, 2 * HEADER, 3 * HEADER])
def test_a_disk_that_is_full_at_once_leaves_no_broken_study(
    tmp_path: Path, start: Start, limit: int
) -> None:
    directory = tmp_path / "study"
    said, _ = start("fetch.py", FULL_DISK, directory, limit, 1).communicate()
    assert said.startswith(f"no room left to write {directory / DATABASE}\n")
    assert not list(directory.glob("*.new"))
    with Study(directory).writing() as writer:
        add_run(writer, "room again")
    assert run_ids(Study(directory)) == ["room again"]
    assert "# Choices of this study" in (directory / SETTINGS).read_text(encoding="utf-8")


def test_the_database_file_alone_is_the_whole_study(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    run = provenance.begin("test", {})
    with study.writing(keep_log=True) as writer:
        provenance.record(writer, run, "running")
    with study.writing() as writer:
        provenance.record(writer, run, "ok")
    copied = tmp_path / "copy" / DATABASE
    copied.parent.mkdir()
    copied.write_bytes(study.database.read_bytes())
    with Study(copied.parent).reading() as reader:
        assert reader.value("SELECT outcome FROM runs") == "ok"


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mine (number INTEGER)")
    before = contents(tmp_path)
    with pytest.raises(StudyError, match="not a faultatlas study"), Study(tmp_path).reading():
        pass
    with pytest.raises(StudyError, match="not a faultatlas study"), Study(tmp_path).writing():
        pass
    assert contents(tmp_path) == before


def test_reading_does_not_turn_an_empty_database_into_a_study(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / DATABASE)).close()
    with pytest.raises(StudyError, match="not a faultatlas study"), Study(tmp_path).reading():
        pass


def test_a_study_behind_a_dead_link_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / DATABASE).symlink_to(tmp_path / "gone.duckdb")
    with pytest.raises(StudyError, match="leads nowhere"), Study(tmp_path).writing():
        pass
    assert [path.name for path in tmp_path.iterdir()] == [DATABASE]


def test_a_path_that_is_no_text_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / os.fsdecode(b"a\xffb")
    with pytest.raises(StudyError, match="cannot be written as UTF-8"), Study(directory).writing():
        pass
    assert not directory.exists()


@pytest.mark.skipif(os.name != "posix", reason="a backslash is a separator here")
def test_a_path_with_a_backslash_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(StudyError, match="contains a backslash"),
        Study(tmp_path / "a\\b").writing(),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_a_study_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudyError, match="is a file"), Study(tmp_path / "file").writing():
        pass

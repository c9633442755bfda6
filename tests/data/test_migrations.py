"""The schema: built in numbered steps, the same for an old study and a new one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from subprocess import Popen
from typing import Any

import duckdb
import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.migration import Migration, shipped_migrations
from faultatlas.data.store import Study, Writer

pytestmark = pytest.mark.usual_study

SHIPPED = shipped_migrations()
NEWEST = SHIPPED[-1].number
NEXT = Migration(NEWEST + 1, "from_the_future", "CREATE TABLE store.future (run_id VARCHAR);")
BROKEN = Migration(
    NEWEST + 1,
    "broken",
    "CREATE TABLE store.half (run_id VARCHAR); "
    "CREATE VIEW halves AS SELECT run_id FROM store.half; "
    "UPDATE store.run SET command = 'changed'; "
    "INSERT INTO store.half SELECT run_id FROM store.nowhere;",
)

Start = Callable[..., "Popen[str]"]


def add_run(writer: Writer, run_id: str) -> None:
    writer.execute(
        "INSERT INTO store.run VALUES (?, 'miner fetch', '{}', '0', now(), NULL, 'ok')", [run_id]
    )


def old_study(directory: Path) -> Study:
    """As the first version of the program left it, with one run."""
    study = Study(directory, migrations=SHIPPED[:1])
    with study.writing() as writer:
        add_run(writer, "old")
    return study


def schema(study: Study) -> dict[str, list[dict[str, Any]]]:
    """All that DuckDB knows of our tables and views, but for its own numbering."""
    with study.reading() as reader:
        return {
            "tables": reader.rows(
                "SELECT schema_name, table_name, sql, comment FROM duckdb_tables() "
                "WHERE NOT internal ORDER BY ALL"
            ),
            "views": reader.rows(
                "SELECT schema_name, view_name, sql, comment FROM duckdb_views() "
                "WHERE NOT internal ORDER BY ALL"
            ),
            "columns": reader.rows(
                "SELECT schema_name, table_name, column_index, column_name, data_type, "
                "is_nullable, column_default, comment FROM duckdb_columns() "
                "WHERE NOT internal ORDER BY ALL"
            ),
            "constraints": reader.rows(
                "SELECT schema_name, table_name, constraint_text FROM duckdb_constraints() "
                "ORDER BY ALL"
            ),
        }


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study(tmp_path_factory.mktemp("new"))
    with study.writing():
        pass
    return study


@pytest.fixture(scope="module")
def new_schema(new: Study) -> dict[str, list[dict[str, Any]]]:
    return schema(new)


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """The folder of a study with one run, as the program left it that knew so many steps."""

    @cache
    def made(steps: int) -> Path:
        old = Study(tmp_path_factory.mktemp("old"), migrations=SHIPPED[:steps])
        with old.writing() as writer:
            add_run(writer, "old")
        assert old.schema_version() == steps
        return old.directory

    return made


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


# Steps


def test_the_steps_are_numbered_without_gaps_and_every_file_is_one() -> None:
    assert [migration.number for migration in SHIPPED] == list(range(1, len(SHIPPED) + 1))
    there = [entry.name for entry in files("faultatlas.data").joinpath("migrations").iterdir()]
    assert len([name for name in there if name.endswith(".sql")]) == len(SHIPPED)


def test_a_checksum_does_not_depend_on_line_ends() -> None:
    unix, windows = (Migration(1, "x", f"SELECT 1;{end}SELECT 2;{end}") for end in ("\n", "\r\n"))
    assert unix.checksum == windows.checksum
    assert unix.checksum != Migration(1, "x", "SELECT 1;\nSELECT 3;\n").checksum


def test_each_step_is_recorded_with_its_checksum(tmp_path: Path) -> None:
    study = Study(tmp_path)
    with study.writing():
        pass
    with study.reading() as reader:
        rows = reader.rows("SELECT * FROM store.schema_migration ORDER BY number")
    assert [(row["number"], row["name"], row["checksum"]) for row in rows] == [
        (migration.number, migration.name, migration.checksum) for migration in SHIPPED
    ]
    assert all(isinstance(row["applied_at"], datetime) for row in rows)
    assert study.schema_version() == NEWEST


# Old studies


@pytest.mark.parametrize("opened", ["reading", "writing"])
@pytest.mark.parametrize("steps", range(1, len(SHIPPED)))
def test_an_old_study_becomes_like_a_new_one_and_keeps_its_rows(
    tmp_path: Path,
    steps: int,
    opened: str,
    left_behind: Callable[[int], Path],
    new_schema: dict[str, list[dict[str, Any]]],
) -> None:
    upgraded = Study(Path(shutil.copytree(left_behind(steps), tmp_path / "old")))
    with getattr(upgraded, opened)() as reader:
        assert reader.value("SELECT run_id FROM runs") == "old"
    assert upgraded.schema_version() == NEWEST
    assert schema(upgraded) == new_schema


def test_an_up_to_date_study_is_not_written_when_it_is_read(tmp_path: Path) -> None:
    with Study(tmp_path).writing() as writer:
        add_run(writer, "old")
    before = contents(tmp_path)
    with Study(tmp_path).reading() as reader:
        assert reader.value("SELECT run_id FROM runs") == "old"
    assert contents(tmp_path) == before


# What goes wrong


@pytest.mark.parametrize("known", [SHIPPED[:1], SHIPPED])
def test_a_step_that_fails_half_way_leaves_nothing_of_itself(
    tmp_path: Path,
    known: tuple[Migration, ...],
    new_schema: dict[str, list[dict[str, Any]]],
) -> None:
    study = Study(tmp_path / "study", migrations=known)
    with study.writing() as writer:
        add_run(writer, "old")
    failing = Study(tmp_path / "study", migrations=[*SHIPPED, BROKEN, NEXT])
    for _attempt in range(2):
        with pytest.raises(duckdb.CatalogException, match="nowhere"), failing.writing():
            pass

    sound = Study(tmp_path / "study")
    with sound.reading() as reader:
        assert reader.rows("SELECT run_id, command FROM runs") == [
            {"run_id": "old", "command": "miner fetch"}
        ]
    assert sound.schema_version() == NEWEST
    assert schema(sound) == new_schema


@pytest.mark.parametrize("opened", ["reading", "writing"])
def test_a_study_of_a_newer_program_is_refused_and_left_as_it_is(
    tmp_path: Path, opened: str
) -> None:
    with Study(tmp_path, migrations=[*SHIPPED, NEXT]).writing() as writer:
        add_run(writer, "from the future")
    before = contents(tmp_path)
    with (
        pytest.raises(StudyError, match="was written by a newer faultatlas") as raised,
        getattr(Study(tmp_path), opened)(),
    ):
        pass
    assert f"schema {NEXT.number}, this one knows {NEWEST}" in raised.value.message
    assert "Upgrade faultatlas" in raised.value.hint
    assert contents(tmp_path) == before


@pytest.mark.parametrize("opened", ["reading", "writing"])
def test_a_changed_step_is_refused_and_the_study_left_as_it_is(tmp_path: Path, opened: str) -> None:
    old_study(tmp_path)
    before = contents(tmp_path)
    changed = Migration(1, SHIPPED[0].name, SHIPPED[0].sql + "\n-- corrected a spelling mistake\n")
    study = Study(tmp_path, migrations=[changed, *SHIPPED[1:]])
    with (
        pytest.raises(StudyError, match=f"another migration 1 .*{changed.name}") as raised,
        getattr(study, opened)(),
    ):
        pass
    assert "Nothing was changed" in raised.value.hint
    assert contents(tmp_path) == before


# Two at once

TWIN = """
import sys
from pathlib import Path
import duckdb
from faultatlas.data.store import Study
print("ready", flush=True)
sys.stdin.readline()
study = Study(Path(sys.argv[1]), tell=print)
with study.writing() as writer:
    writer.execute(
        "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')", [sys.argv[2]]
    )
"""


@pytest.mark.parametrize("make", [None, old_study])
def test_two_processes_may_make_or_upgrade_a_study_at_the_same_time(
    tmp_path: Path, start: Start, make: Callable[[Path], Study] | None
) -> None:
    directory = tmp_path / "study"
    if make:
        make(directory)
    twins = [start("twin.py", TWIN, directory, name) for name in ("one", "two")]
    for twin in twins:
        assert twin.stdout is not None
        assert twin.stdout.readline() == "ready\n"
    for twin in twins:
        assert twin.stdin is not None
        twin.stdin.write("\n")
        twin.stdin.flush()
    said = [twin.communicate()[0] for twin in twins]
    assert [twin.returncode for twin in twins] == [0, 0]
    assert "".join(said).count("new study") == (0 if make else 1)

    study = Study(directory)
    with study.reading() as reader:
        rows = reader.rows("SELECT run_id FROM runs ORDER BY run_id")
        steps = reader.rows("SELECT number FROM store.schema_migration ORDER BY number")
    assert [row["run_id"] for row in rows] == [*(["old"] if make else []), "one", "two"]
    assert [row["number"] for row in steps] == [migration.number for migration in SHIPPED]
    assert not list(directory.glob("*.new"))


# The views are an interface


def test_every_column_of_every_view_can_be_selected_by_its_bare_name(new: Study) -> None:
    with new.reading() as reader:
        columns = reader.rows(
            "SELECT view_name, column_name FROM duckdb_views() "
            "JOIN duckdb_columns() ON table_oid = view_oid "
            "WHERE NOT duckdb_views.internal ORDER BY ALL"
        )
        for column in columns:
            reader.rows(f"SELECT {column['column_name']} FROM {column['view_name']}")
            reader.rows("SELECT v.{column_name} AS x FROM {view_name} AS v".format(**column))
        views = {column["view_name"] for column in columns}
        for view in views:
            names = [row["column_name"] for row in columns if row["view_name"] == view]
            reader.rows(f"SELECT {', '.join(names)} FROM {view} ORDER BY {', '.join(names)}")
    assert {"runs", "final_labels", "results", "claims"} <= views
    names = views | {column["column_name"] for column in columns}
    assert [name for name in names if not name.isidentifier() or name != name.lower()] == []


def test_every_view_and_every_column_has_a_comment(new: Study) -> None:
    described = schema(new)
    views = [row for row in described["views"] if row["schema_name"] == "main"]
    names = {view["view_name"] for view in views}
    columns = [row for row in described["columns"] if row["table_name"] in names]
    assert len(columns) > len(views) > 0
    assert [view["view_name"] for view in views if not view["comment"]] == []
    assert [
        (column["table_name"], column["column_name"]) for column in columns if not column["comment"]
    ] == []


def test_users_see_only_views_and_tables_stay_in_their_own_schema(new: Study) -> None:
    described = schema(new)
    assert {table["schema_name"] for table in described["tables"]} == {"store"}
    assert {view["schema_name"] for view in described["views"]} == {"main"}


# Rows that are written together with another one, which names the run, and the column that leads
# to it. Views show it for both.
PARTS = {
    "commit_file": ("commit_diff", "artifact_id"),
    "commit_hunk": ("commit_diff", "artifact_id"),
    "commit_function": ("commit_diff", "artifact_id"),
    "funnel_count": ("funnel_step", "step"),
    "funnel_member": ("funnel_step", "step"),
    "reference": ("link_read", "text_id"),
}


def test_every_row_names_the_run_that_wrote_it(new: Study) -> None:
    described = schema(new)
    tables = {table["table_name"] for table in described["tables"]} - {"schema_migration"}
    views = {view["view_name"] for view in described["views"]}
    columns = [row for row in described["columns"] if row["column_name"] == "run_id"]
    assert {row["table_name"] for row in columns} >= tables - PARTS.keys() | views
    required = {row["table_name"] for row in columns if not row["is_nullable"]}
    assert required >= tables - PARTS.keys()
    named = {
        (row["table_name"], row["column_name"])
        for row in described["columns"]
        if not row["is_nullable"]
    }
    for part, (whole, key) in PARTS.items():
        assert {(part, key), (whole, key)} <= named

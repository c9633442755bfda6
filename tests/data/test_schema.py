"""The schema: declared once, and a database that does not have it is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import duckdb
import pytest

from faultatlas.data import schema as schema_module
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study, Writer

pytestmark = [pytest.mark.usual_making, pytest.mark.usual_opening]

Start = Callable[..., "Popen[str]"]


def add_run(writer: Writer, run_id: str) -> None:
    writer.execute(
        "INSERT INTO store.run VALUES (?, 'miner fetch', '{}', '0', now(), NULL, 'ok')", [run_id]
    )


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


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


# Databases of others


def test_an_up_to_date_study_is_not_written_when_it_is_read(tmp_path: Path) -> None:
    with Study(tmp_path).writing() as writer:
        add_run(writer, "old")
    before = contents(tmp_path)
    with Study(tmp_path).reading() as reader:
        assert reader.value("SELECT run_id FROM runs") == "old"
    assert contents(tmp_path) == before


ALTERED = {
    "another view": ("CREATE VIEW mine AS SELECT 1", "the view mine is not part of it"),
    "a view of the same name": (
        "CREATE OR REPLACE VIEW papers AS SELECT 1 AS artifact_id",
        "the view papers is defined differently",
    ),
    "a view that is missing": ("DROP VIEW issues", "the view issues is missing"),
    "another table": ("CREATE TABLE mine (x INTEGER)", "the table mine is not part of it"),
    "a column": (
        "ALTER TABLE store.rater ADD COLUMN x INTEGER",
        "the table store.rater is defined",
    ),
    "a column that is missing": (
        "ALTER TABLE store.gate DROP COLUMN cause",
        "the table store.gate",
    ),
    "a macro": ("CREATE MACRO coalesce(a, b) AS 'x'", "the function coalesce is not part"),
    "an index": ("CREATE INDEX mine ON store.item (round)", "the index store.mine is not part"),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON store.run FOR EACH STATEMENT DELETE FROM store.answer",
        "the trigger store.t is not part of it",
    ),
    "an earlier version": (
        "CREATE TABLE store.schema_migration (number INTEGER)",
        "an earlier development version",
    ),
    "a newer version": (
        "CREATE TABLE store.more (x INTEGER); UPDATE store.schema_version SET version = 99",
        "was written by a newer faultatlas",
    ),
    "another program's": (
        "DROP SCHEMA store CASCADE",
        "is not a faultatlas study",
    ),
}


@pytest.mark.parametrize("opened", ["reading", "writing"])
@pytest.mark.parametrize(("change", "message"), ALTERED.values(), ids=ALTERED)
def test_a_database_with_another_schema_is_refused_and_left_as_it_is(
    tmp_path: Path, opened: str, change: str, message: str
) -> None:
    with Study(tmp_path).writing() as writer:
        add_run(writer, "old")
    with duckdb.connect(str(tmp_path / "study.duckdb")) as connection:
        connection.execute(change)
    before = contents(tmp_path)
    with pytest.raises(StudyError, match=message) as raised, getattr(Study(tmp_path), opened)():
        pass
    assert "Nothing was changed." in raised.value.hint
    assert contents(tmp_path) == before


# Two at once

TWIN = """
import sys
from pathlib import Path
import duckdb
from faultatlas.data.study import Study
print("ready", flush=True)
sys.stdin.readline()
study = Study(Path(sys.argv[1]), tell=print)
with study.writing() as writer:
    writer.execute(
        "INSERT INTO store.run VALUES (?, 'x', '{}', '0', now(), NULL, 'ok')", [sys.argv[2]]
    )
"""


def test_two_processes_may_make_a_study_at_the_same_time(tmp_path: Path, start: Start) -> None:
    directory = tmp_path / "study"
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
    assert "".join(said).count("new study") == 1

    study = Study(directory)
    with study.reading() as reader:
        rows = reader.rows("SELECT run_id FROM runs ORDER BY run_id")
    assert [row["run_id"] for row in rows] == ["one", "two"]
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
    tables = {table["table_name"] for table in described["tables"]} - {"schema_version"}
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


# What follows from it


@pytest.fixture
def extended(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], schema_module.Schema]]:
    """The schema with more lines in a table of its file."""
    text = schema_module._text()  # noqa: SLF001 - the file is the interface

    def more(line: str) -> schema_module.Schema:
        head = "[tables.rater.columns]\n"
        assert text.count(head) == 1
        monkeypatch.setattr(schema_module, "_text", lambda: text.replace(head, f"{head}{line}\n"))
        schema_module.schema.cache_clear()
        return schema_module.schema()

    yield more
    monkeypatch.undo()
    schema_module.schema.cache_clear()


@pytest.mark.parametrize("privacy", sorted(schema_module.schema().privacy))
def test_a_new_column_needs_one_line(
    privacy: str, extended: Callable[[str], schema_module.Schema]
) -> None:
    found = extended(f'nickname = ["VARCHAR", "{privacy}", "What friends say"]')
    with duckdb.connect() as connection:
        found.create(connection.execute)
        columns = connection.execute("SELECT column_name FROM (DESCRIBE store.rater)").fetchall()
    assert ("nickname",) in columns
    assert found.words("raters", "nickname") == "What friends say"
    assert found.publication("rater", "nickname") == found.privacy[privacy]
    erased = {(rule.table, rule.column) for rule in found.erase_rules()}
    assert (("rater", "nickname") in erased) == bool(found.privacy[privacy].forget)
    assert found.merge_rules()["rater"].key == ("rater",)  # the row is taken with all its columns


@pytest.mark.parametrize(
    "line", ['x = ["VARCHAR", "", "Words"]', 'x = ["VARCHAR", "odd", "Words"]']
)
def test_a_column_without_a_privacy_class_is_an_error(
    line: str, extended: Callable[[str], schema_module.Schema]
) -> None:
    with pytest.raises(ValueError, match=r"rater\.x has the unknown privacy class"):
        extended(line)


def test_what_people_wrote_is_never_simply_kept() -> None:
    """Columns that are called like those of people and texts in every table."""
    people = {"author", "committer", "actor", "closed_by", "rater", "adjudicator", "username"}
    texts = {"body", "message", "comment", "quote", "abstract", "headers", "arguments", "origin"}
    kept = {
        f"{table.name}.{name}"
        for table in schema_module.schema().packaged()
        for name, column in table.columns.items()
        if name in people | texts and column.privacy == "plain"
    }
    assert kept == {"round.origin"}  # designed or imported

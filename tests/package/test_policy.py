"""Nothing of a study is published by oversight: each column has a decision."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.store import Study
from faultatlas.report.package import copying
from faultatlas.report.package.cleaning import Cleaner
from faultatlas.report.package.policy import LEFT_BEHIND, TABLES, Treatment


def columns(folder: Path) -> dict[str, dict[str, str]]:
    study = Study(folder)
    with study.writing():
        pass
    found: dict[str, dict[str, str]] = {}
    with study.reading() as reader:
        for row in reader.rows(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE schema_name = 'store'"
        ):
            found.setdefault(row["table_name"], {})[row["column_name"]] = row["data_type"]
    return found


def test_every_column_of_every_table_has_a_decision(tmp_path: Path) -> None:
    there = columns(tmp_path / "study")
    assert there.keys() == TABLES.keys() | LEFT_BEHIND
    assert not TABLES.keys() & LEFT_BEHIND
    for table, decided in TABLES.items():
        assert there[table].keys() == decided.keys(), table


def test_who_and_what_people_wrote_is_never_simply_kept(tmp_path: Path) -> None:
    """Columns that are called like those of people and texts in every table."""
    people = {"author", "committer", "actor", "closed_by", "rater", "adjudicator", "username"}
    texts = {"body", "message", "comment", "quote", "abstract", "headers", "arguments", "origin"}
    for table, names in columns(tmp_path / "study").items():
        if table in TABLES:
            kept = {name for name in names if TABLES[table][name] is Treatment.KEEP}
            allowed = {"origin"} if table == "round" else set()  # designed or imported
            assert not kept & (people | texts) - allowed, table


def test_a_column_without_a_decision_stops_the_packaging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undecided = {name: kind for name, kind in TABLES["answer"].items() if name != "comment"}
    monkeypatch.setattr(copying, "TABLES", {**TABLES, "answer": undecided})
    study = Study(tmp_path / "study")
    with study.writing():
        pass
    with study.reading() as reader, pytest.raises(StudyError, match=r"publish answer\.comment"):
        list(copying.cleaned_tables(reader, Cleaner(), copying.Options(), copying.LeftOut()))

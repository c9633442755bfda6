"""The status of a study, for a program and for a narrow terminal."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from rich.console import Console

from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner.status import status, status_tables
from faultatlas.report.tables import console_table

STARTED = datetime(2026, 3, 4, 5, 6, 7)  # noqa: DTZ001  (as the study stores it: UTC, no zone)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study(tmp_path)
    with made.writing() as writer:
        run = provenance.begin("analysis coverage-gap", {}, STARTED)
        provenance.record(writer, run, "interrupted")
    return made


@pytest.mark.usefixtures("in_kolkata")
def test_json_keeps_the_exact_times(
    study: Study, command: Callable[..., CompletedProcess[str]]
) -> None:
    found = json.loads(command("miner", "status", "--json", "--study", study.directory).stdout)
    assert found["rows"]["runs"] == 1
    assert found["runs"][0]["started_at"] == "2026-03-04T05:06:07Z"


@pytest.mark.usefixtures("in_kolkata")
def test_a_reader_sees_views_and_runs(
    study: Study, command: Callable[..., CompletedProcess[str]]
) -> None:
    lines = command("miner", "status", "--study", study.directory).stdout.splitlines()
    assert ["runs", "1"] in [line.split() for line in lines]
    assert lines[-1].split("  ") == [
        "2026-03-04 10:36 IST",
        "analysis coverage-gap",
        "interrupted ",
    ]


def test_views_without_rows_are_counted_and_listed_on_request(
    study: Study, command: Callable[..., CompletedProcess[str]]
) -> None:
    total = len(status(study)["rows"])
    short = command("miner", "status", "--study", study.directory).stdout
    assert "artifacts" not in short
    assert f"Without rows: {total - 1} views (-v)." in " ".join(short.split())
    whole = command("miner", "status", "-v", "--study", study.directory).stdout
    assert ["artifacts", "0"] in [line.split() for line in whole.splitlines()]
    assert "Without rows" not in whole


def test_the_quota_that_is_left_is_shown(
    study: Study, command: Callable[..., CompletedProcess[str]]
) -> None:
    with study.writing() as writer:
        row = "INSERT INTO store.traffic VALUES ('r', 'github:a/b', 7, 0, 0, 5000, 4321, NULL)"
        writer.execute(row)
    said = command("miner", "status", "--study", study.directory).stdout
    assert "Not shown" not in said
    assert "4,321" in said


@pytest.mark.parametrize("width", [30, 40, 60])
def test_it_fits_and_keeps_the_outcome_whole(study: Study, width: int) -> None:
    console = Console(width=width, file=io.StringIO(), force_terminal=False, color_system=None)
    for table in status_tables(status(study)):
        console.print(console_table(table, width))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "interrupted" in text
    assert "Outcome" in text

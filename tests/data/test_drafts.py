"""What a process leaves behind that is killed while it makes a study: the next one removes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultatlas.data.files import drop_abandoned
from faultatlas.data.people import study_key
from faultatlas.data.study import Study


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    return ended.pid


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_drafts_of_processes_that_ended_go_and_all_else_stays(tmp_path: Path, dead: int) -> None:
    kept = {
        f"x.{os.getpid()}.new",
        f"x.{os.getpid()}.new.wal",
        "x.backup.new",
        "x",
        f"y.{dead}.new",
    }
    gone = {f"x.{dead}.new", f"x.{dead}.new.wal", f"x.4711.{dead}.new"}
    for name in kept | gone:
        (tmp_path / name).touch()
    drop_abandoned(tmp_path, "x")
    assert names(tmp_path) == kept


def test_a_study_keeps_no_draft_of_itself(tmp_path: Path, dead: int) -> None:
    drafts = {f"study.duckdb.{dead}.new", f"study.duckdb.{dead}.new.wal", f"study.toml.{dead}.new"}
    for _time in range(2):  # also when there is a study already: it may be a second name of it
        for name in drafts:
            (tmp_path / name).touch()
        with Study(tmp_path).writing():
            pass
        assert names(tmp_path) == {"study.duckdb", "study.toml"}


def test_a_key_is_in_no_second_file(tmp_path: Path, dead: int) -> None:
    key = study_key(tmp_path)
    os.link(tmp_path / "study.key", tmp_path / f".study.key.0123456789abcdef.{dead}.new")
    assert study_key(tmp_path) == key
    assert names(tmp_path) == {"study.key"}

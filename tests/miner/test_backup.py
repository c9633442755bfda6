"""A backup is the whole study in one file, and says so when it is not."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import TOKEN, World
from mining import Mining

from data.errors import StudyError
from data.store import Study
from miner.backup import backup, check

Start = Callable[..., Mining]


@pytest.fixture
def fetched(mining: Start) -> Mining:
    at = mining(World.small())
    at.fetch("example/tensors", token=TOKEN)
    (at.study / "taxonomies").mkdir()
    (at.study / "taxonomies" / "own.yaml").write_text("name: own\n", encoding="utf-8")
    (at.study / "out").mkdir()
    (at.study / "out" / "report.html").write_text("x", encoding="utf-8")
    return at


def test_unpacked_it_is_the_study_again(fetched: Mining, tmp_path: Path) -> None:
    ended = fetched.command("miner", "backup", "copy.tar.gz", "--study", fetched.study, "--json")
    assert ended.returncode == 0, ended.stderr
    with tarfile.open(tmp_path / "copy.tar.gz") as file:
        names = set(file.getnames())
        file.extractall(tmp_path / "again", filter="data")
    assert names == {"backup.json", "study.duckdb", "study.toml", "taxonomies/own.yaml"}
    again = Mining(fetched.command, fetched.environment, fetched.running, tmp_path / "again")
    for view in ("issues", "comments", "responses", "runs"):
        assert again.rows(f"SELECT * FROM {view} ORDER BY ALL") == fetched.rows(
            f"SELECT * FROM {view} ORDER BY ALL"
        )
    checked = fetched.command("miner", "backup", "copy.tar.gz", "--check", "--json")
    assert json.loads(checked.stdout)["rows"]["issue"] == len(fetched.numbers())


def test_the_key_is_in_it_only_when_asked_for(fetched: Mining, tmp_path: Path) -> None:
    backup(Study(fetched.study), tmp_path / "with.tar.gz", with_key=True)
    with tarfile.open(tmp_path / "with.tar.gz") as file:
        assert "study.key" in file.getnames()
    assert (tmp_path / "with.tar.gz").stat().st_mode & 0o077 == 0


def test_a_file_that_is_there_stays_unless_told_otherwise(fetched: Mining, tmp_path: Path) -> None:
    target = tmp_path / "copy.tar.gz"
    target.write_text("precious", encoding="utf-8")
    with pytest.raises(StudyError, match="is there already"):
        backup(Study(fetched.study), target)
    assert target.read_text(encoding="utf-8") == "precious"
    backup(Study(fetched.study), target, overwrite=True)
    assert check(target)["rows"]["issue"]
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_cut_or_changed_file_is_noticed(fetched: Mining, tmp_path: Path) -> None:
    target = tmp_path / "copy.tar.gz"
    backup(Study(fetched.study), target)
    whole = target.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-100], b"", b"no archive"):
        target.write_bytes(damaged)
        with pytest.raises(StudyError, match="no whole backup"):
            check(target)


@pytest.mark.parametrize("name", ["../evil", "/evil", "study.duckdb/../../evil"])
def test_a_hostile_archive_writes_nothing(name: str, tmp_path: Path) -> None:
    said: dict[str, Any] = {"made_at": "", "version": "", "rows": {}, "sha256": {name: "0" * 64}}
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as file:
        for member, text in (("backup.json", json.dumps(said).encode()), (name, b"evil")):
            info = tarfile.TarInfo(member)
            info.size = len(text)
            file.addfile(info, io.BytesIO(text))
    before = sorted(tmp_path.parent.rglob("*evil*"))
    with pytest.raises(StudyError, match="no whole backup"):
        check(tmp_path / "x.tar.gz")
    assert sorted(tmp_path.parent.rglob("*evil*")) == before


def test_no_study_no_backup(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="there is no study"):
        backup(Study(tmp_path / "nothing"), tmp_path / "copy.tar.gz")
    assert list(tmp_path.iterdir()) == []

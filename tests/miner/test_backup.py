"""A backup is the whole study in one file, and says so when it is not."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from loopback import TOKEN, World
from mining import Mining

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.study import DATABASE, Study
from faultatlas.miner.keeping.backup import backup, check
from faultatlas.miner.keeping.forget import forget
from faultatlas.miner.keeping.merging import merge
from faultatlas.miner.status import status

pytestmark = pytest.mark.usual_opening

Start = Callable[..., Mining]

OWN = ("taxonomies/own.yaml", "crosswalks/own.yml", "lexicons/own.txt", "claims.toml")


@pytest.fixture
def fetched(mining: Start) -> Mining:
    at = mining(World.small())
    at.fetch("example/tensors", token=TOKEN)
    for name in (*OWN, "out/report.html"):
        (at.study / name).parent.mkdir(exist_ok=True)
        (at.study / name).write_text(f"of {name}\n", encoding="utf-8")
    return at


def test_unpacked_it_is_the_study_again(fetched: Mining, tmp_path: Path) -> None:
    ended = fetched.command("miner", "backup", "copy.tar.gz", "--study", fetched.study, "--json")
    assert ended.returncode == 0, ended.stderr
    with tarfile.open(tmp_path / "copy.tar.gz") as file:
        names = set(file.getnames())
        file.extractall(tmp_path / "again", filter="data")
    assert names == {"backup.json", "study.duckdb", "study.toml", *OWN}
    for name in OWN:
        assert (tmp_path / "again" / name).read_text(encoding="utf-8") == f"of {name}\n"
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
    backup(Study(fetched.study), target, replace=True)
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


def hand_made(file: Path, members: dict[str, bytes | tarfile.TarInfo], **said: Any) -> Path:
    """A backup as anybody could make one."""
    texts = {name: text for name, text in members.items() if isinstance(text, bytes)}
    contents = {
        "made_at": "",
        "version": "",
        "schema": 1,
        "rows": {},
        "sha256": {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()},
        **said,
    }
    with tarfile.open(file, "w:gz") as archive:
        for name, text in {"backup.json": json.dumps(contents).encode(), **members}.items():
            info = text if isinstance(text, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(text) if isinstance(text, bytes) else 0
            archive.addfile(info, io.BytesIO(text) if isinstance(text, bytes) else None)
    return file


@pytest.mark.parametrize("name", ["../evil", "/evil", "study.duckdb/../../evil"])
def test_a_hostile_archive_writes_nothing(name: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.parent.rglob("*evil*"))
    with pytest.raises(StudyError, match="no whole backup"):
        check(hand_made(tmp_path / "x.tar.gz", {name: b"evil"}))
    assert sorted(tmp_path.parent.rglob("*evil*")) == before


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_no_file_does_not_belong_there(kind: bytes, tmp_path: Path) -> None:
    link = tarfile.TarInfo(DATABASE)
    link.type, link.linkname = kind, "/etc/passwd"
    file = hand_made(tmp_path / "x.tar.gz", {DATABASE: link}, sha256={DATABASE: "0" * 64})
    with pytest.raises(StudyError, match="does not belong there"):
        check(file)


def test_a_member_may_not_stand_there_twice(fetched: Mining, tmp_path: Path) -> None:
    whole = backup(Study(fetched.study), tmp_path / "copy.tar.gz")
    plain = gzip.decompress((tmp_path / "copy.tar.gz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        second, third = archive.getmembers()[1:3]
    twice = plain[: third.offset] + plain[second.offset :]
    (tmp_path / "copy.tar.gz").write_bytes(gzip.compress(twice, 1))
    with pytest.raises(StudyError, match="does not belong there"):
        check(tmp_path / "copy.tar.gz")
    assert whole["rows"]["issue"]


def test_a_header_that_claims_gigabytes_is_not_believed(tmp_path: Path) -> None:
    header = tarfile.TarInfo("long")
    header.type, header.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "x.tar.gz").write_bytes(
        gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 16))
    )
    with pytest.raises(StudyError, match="a header in it is too large"):
        check(tmp_path / "x.tar.gz")


def test_a_database_that_no_disk_holds_is_not_unpacked(tmp_path: Path) -> None:
    contents = {"made_at": "", "version": "", "schema": 1, "rows": {}, "sha256": {DATABASE: "0"}}
    text = json.dumps(contents).encode()
    first, second = tarfile.TarInfo("backup.json"), tarfile.TarInfo(DATABASE)
    first.size, second.size = len(text), 1 << 60
    padded = text + bytes(-len(text) % 512)
    plain = first.tobuf() + padded + second.tobuf(tarfile.GNU_FORMAT) + bytes(4096)
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(plain))
    with pytest.raises(StudyError, match="no room in") as raised:
        check(tmp_path / "x.tar.gz")
    assert "TMPDIR" in raised.value.hint


@pytest.mark.parametrize("schema", ["main", "store"])
def test_names_in_a_foreign_study_are_no_statements(tmp_path: Path, schema: str) -> None:
    study = Study(tmp_path / "theirs")
    evil = tmp_path / "evil.csv"
    name = f"run\"; COPY (SELECT 1) TO '{evil}'; --".replace('"', '""')
    with study.writing():
        pass
    with duckdb.connect(str(study.database)) as connection:
        connection.execute(f'CREATE TABLE {schema}."{name}" (artifact_id VARCHAR)')
        connection.execute(f'CREATE VIEW main."a {name}" AS SELECT 1')
    file = hand_made(tmp_path / "x.tar.gz", {DATABASE: study.database.read_bytes()}, schema=1)
    foreign, ours = Study(study.directory), Study(tmp_path / "ours")
    run = provenance.begin("miner merge", {})
    for use in (
        lambda: check(file),
        lambda: status(foreign),
        lambda: backup(foreign, tmp_path / "copy.tar.gz"),
        lambda: merge(ours, foreign, run),
        lambda: forget(foreign, "nobody"),
        foreign.compact,
    ):
        with pytest.raises(StudyError, match="not part of it"):
            use()
    assert not evil.exists()


def test_a_broken_backup_is_named(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    with study.writing() as writer:
        writer.execute("INSERT INTO store.run VALUES ('r', 'c', '{}', '0', now(), NULL, 'ok')")
    rows = {"run": 1, "item": 0}
    file = tmp_path / "x.tar.gz"
    hand_made(file, {DATABASE: study.database.read_bytes()}, rows=rows)
    assert check(file)["rows"] == rows
    hand_made(file, {DATABASE: study.database.read_bytes()}, rows={"run": 2})
    with pytest.raises(StudyError, match="other rows"):
        check(file)
    hand_made(file, {DATABASE: study.database.read_bytes()}, rows=rows, schema=999)
    with pytest.raises(StudyError, match="newer faultatlas"):
        check(file)
    hand_made(file, {DATABASE: b"no database"}, rows=rows)
    with pytest.raises(StudyError, match=r"backup of a study: study\.duckdb is damaged"):
        check(file)

"""A backup holds what bugs are made of and what their runs left: unpacked, all can be judged."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from bug_making import make_bug
from executed import new_study

from faultatlas.miner.keeping.backup import backup, check

Command = Callable[..., CompletedProcess[str]]


def test_bugs_and_finished_runs_are_in_a_backup(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    folder = make_bug(study.directory / "bugs" / "made" / "a", buggy="1/0", fixed="print()")
    (folder / "buggy" / "link.py").symlink_to("main.py")
    runs = study.directory / "reexecution" / "made" / "a" / "0123456789abcdef-cpu"
    for name in ("buggy-1-1", "fixed-1-1"):
        (runs / name / "outputs").mkdir(parents=True)
        (runs / name / "outputs" / "x.txt").write_text("x", encoding="utf-8")
        (runs / name / "lock").touch()
    (runs / "buggy-1-1" / "run.json").write_text("{}", encoding="utf-8")  # the other goes on
    (study.directory / "bugs" / ".importing-1" / "draft").mkdir(parents=True)
    (study.directory / "bugs" / ".importing-1" / "draft" / "bug.toml").touch()
    found = backup(study, tmp_path / "copy.tar.gz")
    assert found["left_out"] == ["bugs/made/a/buggy/link.py"]
    check(tmp_path / "copy.tar.gz")
    with tarfile.open(tmp_path / "copy.tar.gz") as file:
        names = set(file.getnames())
        file.extractall(tmp_path / "again", filter="data")
    of_runs = {name for name in names if name.startswith("reexecution/")}
    assert of_runs == {
        f"reexecution/made/a/0123456789abcdef-cpu/buggy-1-1/{name}"
        for name in ("run.json", "outputs/x.txt")
    }
    assert not any("importing" in name for name in names)
    again = tmp_path / "again" / "bugs" / "made" / "a"
    assert (again / "bug.toml").read_bytes() == (folder / "bug.toml").read_bytes()
    assert (again / "buggy" / "main.py").read_text(encoding="utf-8") == "1/0"


def test_what_a_backup_cannot_hold_is_told(tmp_path: Path, command: Command) -> None:
    study = new_study(tmp_path / "study")
    folder = make_bug(study.directory / "bugs" / "made" / "a", buggy="1/0", fixed=None)
    (folder / "out.py").symlink_to("/etc/passwd")
    ended = command("miner", "backup", "b.tar.gz", "--study", study.directory)
    assert ended.returncode == 0, ended.stderr
    assert "bugs/made/a/out.py" in ended.stderr
    ended = command("miner", "backup", "c.tar.gz", "--study", study.directory, "--json")
    assert json.loads(ended.stdout)["left_out"] == ["bugs/made/a/out.py"]

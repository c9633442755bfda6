"""The private copy of a run: complete, writable, apart from the artifact, and gone afterwards."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from bug_making import make_bug

from faultatlas.analysis.reexecution import workspace
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.data.errors import StudyError

DIGEST = "0" * 64


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def a_bug(tmp_path: Path, **more: Any) -> Bug:
    return read(make_bug(tmp_path / "bug", **{"buggy": "1", "fixed": "2", **more}))


def listed(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_holds_the_side_at_its_place_and_the_data_at_theirs(tmp_path: Path, work: Path) -> None:
    bug = a_bug(
        tmp_path,
        buggy={"main.py": "b", "lib/one.py": "1"},
        data={"train.csv": "1,2", "deep/test.csv": "3"},
        run={"data": "input", "buggy": {"place": "src/app", "directory": "src"}},
    )
    made = workspace.make(bug, "buggy", work)
    assert listed(made.folder) == {
        "src/app/main.py": "b",
        "src/app/lib/one.py": "1",
        "input/train.csv": "1,2",
        "input/deep/test.csv": "3",
    }


def test_what_a_run_does_to_its_copy_leaves_the_artifact_alone(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path, data={"train.csv": "1,2"})
    made = workspace.make(bug, "buggy", work)
    for path in (made.folder / "main.py", made.folder / "data/train.csv"):
        with path.open("r+") as file:
            file.write("X")
    again = workspace.make(bug, "buggy", tmp_path / "again")
    assert listed(again.folder) == {"main.py": "1", "data/train.csv": "1,2"}


def test_copied_files_can_be_written_and_scripts_run(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path, buggy={"main.py": "1", "tool.sh": "#!/bin/sh\n", "sub/x": ""})
    (bug.folder / "buggy/main.py").chmod(0o400)
    (bug.folder / "buggy/tool.sh").chmod(0o4555)
    (bug.folder / "buggy/sub").chmod(0o555)
    made = workspace.make(bug, "buggy", work)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in made.folder.rglob("*")}
    assert modes == {"main.py": 0o644, "tool.sh": 0o755, "sub": 0o755, "x": 0o644}


def test_what_is_to_be_cleaned_is_not_there(tmp_path: Path, work: Path) -> None:
    files = {"main.py": "1", "a.log": "", "sub/b.log": "", "runs/x/y.txt": "", "out/keep": ""}
    bug = a_bug(tmp_path, buggy=files, run={"clean": ["*.log", "runs/", "out/gone*"]})
    made = workspace.make(bug, "buggy", work)
    assert listed(made.folder) == {"main.py": "1", "out/keep": ""}


def test_cleaning_does_not_take_declared_data_away(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path, data={"train.csv": "1"}, run={"clean": ["*.csv"]})
    assert (workspace.make(bug, "buggy", work).folder / "data/train.csv").exists()


def test_links_that_stay_inside_are_kept(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path, buggy={"main.py": "1", "v1/model.txt": "m"})
    (bug.folder / "buggy/latest").symlink_to("v1")
    made = workspace.make(bug, "buggy", work)
    assert (made.folder / "latest/model.txt").read_text() == "m"


def test_the_working_directory_is_there_even_if_nothing_is_in_it(
    tmp_path: Path, work: Path
) -> None:
    bug = a_bug(tmp_path, run={"buggy": {"directory": "runs/one"}})
    assert (workspace.make(bug, "buggy", work).folder / "runs/one").is_dir()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../secret", "../fixed/main.py"])
def test_links_that_leave_are_refused(tmp_path: Path, work: Path, target: str) -> None:
    bug = a_bug(tmp_path)
    (bug.folder / "buggy/out").symlink_to(target)
    with pytest.raises(StudyError, match=r"buggy/out is a link that leaves"):
        workspace.make(bug, "buggy", work)


def test_an_absolute_link_into_the_artifact_is_refused_too(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path)
    (bug.folder / "buggy/out").symlink_to(bug.folder / "buggy/main.py")
    with pytest.raises(StudyError, match="leaves"):
        workspace.make(bug, "buggy", work)


def test_data_is_never_written_through_a_link_of_the_side(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path, data={"train.csv": "1"})
    (bug.folder / "buggy/data").symlink_to("elsewhere")
    made = workspace.make(bug, "buggy", work)
    assert not (made.folder / "elsewhere").exists()
    assert (made.folder / "data/train.csv").read_text() == "1"


def test_a_queue_or_a_device_is_refused_at_once(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path)
    os.mkfifo(bug.folder / "buggy/pipe")
    with pytest.raises(StudyError, match=r"buggy/pipe is no plain file"):
        workspace.make(bug, "buggy", work)


def test_data_does_not_stand_for_a_file_of_the_side(tmp_path: Path, work: Path) -> None:
    """Else both sides would run the same program."""
    same = {"buggy": "1", "fixed": "2", "data": {"main.py": "neither"}, "run": {"data": "."}}
    bug = a_bug(tmp_path, **same)
    for side in ("buggy", "fixed"):
        with pytest.raises(StudyError, match=rf"main\.py would be in the workspace twice.*{side}"):
            workspace.make(bug, side, work)
    errors = [each for each in problems(bug.folder) if each.severity == "error"]
    assert [each.where for each in errors] == ["buggy", "fixed"]
    assert all("'main.py' would be in the workspace twice" in str(each) for each in errors)
    assert not work.exists()


def test_what_is_cleaned_of_the_side_may_be_in_the_data(tmp_path: Path, work: Path) -> None:
    files = {"main.py": "1", "sets/a.csv": "old"}
    bug = a_bug(
        tmp_path, buggy=files, data={"sets/a.csv": "new"}, run={"data": ".", "clean": ["sets/"]}
    )
    assert (workspace.make(bug, "buggy", work).folder / "sets/a.csv").read_text() == "new"
    assert [each for each in problems(bug.folder) if each.severity == "error"] == []


def test_a_file_where_a_folder_must_be_is_named(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path, buggy={"main.py": "1", "data": "a file"}, data={"train.csv": "1"})
    with pytest.raises(StudyError, match="data would be a file and a folder"):
        workspace.make(bug, "buggy", work)


def test_a_side_that_is_not_there_is_named(tmp_path: Path, work: Path) -> None:
    bug = a_bug(tmp_path)
    shutil.rmtree(bug.folder / "fixed")
    with pytest.raises(StudyError, match="fixed is missing"):
        workspace.make(bug, "fixed", work)


def test_a_giant_does_not_fill_the_disk(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sparse files may say any size: what does not fit is not begun."""
    bug = a_bug(tmp_path)
    with (bug.folder / "buggy/huge").open("wb") as file:
        file.truncate(16 << 20)
    usage = shutil.disk_usage(tmp_path)._replace(free=40 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _where: usage)
    with pytest.raises(OSError, match="17 MB") as caught:
        workspace.make(bug, "buggy", work)
    assert caught.value.errno == errno.ENOSPC
    assert not work.exists()


def test_missing_data_is_named_with_its_source(tmp_path: Path) -> None:
    data = [{"path": "train.csv", "sha256": DIGEST, "source": "https://example.org/t"}]
    with pytest.raises(workspace.DataError, match=r"data/train\.csv is missing.*example\.org"):
        workspace.check_data(_with(tmp_path, data))


def test_data_with_another_checksum_is_named(tmp_path: Path) -> None:
    bug = _with(tmp_path, [{"path": "train.csv", "sha256": DIGEST}])
    (bug.folder / "data").mkdir()
    (bug.folder / "data/train.csv").write_text("other")
    with pytest.raises(workspace.DataError, match=r"data/train\.csv has another checksum"):
        workspace.check_data(bug)


def _with(tmp_path: Path, data: list[dict[str, Any]]) -> Bug:
    folder = make_bug(tmp_path / "bug", buggy="1", fixed="2")
    text = (folder / "bug.toml").read_text()
    lines = [
        "{" + ", ".join(f'{key} = "{value}"' for key, value in each.items()) + "}" for each in data
    ]
    (folder / "bug.toml").write_text(text.replace("data = []", f"data = [{', '.join(lines)}]"))
    return read(folder)


@pytest.fixture
def with_outputs(tmp_path: Path, work: Path) -> tuple[Bug, workspace.Workspace]:
    bug = a_bug(
        tmp_path,
        buggy={"main.py": "1", "result.json": "{}"},
        run={"outputs": ["result.json", "new/out.txt"]},
        oracle={"file": "score.txt", "pattern": "(.)", "expected": "1"},
        symptom="incorrect output",
    )
    return bug, workspace.make(bug, "buggy", work)


def test_an_output_that_was_shipped_and_not_written_is_stale(
    with_outputs: tuple[Bug, workspace.Workspace],
) -> None:
    bug, made = with_outputs
    (made.folder / "new").mkdir()
    (made.folder / "new/out.txt").write_text("done")
    states = workspace.states(made, bug)
    assert states == {"result.json": "stale", "new/out.txt": "fresh", "score.txt": "missing"}


@pytest.mark.parametrize("content", ["{}", '{"a": 1}'])
def test_an_output_that_was_written_is_fresh_even_with_the_same_content(
    with_outputs: tuple[Bug, workspace.Workspace], content: str
) -> None:
    bug, made = with_outputs
    (made.folder / "result.json").write_text(content)
    assert workspace.states(made, bug)["result.json"] == "fresh"


def test_a_giant_that_was_not_there_before_need_not_be_read(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug = a_bug(tmp_path, run={"outputs": ["out"]})
    made = workspace.make(bug, "buggy", work)
    with (work / "out").open("wb") as file:
        file.truncate(1 << 40)
    monkeypatch.delattr(hashlib, "sha256")
    assert workspace.states(made, bug) == {"out": "fresh"}


def test_an_output_that_is_a_link_to_the_hosts_files_is_missing(
    with_outputs: tuple[Bug, workspace.Workspace], tmp_path: Path
) -> None:
    bug, made = with_outputs
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/out.txt").write_text("secret")
    (made.folder / "new").symlink_to(tmp_path / "secret")
    (made.folder / "score.txt").symlink_to(tmp_path / "secret/out.txt")
    states = workspace.states(made, bug)
    assert (states["new/out.txt"], states["score.txt"]) == ("missing", "missing")
    for path in ("new/out.txt", "score.txt", "../secret/out.txt", "/etc/passwd"):
        with workspace.reading(made.folder, path) as file:
            assert file is None


def test_an_output_that_is_a_queue_does_not_make_us_wait(
    with_outputs: tuple[Bug, workspace.Workspace],
) -> None:
    bug, made = with_outputs
    os.mkfifo(made.folder / "score.txt")
    assert workspace.states(made, bug)["score.txt"] == "missing"


def test_removes_closed_folders_odd_names_and_links_without_following(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (work / "closed/deeper").mkdir(parents=True)
    (work / "closed/deeper/file").touch()
    (work / "1").mkdir()  # a name that we might use ourselves
    (work / "new\nline -rf \x1b[2J").touch()
    (work / os.fsdecode(b"\xff\xfe")).touch()
    (work / "link").symlink_to(outside)
    os.mkfifo(work / "pipe")
    (work / "closed/deeper").chmod(0)
    (work / "closed").chmod(0)
    workspace.remove(work)
    assert not work.exists()
    assert (outside / "kept").exists()


def test_removes_folders_deeper_than_any_path(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    here = os.open(work, os.O_RDONLY)
    for _ in range(40):  # twice what a path can name
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    workspace.remove(work)
    assert not work.exists()

"""The folder of a report: all old or all new, never half, and never somebody else's."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.files import replace_folder
from faultatlas.data.old.results import Bar, Column, Figure, Part, Result, Table
from faultatlas.report import figures, pages

TOP = Table("top", "The most frequent", (Column("fault", "Fault"),), (("Wrong shape",),))
SMALL = Result("coverage-gap", "gap", "Research and practice", {}, tables=(TOP,))
LARGE = replace(
    SMALL,
    tables=(TOP, replace(TOP, name="other")),
    figures=(Figure("shares", "Shares", "shares", "", (Bar("Faults", (Part("New", 4),)),)),),
)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_of_an_earlier_run_vanish_and_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    pages.write_result(LARGE, folder)
    (folder / "my-notes.md").write_text("mine")
    (folder / "drafts").mkdir()
    (folder / "drafts" / "a.txt").write_text("mine too")
    pages.write_result(SMALL, folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "claims.csv",
        "drafts",
        "my-notes.md",
        "report.html",
        "result.json",
        "top.csv",
        "top.tex",
    ]
    assert (folder / "drafts" / "a.txt").read_text() == "mine too"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folder_that_is_not_ours_is_not_touched(tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.tex").write_text("years of work")
    with pytest.raises(StudyError, match="no report of ours"):
        pages.write_result(SMALL, folder)
    assert snapshot(tmp_path) == {"chapter.tex": b"years of work"}


@pytest.mark.parametrize("moment", ["drawing", "rendering", "swapping"])
def test_interrupted_write_leaves_the_old_report_whole(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    pages.write_result(LARGE, folder)
    before = snapshot(tmp_path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if moment == "drawing":
        monkeypatch.setattr(figures, "save", interrupt)
    elif moment == "rendering":
        monkeypatch.setattr(pages, "render", interrupt)
    else:
        monkeypatch.setattr(Path, "rename", _interrupted_at(2, Path.rename))
    with pytest.raises(KeyboardInterrupt):
        pages.write_result(replace(LARGE, title="Another title"), folder)
    assert snapshot(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _interrupted_at(call: int, rename: Callable[..., Path]) -> Callable[..., Path]:
    calls = 0

    def renamed(path: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return rename(path, target)

    return renamed


# Real processes.

REPLACES = """
import fcntl, sys
from pathlib import Path
from faultatlas.data.old.results import Result
from faultatlas.report import pages

waits = []

def asks(descriptor, operation, really=fcntl.flock):
    try:
        really(descriptor, operation)
    except BlockingIOError:
        if not waits:
            print("waits", flush=True)
        waits.append(1)
        raise

def stops(path, target, really=Path.rename):
    if path.name == "new":
        print("between the renames", flush=True)
        sys.stdin.readline()
    return really(path, target)

fcntl.flock = asks
if sys.argv[3] == "stops":
    Path.rename = stops
pages.write_result(Result("a", "gap", sys.argv[2], {}), Path(sys.argv[1]))
print("done", flush=True)
"""
MANY = """
import sys
from pathlib import Path
from faultatlas.data.old.results import Result
from faultatlas.report import pages
sys.stdin.readline()
for _ in range(25):
    pages.write_result(Result("a", "gap", sys.argv[2], {}), Path(sys.argv[1]))
"""
Start = Callable[..., Popen[str]]


def line(process: Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def folder_with_a_note(tmp_path: Path) -> Path:
    folder = tmp_path / "reports" / "out"
    pages.write_result(SMALL, folder)
    (folder / "my-notes.md").write_text("mine")
    return folder


def test_two_processes_take_turns(start: Start, tmp_path: Path) -> None:
    folder = folder_with_a_note(tmp_path)
    first = start("first.py", REPLACES, folder, "First", "stops")
    assert line(first) == "between the renames"
    second = start("second.py", REPLACES, folder, "Second", "")
    assert line(second) == "waits"
    go(first)
    assert (line(first), line(second)) == ("done", "done")
    assert (first.wait(), second.wait()) == (0, 0)
    assert "Second" in (folder / "report.html").read_text()
    assert (folder / "my-notes.md").read_text() == "mine"
    assert not (folder / "top.csv").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_many_processes_leave_one_whole_report(start: Start, tmp_path: Path) -> None:
    folder = folder_with_a_note(tmp_path)
    crowd = [start(f"{name}.py", MANY, folder, name) for name in ("one", "two", "three", "four")]
    for process in crowd:
        go(process)
    assert [process.wait() for process in crowd] == [0, 0, 0, 0]
    assert sorted(snapshot(folder.parent)) == [
        "claims.csv",
        "my-notes.md",
        "report.html",
        "result.json",
    ]
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_a_run_killed_between_the_renames_loses_nothing(start: Start, tmp_path: Path) -> None:
    folder = folder_with_a_note(tmp_path)
    before = snapshot(folder)
    killed = start("killed.py", REPLACES, folder, "Killed", "stops")
    assert line(killed) == "between the renames"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not folder.exists()
    with replace_folder(folder, lambda _folder: set()):
        assert snapshot(folder) == before  # put back before anything is written
    pages.write_result(LARGE, folder)
    assert (folder / "my-notes.md").read_text() == "mine"
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    folder = folder_with_a_note(tmp_path)
    workshop = folder.parent / ".out.workshop"
    (workshop / "old").mkdir(parents=True)  # killed after the swap: the folder is the newer one
    (workshop / "old" / "my-notes.md").write_text("an old note")
    for mine in (".out.notes", ".out.v2.workshop", ".other.workshop"):
        (folder.parent / mine).mkdir()
    pages.write_result(SMALL, folder)
    assert (folder / "my-notes.md").read_text() == "mine"
    assert sorted(path.name for path in folder.parent.iterdir()) == [
        ".other.workshop",
        ".out.notes",
        ".out.v2.workshop",
        "out",
    ]


def test_folder_may_be_a_link_and_need_not_exist(tmp_path: Path) -> None:
    assert pages.write_result(SMALL, tmp_path / "a" / "b" / "out").is_file()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    assert pages.write_result(SMALL, tmp_path / "link").is_file()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "report.html").is_file()

"""The folder of a report: all old or all new, never half, and never somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from data.errors import StudyError
from data.results import Bar, Column, Figure, Part, Result, Table
from report import figures, pages

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


def test_folder_may_be_a_link_and_need_not_exist(tmp_path: Path) -> None:
    assert pages.write_result(SMALL, tmp_path / "a" / "b" / "out").is_file()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    assert pages.write_result(SMALL, tmp_path / "link").is_file()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "report.html").is_file()

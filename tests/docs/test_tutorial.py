"""The tutorial says what its commands really print, from the first to the last."""

from __future__ import annotations

import difflib
import re
import struct
from pathlib import Path

import pytest
from needed import need
from sandboxed import needs
from walkthrough import tracker
from walkthrough.page import (
    ByHand,
    Command,
    File,
    as_shown,
    commands,
    cut_like,
    is_passing,
    matches,
    rewritten,
    steps,
)
from walkthrough.walk import IMAGES, PAGE, walking

from faultatlas.annotation.bridge.installation import Installation, cache_folder

TEXT = PAGE.read_text(encoding="utf-8")
PICTURES = re.findall(r"!\[.+?\]\(images/(.+?)\)", TEXT)


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.xdist_group("tutorial")
def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    installation = Installation(cache_folder())
    need(installation.is_ready, f"{installation.folder} is missing: run `annotation serve` once")
    needs("bubblewrap")
    study, pictures = tmp_path / "study", tmp_path / "pictures"
    study.mkdir()
    pictures.mkdir()
    differences = []
    with walking(study, pictures) as walk:
        for step in steps(TEXT):
            walk.take(step)
            if isinstance(step, Command) and not matches(step.shown, walk.lines(step)):
                page, now = f"docs/tutorial.md: $ {step.text}", "printed now"
                told = cut_like(step.shown, walk.lines(step))
                differences += difflib.unified_diff(step.shown, told, page, now, lineterm="")
    assert not differences, "\n".join([*differences, "If that is right: make tutorial"])
    # The pictures of the page are those that are made on the way, and no others.
    assert sorted(PICTURES) == sorted(each.name for each in pictures.iterdir())
    for name in PICTURES:
        assert _size(pictures / name) == _size(IMAGES / name)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small_enough_for_a_page(name: str) -> None:
    assert (IMAGES / name).stat().st_size < 300_000


def test_the_page_has_every_kind_of_step() -> None:
    programs = {command.text.split()[0] for command in commands(TEXT)}
    assert programs == {"miner", "annotation", "analysis", "report"}
    assert {step.name for step in steps(TEXT) if isinstance(step, File)} == {"study.toml"}
    assert len([step for step in steps(TEXT) if isinstance(step, ByHand)]) == 3
    assert all(command.shown for command in commands(TEXT))


def test_a_table_of_the_page_fits_into_a_terminal() -> None:
    lines = [line for command in commands(TEXT) for line in command.shown]
    tables = [line for line in lines if line.startswith("─")]
    assert tables
    assert max(map(len, tables)) <= 80


def test_the_made_up_issues_cannot_be_taken_for_real_ones() -> None:
    assert min(issue["number"] for issue in tracker.issues()) > 900_000
    assert "made up" in TEXT


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a b", "a b", True),
        ("a b", "a c", False),
        ("a", "a b", False),
        ("a b", "a", False),
        ("a ...", "a", True),
        ("a ...", "a b c", True),
        ("... c", "a b c", True),
        ("... c", "a b d", False),
        ("a ... c ... e", "a b c d e", True),
        ("a ... c ... e", "a b d e", False),
        ("", "a", False),
    ],
)
def test_a_cut_stands_for_any_lines(shown: str, printed: str, *, expected: bool) -> None:
    assert matches(shown.split(), printed.split()) == expected


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("9 files, 7,100 bytes", "9 files, 8,200 bytes", True),
        ("9 files, 7,100 bytes", "8 files, 7,100 bytes", False),
        ("20261116T093000 G1", "20270101T000000 G1", True),
        ("20261116T093000 G1", "20270101T000000 G2", False),
        ("faultatlas 0.1.0", "faultatlas 1.0.0", True),
        ("issues 20", "issues 21", False),
        ("  393050Z-", "  111111Z-", True),
        ("      58a8b6", "      00ff00", True),
    ],
)
def test_only_what_must_differ_may_differ(shown: str, printed: str, *, expected: bool) -> None:
    assert matches([shown], [printed]) == expected


def test_what_is_told_while_one_waits_is_no_output() -> None:
    assert is_passing("re-execution: 3/5 bugs, shipped/a buggy 1 +1, 27/34 runs, 0:15, 0:05 left")
    assert is_passing("fetching: 40/100 issues, 1:15")
    assert not is_passing("3 requests; 4,999 of 5,000 left in this hour.")


def test_what_a_test_has_of_its_own_is_not_shown() -> None:
    line = as_shown("ann: http://127.0.0.1:20310/projects/1 with a2b3c-d4e5f-g6h7j-k8m9n   ")
    assert line == "ann: http://127.0.0.1:8080/projects/1 with abcde-fghjk-mnpqr-stuvw"


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a b", "x y z", "x y z"),
        ("a ...", "x y z", "x ..."),
        ("... c", "x y z", "... z"),
        ("a ... total:4 ... c", "x one total:5 two y", "x ... total:5 ... y"),
    ],
)
def test_a_new_output_is_cut_like_the_one_before(shown: str, printed: str, expected: str) -> None:
    assert cut_like(shown.split(), printed.split()) == expected.split()


def test_only_outputs_are_written_anew() -> None:
    page = "# T\n\n```console\n$ one\nold\n$ two\n```\n\n```sh\n$ no\n```\n"
    again = rewritten(page, lambda command: [f"new {command.text}"])
    assert again == "# T\n\n```console\n$ one\nnew one\n$ two\nnew two\n```\n\n```sh\n$ no\n```\n"


def _size(picture: Path) -> tuple[int, int]:
    """Width and height, which a PNG has behind its first chunk's name."""
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", content[16:24])
    return width, height

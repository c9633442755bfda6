"""Choosing parts of the benchmark; one that fails is a line, and the rest goes on."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import pytest
from bench import page, run
from bench.measured import Line, NotMeasured, Target
from bench.parts import PARTS, Measure, Part, Untold, chosen, run_parts

GOOD = Line("good work", "a peer", (1,), (2,), "s", Target(ratio=1))
SLOW = Line("slow work", "a peer", (3,), (2,), "s", Target(ratio=1))


def good() -> Iterator[Line | str]:
    yield GOOD
    yield "How it was measured."


def broken() -> Iterator[Line]:
    yield GOOD
    raise RuntimeError("the disk is full")


def lacking() -> Iterator[Line]:
    raise NotMeasured("there is no grep")
    yield GOOD


def slow() -> Iterator[Line]:
    yield SLOW


MEASURES: dict[str, Measure] = {"start": good, "store": broken, "dump": lacking, "links": slow}


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("", list(PARTS)),
        ("dump", ["dump"]),
        ("dump, commits", ["commits", "dump"]),  # in the order of the table
        ("dump,,dump,", ["dump"]),
    ],
)
def test_parts_are_chosen_by_their_names(wanted: str, names: list[str]) -> None:
    assert chosen(wanted) == names


def test_an_unknown_part_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no part dumps; known: start, store, .*growth"):
        chosen("commits,dumps")


def test_every_part_has_a_module() -> None:
    for _heading, module in PARTS.values():
        assert importlib.util.find_spec(module)


def test_a_part_that_fails_is_a_line_and_the_rest_goes_on() -> None:
    told: list[str] = []
    parts = [*run_parts(["store", "dump", "start"], MEASURES.__getitem__, told.append)]
    assert told == ["measuring store", "measuring dump", "measuring start"]
    assert parts[0].lines == [
        GOOD,
        Untold("store", "RuntimeError: the disk is full", failed=True),
    ]
    assert parts[1].lines == [Untold("dump", "there is no grep", failed=False)]
    assert (parts[2].lines, parts[2].notes) == ([GOOD], ["How it was measured."])
    assert [part.is_good for part in parts] == [False, True, True]
    assert [page.verdict(part.lines[-1]) for part in parts] == [
        "failed: RuntimeError: the disk is full",
        "not measured: there is no grep",
        "met",
    ]


def test_a_module_that_cannot_be_imported_fails_its_part_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PARTS, "gone", ("Gone", "bench.there_is_none"))
    (part,) = run_parts(["gone"])
    (line,) = part.lines
    assert isinstance(line, Untold)
    assert line.failed
    assert "bench.there_is_none" in line.reason


@pytest.mark.parametrize(
    ("names", "code"),
    [("start", 0), ("dump,start", 0), ("start,store", 1), ("links,start", 1)],
    ids=["met", "not measured", "failed", "missed"],
)
def test_the_exit_code_tells_of_targets_and_failures(
    names: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(wanted: list[str], tell: Callable[[str], None]) -> Iterator[Part]:
        return run_parts(wanted, MEASURES.__getitem__, tell)

    monkeypatch.setenv("NO_COLOR", "1")  # run sets it; as it was afterwards
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(run, "run_parts", measured)
    assert run.main(["--only", names]) == code
    assert "good work" in capsys.readouterr().out or names == "dump"

"""A line of the benchmark: its ratio, its target, and what is said when that is missed."""

from __future__ import annotations

import sys

import pytest
from bench import page
from bench.measured import Line, Target, child, in_turn


def line(ours: float, other: float, target: Target | None = None, **more: str) -> Line:
    return Line("work", "a peer", (ours,), (other,), "s", target, **more)


def test_the_ratio_is_the_median_of_the_rounds_and_the_spread_is_shown() -> None:
    noisy = Line("work", "a peer", (1, 8, 3), (2, 4, 4), "CPU s", Target(ratio=0.75))
    assert noisy.ratios == (0.5, 2, 0.75)
    assert noisy.ratio == 0.75
    assert page.cells(noisy) == (
        "work", "a peer", "3,000 ms CPU", "4,000 ms CPU", "0.75", "0.50-2.00", "<= 0.75", "met",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "other", "target", "said"),
    [
        (0.3, 1, Target(ratio=0.3), "met"),
        (0.33, 1, Target(ratio=0.3), "MISSED: 0.33 instead of 0.3, 10 % too much"),
        (0.6, 0.1, Target(more=0.5), "met"),
        (0.7, 0.1, Target(more=0.5), "MISSED: 0.60 s instead of 0.5, 20 % too much"),
        (0.9, 0.1, Target(ours=1), "met"),
        (1.5, 0.1, Target(ours=1), "MISSED: 1.50 s instead of 1, 50 % too much"),
        (499, 500, Target(ratio_at_least=1), "MISSED: 1.00 instead of 1"),
        (500, 500, Target(ratio_at_least=1), "met"),
        (
            3, 1, Target(ratio=2, ours=2),
            "MISSED: 3.00 instead of 2, 50 % too much; 3.00 s instead of 2, 50 % too much",
        ),
        (99, 1, None, ""),
    ],
)  # fmt: skip
def test_a_target_is_met_or_missed_by_so_much(
    ours: float, other: float, target: Target | None, said: str
) -> None:
    found = line(ours, other, target)
    assert page.verdict(found) == said
    assert found.is_met == (not said.startswith("MISSED"))


def test_the_reason_is_shown_only_when_the_target_is_missed() -> None:
    why = "The disk is slow."
    assert page.verdict(line(1, 1, Target(ratio=1), why=why)) == "met"
    assert page.verdict(line(2, 1, Target(ratio=1), why=why)).endswith(f"too much. {why}")


def test_rounds_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def way(name: str) -> int:
        calls.append(name)
        return len(calls)

    one, other = in_turn(lambda: way("one"), lambda: way("other"), count=2, warm_up=True)
    assert calls == ["one", "other"] * 3
    assert (one, other) == ((3, 5), (4, 6))
    monkeypatch.setenv("BENCH_ROUNDS", "1")
    assert in_turn(lambda: way("one"), count=7) == [(7,)]


def test_figures_of_rounds_must_match() -> None:
    with pytest.raises(ValueError, match="as many figures"):
        Line("work", "a peer", (1, 2), (1,))
    with pytest.raises(ValueError, match="as many figures"):
        Line("work", "a peer", (), ())


def test_the_peak_of_a_program_is_its_own() -> None:
    held = bytearray(300_000_000)  # what the benchmark itself has in memory
    small = child([sys.executable, "-c", "print(7)"])
    large = child([sys.executable, "-c", "x = bytearray(200_000_000)"])
    assert len(held) > 0
    assert small.said == "7"
    assert small.peak_mb < 100
    assert 190 < large.peak_mb < 290
    assert 0 < small.cpu_s < 60


def test_a_program_that_fails_is_an_error_with_its_last_words() -> None:
    with pytest.raises(RuntimeError, match=r"ended with 1: no room"):
        child([sys.executable, "-c", "import sys; sys.exit('first\\nno room')"])
    with pytest.raises(RuntimeError, match=r"there-is-none ended with 127"):
        child(["there-is-none"])

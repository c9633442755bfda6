"""A line of the benchmark: two ways to do one thing, measured in turn, and its target."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

LAUNCHER = Path(__file__).with_name("launcher.py")
Unit = Literal["s", "CPU s", "MB", "requests", "commits"]


Found = TypeVar("Found")


class NotMeasured(Exception):  # noqa: N818  (not a fault: the table says why)
    """Nothing can be measured here, such as for a lack of a tool; the reason is told."""


@dataclass(frozen=True)
class Target:
    """What a line should reach; all that is set must hold."""

    ratio: float | None = None  # at most
    ratio_at_least: float | None = None
    ours: float | None = None  # at most, in the unit of the line
    more: float | None = None  # at most, ours less the other's

    def __str__(self) -> str:
        words = (
            f"<= {self.ratio:g}" if self.ratio is not None else "",
            f">= {self.ratio_at_least:g}" if self.ratio_at_least is not None else "",
            f"{self.ours:g} {{unit}} at most" if self.ours is not None else "",
            f"{self.more:g} {{unit}} more at most" if self.more is not None else "",
        )
        return ", ".join(filter(None, words))


@dataclass(frozen=True)
class Line:
    """Figures of each round for both, and the target, if one is set."""

    what: str
    against: str
    ours: tuple[float, ...]
    other: tuple[float, ...]
    unit: Unit = "CPU s"
    target: Target | None = None
    why: str = ""  # it is known to be missed; shown only when it is

    def __post_init__(self) -> None:
        if not self.ours or len(self.ours) != len(self.other):
            raise ValueError(f"{self.what}: as many figures of ours as of the other, and some")

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ours by the other's, round by round."""
        return tuple(ours / other for ours, other in zip(self.ours, self.other, strict=True))

    @property
    def ratio(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.ratios)

    @property
    def asked(self) -> str:
        """The target in words."""
        return "" if self.target is None else str(self.target).format(unit=self.unit)

    def misses(self) -> list[str]:
        """By how much the target is missed, each part of it; nothing when it is met."""
        if self.target is None:
            return []
        own, other = statistics.median(self.ours), statistics.median(self.other)
        at_most = (
            (self.ratio, self.target.ratio, ""),
            (own, self.target.ours, f" {self.unit}"),
            (own - other, self.target.more, f" {self.unit}"),
        )
        found = [
            f"{value:.2f}{unit} instead of {most:g}, {100 * (value / most - 1):.0f} % too much"
            for value, most, unit in at_most
            if most is not None and value > most
        ]
        least = self.target.ratio_at_least
        if least is not None and self.ratio < least:
            found.append(f"{self.ratio:.2f} instead of {least:g}")
        return found

    @property
    def is_met(self) -> bool:
        """Whether everything that is asked holds; what is told only is always met."""
        return not self.misses()


class Spent(NamedTuple):
    """What a process took with all that it started and waited for, and what it said."""

    cpu_s: float
    peak_mb: float
    wall_s: float
    said: str


def child(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Spent:
    """Run a program to its end; one that fails is an error with its last words."""
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        took = Path(folder, "took")
        ended = subprocess.run(
            [sys.executable, "-I", "-S", LAUNCHER, took, *command],
            capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
        said = took.read_text(encoding="ascii") if took.exists() else "[127, 0, 0, 0]"
    code, cpu_s, peak, wall_s = json.loads(said)
    if code:
        last = " ".join(ended.stderr.strip().splitlines()[-1:])
        raise RuntimeError(f"{Path(command[0]).name} ended with {code}: {last}")
    scale = 1024 if sys.platform != "darwin" else 1024**2
    return Spent(cpu_s, peak / scale, wall_s, ended.stdout.strip())


def rounds(count: int) -> int:
    """How often a line is measured; BENCH_ROUNDS says it for all of them."""
    return int(os.environ.get("BENCH_ROUNDS", "") or count)


def in_turn(
    *ways: Callable[[], Found], count: int, warm_up: bool = False
) -> list[tuple[Found, ...]]:
    """What each way found in every round, one way after the other: other load hits all alike."""
    if warm_up:
        for way in ways:
            way()
    found: list[tuple[Found, ...]] = [() for _way in ways]
    for _round in range(rounds(count)):
        for at, way in enumerate(ways):
            found[at] = (*found[at], way())
    return found


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """What an action takes in this process by a clock."""
    began = clock()
    action()
    return clock() - began

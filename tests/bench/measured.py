"""A line of the benchmark: two figures of one run, and what their ratio should be."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Measured:
    """Two medians in seconds, or two peaks in megabytes."""

    what: str
    ours: float
    other: float
    target: str
    met: bool
    unit: Literal["s", "MB", "requests"] = "s"

    @property
    def ratio(self) -> float:
        """Ours by the other's."""
        return self.ours / self.other

    def figures(self) -> tuple[str, str]:
        """Both for the table."""
        if self.unit == "s":
            return f"{1000 * self.ours:,.0f} ms", f"{1000 * self.other:,.0f} ms"
        unit = " MB" if self.unit == "MB" else ""
        return f"{self.ours:,.0f}{unit}", f"{self.other:,.0f}{unit}"


def in_turn(
    ours: Callable[[], None], other: Callable[[], None], rounds: int
) -> tuple[float, float]:
    """Median wall seconds of both, measured alternately after one warm-up each."""
    ours()
    other()
    times: tuple[list[float], list[float]] = ([], [])
    for _round in range(rounds):
        for action, spent in zip((ours, other), times, strict=True):
            start = time.perf_counter()
            action()
            spent.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])

"""Words for values of agreement and for effect sizes; scales.toml has every scale."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_DUST = 1e-12  # a value computed as 0.19999999999999998 is at 0.2


@dataclass(frozen=True)
class ScaleStep:
    """A word, and from which value on it holds."""

    word: str
    start: float = -math.inf
    excluded: bool = False  # the word does not hold at the start itself

    def is_reached(self, size: float, divisor: float) -> bool:
        """Whether a value is at or beyond the start, which is divided first."""
        distance = size - self.start / divisor
        return distance > _DUST if self.excluded else distance >= -_DUST


@dataclass(frozen=True)
class Scale:
    """Steps from the lowest to the highest."""

    name: str
    kind: Literal["agreement", "effect"]
    title: str
    source: str
    steps: tuple[ScaleStep, ...]
    no_effect: float = 0.0
    ratio: bool = False  # 0.5 is as far from no effect as 2
    by_degrees: bool = False  # steps are for one degree of freedom and shrink with more

    @property
    def description(self) -> str:
        """The words with their starts, such as "poor, slight from 0, fair above 0.2"."""
        lowest, *others = self.steps
        bounds = [
            f"{step.word} {'above' if step.excluded else 'from'} {step.start:g}" for step in others
        ]
        return ", ".join([lowest.word, *bounds])

    def size(self, value: float) -> float:
        """What is compared with the steps."""
        if self.kind == "agreement":
            return value
        if self.ratio:
            return max(value, 1 / value) if value > 0 else math.inf
        return abs(value - self.no_effect)


def word(scale: str, value: float | None, *, degrees: int = 1) -> str:
    """What a scale calls a value; empty without a value.

    `degrees` is the smaller side of the table less one; only Cramer's V depends on it.
    """
    if value is None or math.isnan(value):
        return ""
    chosen = SCALES[scale]
    size = chosen.size(value)
    divisor = math.sqrt(max(1, degrees)) if chosen.by_degrees else 1.0
    return [step.word for step in chosen.steps if step.is_reached(size, divisor)][-1]


def _read() -> dict[str, Scale]:
    tables = tomllib.loads(Path(__file__).with_name("scales.toml").read_text(encoding="utf-8"))
    scales = {}
    for name, table in tables.items():
        steps = tuple(ScaleStep(**step) for step in table.pop("steps"))
        scales[name] = Scale(name, steps=steps, **table)
    return scales


SCALES = _read()
AGREEMENT_SCALES = {name: scale for name, scale in SCALES.items() if scale.kind == "agreement"}
EFFECT_SCALES = {name: scale for name, scale in SCALES.items() if scale.kind == "effect"}

"""The study in which nothing broke."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from faults.comparing import State, state
from faults.whole_study import NAMES, STEPS, Step


@dataclass(frozen=True)
class Reference:
    """A study as it was after each step, when nothing broke, and how many steps commands took."""

    folder: Path
    moments: dict[str, int]

    def after(self, step: Step) -> Path:
        return self.folder / step.name / "study"

    def before(self, step: Step) -> Path | None:
        place = NAMES.index(step.name)
        return self.after(STEPS[place - 1]) if place else None

    def state(self, step: Step) -> State:
        return _state(self.after(step))


@cache
def _state(study: Path) -> State:
    return state(study)

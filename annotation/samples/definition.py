"""What a sample is: from what, how drawn, how large."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import Precision

Method = Literal["simple", "stratified", "highest"]
Allocation = Literal["", "proportional", "equal", "optimal", "each"]
ALLOCATIONS: tuple[Allocation, ...] = ("proportional", "equal", "optimal", "each")
DEFAULT_SEED = 1

_PIECE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|.", re.DOTALL)
_OF_STEP = re.compile(
    r"artifact_id IN \(SELECT artifact_id FROM selected WHERE step = '((?:[^']|'')*)'\)"
    r"(?: AND \(\n(.*)\n\))?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Definition:
    """How a sample is drawn, whatever its size: as `store.sample` holds it."""

    sample: str
    frame: str  # the condition on `candidates`; '' for all of them
    method: Method = "simple"
    allocation: Allocation = ""
    strata: tuple[str, ...] = ()
    ordered_by: str = ""
    seed: int = DEFAULT_SEED

    def words(self, size: int) -> str:
        """What it is, for a reader."""
        of_strata = f" in strata of {', '.join(self.strata)}" if self.strata else ""
        if self.method == "highest":
            return f"the {size:,} highest by {self.ordered_by}{of_strata}, not a random sample"
        kind = "stratified random" if self.strata else "simple random"
        shared = f", {self.allocation} allocation" if self.allocation else ""
        if self.allocation == "optimal":
            shared += f" by the spread of {self.ordered_by}"
        elif self.allocation == "each":
            shared = ", each a sample of its own"
        return f"a {kind} sample of {size:,}{of_strata}{shared}, seed {self.seed}"

    def words_of_several(self, size: int, frames: Sequence[int]) -> str:
        """What it is, if it was drawn in several draws from frames that differ."""
        counts = [f"{count:,}" for count in frames]
        of = f"{', '.join(counts[:-1])} and {counts[-1]}"
        drawn = f"{size:,} artifacts drawn in {len(frames)} draws from frames of {of}"
        if self.method == "highest":
            return f"{drawn}: in each the highest by {self.ordered_by}, not those of one frame"
        kind = "stratified" if self.strata else "simple"
        return f"{drawn}: not one {kind} random sample; seed {self.seed}"


@dataclass(frozen=True)
class Sizing:
    """How large a sample shall be: a number, or what a precision needs."""

    asked: int | None = None
    precision: Precision | None = None

    def of(self, population: int) -> int:
        """The size for a population; it may be more than there are if it was asked for."""
        if self.asked is not None:
            return self.asked
        return (self.precision or Precision()).size(population)

    def words(self, population: int) -> str:
        """The rule in a sentence."""
        if self.asked is not None:
            return f"a size of {self.asked:,} was given"
        return (self.precision or Precision()).words(population)

    def formula(self) -> str:
        """The rule for any population."""
        if self.asked is not None:
            return f"a size of {self.asked:,} was given"
        return (self.precision or Precision()).formula()


def frame_condition(step: str | None, where: str | None) -> str:
    """The condition on `candidates`: what a step of the funnel left, and what a user asks for."""
    if step is None:
        return where or ""
    quoted = step.replace("'", "''")
    left = f"artifact_id IN (SELECT artifact_id FROM selected WHERE step = '{quoted}')"
    return f"{left} AND (\n{where}\n)" if where else left


def step_and_where(frame: str) -> tuple[str | None, str | None]:
    """What `frame_condition` was made of."""
    if found := _OF_STEP.fullmatch(frame):
        return found[1].replace("''", "'"), found[2]
    return None, frame or None


def frame_words(frame: str) -> str:
    """What was drawn from, for a reader."""
    step, where = step_and_where(frame)
    base = f"what step {step!r} of the funnel left" if step else "everything that was mined"
    return f"{base}, where {' '.join(where.split())}" if where else base


def columns_of(text: str) -> tuple[str, ...]:
    """Columns or expressions that commas separate; those in brackets and quotes do not."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece in "([{") - (piece in ")]}")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    named = tuple(part.strip() for part in parts)
    if not all(named):
        raise StudyError(
            f"{text!r} names no columns", "Separate them with commas: --stratify source,kind."
        )
    return named

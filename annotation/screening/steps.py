"""The steps of screening, and how far papers are in them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.screening.corpus import funnel_step, past_the_funnel
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

TAXONOMY = "paper-screening"
INCLUDE = "include"  # any other code is a reason against it
STEPS = ("title", "abstract", "full text")  # a study may leave some of them out


@dataclass(frozen=True)
class Standing:
    """How far the papers of a step are."""

    step: str
    rounds: tuple[str, ...]
    papers: int
    included: int
    excluded: int
    open: int

    @property
    def words(self) -> str:
        """For a reader."""
        left = f", {self.open:,} open" if self.open else ""
        return (
            f"screening by {self.step}: {self.papers:,} papers, {self.included:,} included, "
            f"{self.excluded:,} excluded{left}"
        )

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "rounds": list(self.rounds)}


def checked_step(text: str) -> str:
    """The step that is meant; it may be written with a dash."""
    step = " ".join(text.lower().replace("-", " ").replace("_", " ").split())
    if step not in STEPS:
        raise StudyError(f"there is no step {text!r}", "Steps: title, abstract, full-text.")
    return step


def option_of(step: str) -> str:
    """The step as it is typed."""
    return step.replace(" ", "-")


def position_of(step: str) -> int:
    """The order of a step, from 1."""
    return STEPS.index(step) + 1


def standings(reader: Reader) -> list[Standing]:
    """Each step that has rounds, in order."""
    rows = reader.rows(
        "SELECT s.step, list(DISTINCT s.round ORDER BY s.round) AS rounds FROM store.screening s "
        "GROUP BY s.step, s.position ORDER BY s.position"
    )
    counts = {
        row["step"]: row
        for row in reader.rows(
            "SELECT step, count(*) AS papers, count(*) FILTER (decision = 'included') AS included, "
            "count(*) FILTER (decision = 'excluded') AS excluded, "
            "count(*) FILTER (decision IS NULL) AS open FROM screening_decisions GROUP BY step"
        )
    }
    nothing = {"papers": 0, "included": 0, "excluded": 0, "open": 0}
    found = []
    for row in rows:
        of_step = counts.get(row["step"], nothing)
        numbers = {name: int(of_step[name]) for name in nothing}
        found.append(Standing(row["step"], tuple(row["rounds"]), **numbers))
    return found


def next_step(reader: Reader) -> str:
    """The command that comes next, where papers wait for a step; else nothing."""
    made = standings(reader)
    if made and past_the_funnel(reader):
        return "miner filter --again"
    if made and _unscreened(reader):
        return f"annotation screen {option_of(made[0].step)} --rater R"
    for before, after in pairwise(made):
        if _waiting(reader, before.step, after.step):
            return f"annotation screen {option_of(after.step)} --rater R"
    if made and not made[-1].open and made[-1].included and made[-1].step != STEPS[-1]:
        later = STEPS[position_of(made[-1].step) :]
        return f"annotation screen {option_of(later[0])} --rater R"
    return ""


def _waiting(reader: Reader, before: str, after: str) -> int:
    """Papers that one step has included and the next does not have."""
    found: int = reader.value(
        "SELECT count(*) FROM screening_decisions d WHERE step = ? AND decision = 'included' "
        "AND artifact_id NOT IN (SELECT artifact_id FROM screening_decisions WHERE step = ?) "
        "AND artifact_id IN (SELECT artifact_id FROM candidates)",
        [before, after],
    )
    return found


def _unscreened(reader: Reader) -> int:
    """Papers that are let through and that no step has: a pilot leaves some, or they are new."""
    found: int = reader.value(
        "SELECT count(*) FROM candidates WHERE kind = 'paper' "
        "AND artifact_id NOT IN (SELECT artifact_id FROM screening_decisions) "
        "AND ($1 IS NULL OR artifact_id IN (SELECT artifact_id FROM selected WHERE step = $1))",
        [funnel_step(reader)],
    )
    return found

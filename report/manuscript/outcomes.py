"""What a check says: a verdict, the computed value, and the rule by which it was compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from faultatlas.data.old.results import ClaimStatus

Verdict = Literal["consistent", "near", "does not follow", "inconsistent", "cannot be checked"]

# From the best to the worst; and what the figures of published studies are called.
STATUS_OF: dict[Verdict, ClaimStatus] = {
    "consistent": "reproduced",
    "cannot be checked": "no data",
    "near": "near",
    "does not follow": "not reproduced",
    "inconsistent": "inconsistent",
}
BAD: frozenset[Verdict] = frozenset({"does not follow", "inconsistent"})


@dataclass(frozen=True)
class Outcome:
    """The answer of one check.

    `rule` says in words how the printed number was compared, `reason` why the verdict is what it
    is; `value` is the computed number, where it is one. `printed` is what stands in the paper,
    where it is not one number.
    """

    verdict: Verdict
    computed: str
    rule: str
    reason: str
    value: float | None = None
    printed: str = ""


@dataclass(frozen=True)
class Finding:
    """An entry of a claims file and what became of it."""

    study: str
    entry_id: str
    figure_id: str
    kind: str
    place: str
    what: str
    printed: str
    computed: str
    value: float | None
    verdict: Verdict
    status: ClaimStatus
    reason: str
    rule: str

    @property
    def bad(self) -> bool:
        """Whether the numbers contradict each other, or one does not follow from the others."""
        return self.verdict in BAD


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several checks together."""
    return max(verdicts, key=list(STATUS_OF).index)


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Several checks of one entry as one: the worst verdict with its own reasons."""
    if len(outcomes) == 1:
        return outcomes[0]
    verdict = worst(each.verdict for each in outcomes)
    those = [each for each in outcomes if each.verdict == verdict]
    values = {each.value for each in outcomes}
    return Outcome(
        verdict,
        " / ".join(dict.fromkeys(each.computed for each in outcomes)),
        "; ".join(dict.fromkeys(each.rule for each in outcomes)),
        "; ".join(dict.fromkeys(each.reason for each in those)),
        values.pop() if len(values) == 1 else None,
    )


@dataclass(frozen=True)
class FigureFinding:
    """A published figure: all entries that name it, together."""

    figure_id: str
    printed: str
    computed: str
    values: tuple[float | None, ...]
    status: ClaimStatus
    reason: str
    rule: str


def by_figure(findings: Iterable[Finding]) -> dict[str, FigureFinding]:
    """The published figures that entries name, in their order, each with its worst verdict."""
    grouped: dict[str, list[Finding]] = {}
    for each in findings:
        if each.figure_id:
            grouped.setdefault(each.figure_id, []).append(each)
    return {name: _figure(name, group) for name, group in sorted(grouped.items())}


def _figure(name: str, group: Sequence[Finding]) -> FigureFinding:
    verdict = worst(each.verdict for each in group)
    return FigureFinding(
        name,
        " / ".join(each.printed for each in group),
        " / ".join(each.computed for each in group),
        tuple(each.value for each in group),
        STATUS_OF[verdict],
        "; ".join(dict.fromkeys(each.reason for each in group if each.verdict == verdict)),
        "; ".join(dict.fromkeys(each.rule for each in group)),
    )

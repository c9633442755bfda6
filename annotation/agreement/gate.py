"""The gate between rounds: whether agreement was high enough to go on, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.printed import interval_of
from faultatlas.annotation.typed import typed
from faultatlas.data.clock import utc_now
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.measuring import Measured
    from faultatlas.annotation.labels import Stage
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Writer


# What a reason begins with where labels, statistic or threshold are not those that were fixed;
# such a decision opens no round.
OFF_PLAN = "not by the fixed plan: "

CHANGED = "changed after a gate was decided on"  # in the reason where independent labels were

NEAR = 1e-9  # a value that is so little below a threshold is rounding


@dataclass(frozen=True)
class Gate:
    """A decision, as `store.gate` holds it."""

    round: str
    stage: str
    statistic: str
    threshold: float
    value: float | None
    low: float | None
    high: float | None
    items: int
    is_passed: bool
    reason: str
    decided_at: datetime
    for_round: str | None = None  # of who goes on in spite of it
    cause: str | None = None


def put_gate(writer: Writer, gate: Gate, run: Run) -> None:
    """Store a decision; the run must have been recorded."""
    kind = "off plan" if gate.reason.startswith(OFF_PLAN) else "measured"
    row = {**asdict(gate), "kind": "override" if gate.for_round else kind, "run_id": run.run_id}
    writer.insert("gate", {name: [value] for name, value in row.items()})


def decide(
    round_name: str,
    measured: Measured,
    stage: Stage,
    threshold: float,
    remarks: Sequence[str] = (),
    *,
    off_plan: bool = False,
) -> Gate:
    """Whether a value reaches the threshold, in words that say what it rests on."""
    estimate = measured.estimate
    low, high = interval_of(measured)
    passed = estimate.value is not None and estimate.value >= threshold - NEAR
    if estimate.value is None:
        said = f"{measured.title} has no value: {estimate.reason}"
    else:
        ends = f" (95 % interval {formatting.interval(low, high)})" if low is not None else ""
        verb = "reaches" if passed else "does not reach"
        value = beside(float(estimate.value), threshold)
        said = f"{measured.title} {value}{ends} {verb} {threshold:g}"
        if passed and low is not None and low < threshold - NEAR:
            said += ", though its interval begins below"
    return Gate(
        round_name,
        stage,
        measured.key,
        threshold,
        estimate.value,
        low,
        high,
        estimate.items,
        passed,
        (OFF_PLAN if off_plan else "") + "; ".join((said, *remarks)),
        utc_now(),
    )


def beside(value: float, threshold: float) -> str:
    """A value with as many digits as tell it from the threshold."""
    digits = 3
    while (
        abs(value - threshold) > NEAR
        and digits < 9
        and round(value, digits) == round(threshold, digits)
    ):
        digits += 1
    return formatting.number(value) if digits == 3 else f"{value:.{digits}f}"


def what_next(gate: Gate) -> str:
    """What a user does after the decision."""
    name = typed(gate.round)
    if gate.is_passed and gate.reason.startswith(OFF_PLAN) and CHANGED in gate.reason:
        return (
            "The next round waits: give labels that were changed after a discussion at the stage "
            f"negotiated and measure that (annotation agreement {name} --stage negotiated --gate), "
            "or go on and say why: annotation round NEXT --despite-gate REASON"
        )
    if gate.is_passed and gate.reason.startswith(OFF_PLAN):
        return f"The next round waits for what was fixed: annotation agreement {name} --gate"
    if gate.is_passed:
        return "Go on with the next round."
    if gate.value is None:
        return _without_value(gate, name)
    if gate.stage == "independent":
        return (
            f"Discuss what raters disagree on (annotation adjudicate {name}), label again "
            f"and measure that: annotation agreement {name} --stage negotiated --gate"
        )
    return "Mend definitions and examples of the codes, then label a new round with them."


def _without_value(gate: Gate, name: str) -> str:
    from faultatlas.analysis.statistics.agreement.ratings import ONE_CATEGORY

    if ONE_CATEGORY in gate.reason:
        return (
            "All labels are one code, so nothing shows that raters tell codes apart: label items "
            f"of other kinds, or go on and say why: annotation round NEXT --despite-gate REASON "
            f"(NEXT comes after {name})"
        )
    if "is for two raters" in gate.reason:
        return (
            f"The statistic that was fixed does not fit this round. Look at one that does: "
            f"annotation agreement {name} --statistic pairwise; the next round fixes it in "
            "study.toml."
        )
    return "Let two raters label more items: labels come by annotation pull or annotation import."

"""The gate between rounds: whether agreement was high enough to go on, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from annotation.agreement.printed import interval_of
from data.provenance import utc_now
from report import formatting

if TYPE_CHECKING:
    from annotation.agreement.measuring import Measured
    from annotation.labels import Stage
    from data.provenance import Run
    from data.store import Reader, Writer


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


def last_gate(reader: Reader, round_name: str) -> Gate | None:
    """The last decision on a round; None where there was none."""
    rows = reader.rows(
        "SELECT round, stage, statistic, threshold, value, low, high, items, is_passed, reason, "
        "decided_at FROM store.gate WHERE round = ? ORDER BY decided_at DESC, rowid DESC LIMIT 1",
        [round_name],
    )
    return Gate(**rows[0]) if rows else None


def put_gate(writer: Writer, gate: Gate, run: Run) -> None:
    """Store a decision; the run must have been recorded."""
    writer.execute(
        "INSERT INTO store.gate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            gate.round, gate.stage, gate.statistic, gate.threshold, gate.value, gate.low,
            gate.high, gate.items, gate.is_passed, gate.reason, gate.decided_at, run.run_id,
        ],
    )  # fmt: skip


def decide(
    round_name: str,
    measured: Measured,
    stage: Stage,
    threshold: float,
    remarks: Sequence[str] = (),
) -> Gate:
    """Whether a value reaches the threshold, in words that say what it rests on."""
    estimate = measured.estimate
    low, high = interval_of(measured)
    passed = estimate.value is not None and estimate.value >= threshold
    if estimate.value is None:
        said = f"{measured.title} has no value: {estimate.reason}"
    else:
        ends = f" (95 % interval {formatting.interval(low, high)})" if low is not None else ""
        verb = "reaches" if passed else "does not reach"
        value = formatting.number(float(estimate.value))
        said = f"{measured.title} {value}{ends} {verb} {threshold:g}"
        if passed and low is not None and low < threshold:
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
        "; ".join((said, *remarks)),
        utc_now(),
    )


def what_next(gate: Gate) -> str:
    """What a user does after the decision."""
    if gate.is_passed:
        return "Go on with the next round."
    if gate.value is None:
        return "Measure it by a statistic that fits these labels: --statistic krippendorff"
    if gate.stage == "independent":
        return (
            f"Discuss what raters disagree on (annotation adjudicate {gate.round}), label again "
            f"and measure that: annotation agreement {gate.round} --stage negotiated --gate"
        )
    return "Mend definitions and examples of the codes, then label a new round with them."

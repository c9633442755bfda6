"""The gate before a round: those before must have agreed enough, or somebody says why not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from annotation.rounds import Round, find_round
from data.errors import StudyError
from data.provenance import utc_now
from report.formatting import number

if TYPE_CHECKING:
    from annotation.agreement.gate import Gate
    from data.provenance import Run
    from data.store import Reader, Writer

_DESPITE = "not passed, and round "  # what such a reason begins with

State = Literal["none", "open", "passed", "failed", "despite"]


@dataclass(frozen=True)
class Hold:
    """How the gate between a round and the one before it stands."""

    state: State  # none: there is nothing to pass; open: not decided yet
    words: str = ""

    @property
    def lets_pass(self) -> bool:
        """Whether the round may begin."""
        return self.state in ("none", "passed", "despite")


def last_measured(reader: Reader, round_name: str) -> Gate | None:
    """The last decision on a round that was measured: not a reason to go on in spite of one."""
    from annotation.agreement.gate import Gate

    rows = reader.rows(
        "SELECT * EXCLUDE run_id FROM gates WHERE round = ? AND NOT starts_with(reason, ?) "
        "ORDER BY decided_at DESC LIMIT 1",
        [round_name, _DESPITE],
    )
    return Gate(**rows[0]) if rows else None


def hold_on(reader: Reader, of: Round) -> Hold:
    """How the gate before a round stands."""
    if of.after is None:
        return Hold("none")
    before = find_round(reader, of.after)
    if before.threshold is None or before.statistic is None:
        return Hold("none")
    gate = last_measured(reader, before.name)
    if gate is not None and gate.is_passed:
        return Hold("passed", _measured(gate))
    if said := _despite(reader, of):
        return Hold("despite", said)
    if gate is None:
        needed = f"{before.statistic} must reach {number(before.threshold)}"
        return Hold("open", f"the gate of round {before.name!r} was not decided yet: {needed}")
    return Hold("failed", f"the gate of round {before.name!r} was not passed: {_measured(gate)}")


def require_gate(reader: Reader, of: Round) -> None:
    """Refuse to begin a round before the gate of the one before it is passed."""
    hold = hold_on(reader, of)
    if not hold.lets_pass:
        raise StudyError(
            f"round {of.name!r} cannot begin: {hold.words}",
            f"Measure it: annotation agreement {of.after} --gate; or go on and say why: "
            f'annotation round {of.name} --despite-gate "REASON"',
        )


def go_on(writer: Writer, of: Round, reason: str, run: Run) -> bool:
    """Let a round begin although the gate before it is not passed; the reason is kept.

    What is stored is what was measured, not passed, with who goes on and why; gives whether that
    is new.
    """
    from annotation.agreement.gate import Gate, put_gate

    reason = " ".join(reason.split())
    if not reason:
        raise StudyError(
            "it is not said why to go on", f'annotation round {of.name} --despite-gate "REASON"'
        )
    hold = hold_on(writer, of)
    if hold.state == "despite" and hold.words == reason:
        return False
    if hold.state in ("none", "passed") or of.after is None:
        raise StudyError(
            f"no gate holds round {of.name!r} up", f"Leave it out: annotation push {of.name}"
        )
    before = find_round(writer, of.after)
    last = last_measured(writer, before.name)
    put_gate(
        writer,
        replace(
            last
            or Gate(
                round=before.name,
                stage="independent",
                statistic=before.statistic or "",
                threshold=before.threshold or 0.0,
                value=None,
                low=None,
                high=None,
                items=0,
                is_passed=False,
                reason="",
                decided_at=utc_now(),
            ),
            reason=_prefix(of) + reason,
            decided_at=utc_now(),
        ),
        run,
    )
    return True


def _prefix(of: Round) -> str:
    """What the reason of such a row begins with; it says which round went on."""
    return f"{_DESPITE}{of.name} goes on in spite of it: "


def _despite(reader: Reader, of: Round) -> str:
    """Why a round goes on in spite of the gate; nothing if it does not."""
    said = reader.value(
        "SELECT reason FROM store.gate WHERE round = ? AND NOT is_passed "
        "AND starts_with(reason, ?) ORDER BY decided_at DESC LIMIT 1",
        [of.after, _prefix(of)],
    )
    return str(said or "").removeprefix(_prefix(of))


def _measured(gate: Gate) -> str:
    value = "nothing could be measured" if gate.value is None else number(gate.value)
    return f"{gate.statistic} {value}, {number(gate.threshold)} is needed"

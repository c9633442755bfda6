"""The gate before a round: those before must have agreed enough, or somebody says why not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from faultatlas.annotation.rounds import Round, find_round
from faultatlas.annotation.typed import typed
from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError
from faultatlas.data.old.gates import GONE_ON, changed_after_gate
from faultatlas.report.formatting import counted, number

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.gate import Gate
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer

_MISSING = """
SELECT count(*) FROM store.assignment a WHERE round = ? AND NOT EXISTS (
    SELECT 1 FROM labels l WHERE l.round = a.round AND l.item_id = a.item_id
        AND l.rater = a.rater AND l.stage = 'independent' AND l.is_current)
"""
_CHANGED = """
SELECT stage, max(coalesce(ended_at, started_at)) AS at
FROM store.answer JOIN store.run USING (run_id)
WHERE round = ? AND taxonomy_version = ? GROUP BY stage
"""

State = Literal["none", "open", "passed", "failed", "despite"]


@dataclass(frozen=True)
class Hold:
    """How the gate between a round and those before it stands."""

    state: State  # none: there is nothing to pass; open: not decided, or not on all labels
    words: str = ""
    before: str = ""  # the round whose gate it is
    next: str = ""  # the command that may open it

    @property
    def lets_pass(self) -> bool:
        """Whether the round may begin."""
        return self.state in ("none", "passed", "despite")


@dataclass(frozen=True)
class Standing:
    """How the gate of a round stands, by the labels that it has now."""

    gate: Gate | None  # the decision that counts
    missing: int  # labels that are still to come
    is_outdated: bool = False  # whether labels were changed after it
    is_discussed: bool = False  # whether there are labels that were given after discussion
    is_pushed: bool = False  # whether its labels come from Label Studio
    changed: int = 0  # independent labels that were changed after a gate was decided on them

    @property
    def is_passed(self) -> bool:
        """Whether agreement was high enough on all labels, as they are."""
        passed = self.gate is not None and self.gate.is_passed
        return passed and not self.missing and not self.is_outdated

    @property
    def is_to_discuss(self) -> bool:
        """Whether independent labels cannot open it any more: it failed on them as they are.

        Nor can those that were changed after a decision.
        """
        if self.gate is None:
            return False
        if self.is_outdated:
            return bool(self.changed) and not self.is_discussed
        discussed = self.is_discussed and self.gate.stage == "independent"
        return not self.gate.is_passed and not discussed


def _decisions(reader: Reader, round_name: str) -> list[Gate]:
    """Decisions on a round by what was fixed, the last first; no reason to go on in spite of one.

    Nor those by labels, a statistic or a threshold that were chosen afterwards.
    """
    from faultatlas.annotation.agreement.gate import OFF_PLAN, Gate

    rows = reader.rows(
        "SELECT * EXCLUDE (run_id, kind) FROM gates WHERE round = ? AND NOT starts_with(reason, ?) "
        "AND NOT starts_with(reason, ?) ORDER BY decided_at DESC",
        [round_name, GONE_ON, OFF_PLAN],
    )
    return [Gate(**row) for row in rows]


def standing(reader: Reader, of: Round) -> Standing:
    """How the gate of a round stands.

    A decision is on the labels that were there. As long as those of its stage and before stay as
    they were it holds, and one that was passed is not undone by measuring something else later,
    nor by labels that are given again in another version of the taxonomy.
    """
    own = [of.name, of.taxonomy_version]
    changed = {row["stage"]: row["at"] for row in reader.rows(_CHANGED, own)}
    pushed = reader.value("SELECT 1 FROM store.project WHERE round = ? LIMIT 1", [of.name])
    found = Standing(
        None,
        missing=int(reader.value(_MISSING, [of.name])),
        is_discussed="negotiated" in changed,
        is_pushed=pushed is not None,
        changed=sum(each.round == of.name for each in changed_after_gate(reader)),
    )

    def holds(gate: Gate) -> bool:
        stages = ("independent",) if gate.stage == "independent" else ("independent", gate.stage)
        return all(changed.get(stage, gate.decided_at) <= gate.decided_at for stage in stages)

    decisions = _decisions(reader, of.name)
    holding = [gate for gate in decisions if holds(gate)]
    for gate in (*(each for each in holding if each.is_passed), *holding):
        return replace(found, gate=gate)
    last = decisions[0] if decisions else None
    return replace(found, gate=last, is_outdated=last is not None)


def gate_before(reader: Reader, of: Round) -> Round | None:
    """The nearest round before this one that has a gate; those in between have none."""
    name = of.after
    while name is not None:
        before = find_round(reader, name)
        if before.threshold is not None and before.statistic is not None:
            return before
        name = before.after
    return None


def hold_on(reader: Reader, of: Round) -> Hold:
    """How the gate before a round stands."""
    before = gate_before(reader, of)
    if before is None:
        return Hold("none")
    found = standing(reader, before)
    if found.gate is not None and found.is_passed:
        return Hold("passed", _measured(found.gate), before.name)
    if said := _despite(reader, of, before.name):
        return Hold("despite", said, before.name)
    return _held(before, found)


def _held(before: Round, found: Standing) -> Hold:
    """Why a gate that is not passed is not, and what may open it."""
    name, gate = before.name, found.gate
    measure = measuring(name, found)
    if found.missing:
        words = f"round {name!r} waits for {counted(found.missing, 'label')}"
        if gate is not None:
            words += ", and a gate that was decided before they are there does not count"
        return Hold("open", words, name, bringing(name, found))
    if gate is None:
        needed = f"{before.statistic} must reach {number(before.threshold or 0.0)}"
        words = f"the gate of round {name!r} was not decided yet: {needed}"
        return Hold("open", words, name, measure)
    if found.is_outdated:
        words = f"labels of round {name!r} were changed after its gate was decided"
        if found.changed and not gate.is_passed:
            words += ", which was not passed: after a discussion they belong to stage negotiated"
        return Hold("open", words, name, measure)
    words = f"the gate of round {name!r} was not passed: {_measured(gate)}"
    return Hold("failed", words, name, measure)


def bringing(name: str, found: Standing) -> str:
    """The command that brings the labels of a round in: from Label Studio, or from sheets."""
    word = typed(name)
    return f"annotation pull {word}" if found.is_pushed else f"annotation import {word} FILE"


def measuring(name: str, found: Standing) -> str:
    """The command that decides on a round: by what was said after discussion, if it was.

    What was not enough is not measured again, but discussed.
    """
    if found.is_to_discuss:
        return f"annotation adjudicate {typed(name)}"
    stage = " --stage negotiated" if found.is_discussed else ""
    return f"annotation agreement {typed(name)}{stage} --gate"


def require_gate(reader: Reader, of: Round) -> None:
    """Refuse to begin a round before the gate of those before it is passed."""
    hold = hold_on(reader, of)
    if hold.lets_pass:
        return
    verbs = {"agreement": "Measure it", "adjudicate": "Discuss it"}
    verb = verbs.get(hold.next.split()[1], "Label it")
    raise StudyError(
        f"round {of.name!r} cannot begin: {hold.words}",
        f"{verb}: {hold.next}; or go on and say why: "
        f'annotation round {typed(of.name)} --despite-gate "REASON"',
    )


def require_gate_at_first(reader: Reader, of: Round) -> None:
    """The same for sheets of a round that nobody has labelled; one that has labels has begun."""
    begun = "SELECT 1 FROM store.answer WHERE round = ? AND stage = 'independent' LIMIT 1"
    if reader.value(begun, [of.name]) is None:
        require_gate(reader, of)


def go_on(writer: Writer, of: Round, reason: str, run: Run) -> bool:
    """Let a round begin although the gate before it is not passed; the reason is kept.

    What is stored is what was measured, not passed, with who goes on and why; gives whether that
    is new.
    """
    from faultatlas.annotation.agreement.gate import Gate, put_gate

    reason = " ".join(reason.split())
    if not reason:
        raise StudyError(
            "it is not said why to go on",
            f'annotation round {typed(of.name)} --despite-gate "REASON"',
        )
    hold = hold_on(writer, of)
    if hold.state == "despite" and hold.words == reason:
        return False
    if hold.state in ("none", "passed"):
        raise StudyError(
            f"no gate holds round {of.name!r} up",
            f"Leave it out: annotation push {typed(of.name)}",
        )
    before = find_round(writer, hold.before)
    last = standing(writer, before).gate
    put_gate(
        writer,
        replace(
            replace(last, is_passed=False)
            if last
            else Gate(
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
            for_round=of.name,
            cause=reason,
        ),
        run,
    )
    return True


def _prefix(of: Round) -> str:
    """What the reason of such a row begins with; it says which round went on."""
    return f"{GONE_ON}{of.name} goes on in spite of it: "


def _despite(reader: Reader, of: Round, before: str) -> str:
    """Why a round goes on in spite of the gate; nothing if it does not."""
    said = reader.value(
        "SELECT reason FROM store.gate WHERE round = ? AND NOT is_passed "
        "AND starts_with(reason, ?) ORDER BY decided_at DESC LIMIT 1",
        [before, _prefix(of)],
    )
    return str(said or "").removeprefix(_prefix(of))


def _measured(gate: Gate) -> str:
    from faultatlas.annotation.agreement.gate import beside

    value = "nothing could be measured"
    if gate.value is not None:
        value = beside(gate.value, gate.threshold)
    return f"{gate.statistic} {value}, {number(gate.threshold)} is needed"

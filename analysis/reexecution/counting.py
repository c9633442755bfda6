"""Symptoms that a run shows or does not: crash, NaN, hang, out of memory, incorrect output.

Three runs a side: all buggy and no fixed one, and it is settled. Where the runs disagree, ten a
side and Fisher's exact test at 0.01. A run that failed in another way, or was cut before it could
show anything, is evidence of nothing: it counts against whatever is claimed.
"""

from __future__ import annotations

from dataclasses import replace

from faultatlas.analysis.reexecution.invalidity import reason_of
from faultatlas.analysis.reexecution.sides import Side, main_cause
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict
from faultatlas.analysis.statistics.tables import fisher_greater

EXTENDED = 10  # runs a side where three disagree
P_EXTENDED = 0.01


def count(sides: dict[str, Side], least: int) -> Judgement:
    """The verdict of a symptom that is there or not; both sides have been tried often enough."""
    buggy, fixed = sides["buggy"], sides.get("fixed")
    most = max(EXTENDED, least)
    if not buggy.said:
        judged = _mute(buggy, fixed)
    elif fixed is None or not fixed.said:
        judged = _alone(buggy, fixed, least, most)
    else:
        judged = _both(buggy, fixed, least, most)
    return replace(
        judged,
        buggy_runs=buggy.counted,
        buggy_shown=buggy.shown,
        fixed_runs=fixed.counted if fixed else 0,
        fixed_shown=fixed.shown if fixed else 0,
        signature=buggy.signature or (fixed.signature if fixed else ""),
    )


def _alone(buggy: Side, fixed: Side | None, least: int, most: int) -> Judgement:
    """No fixed side, or one that cannot say: then at best it is reproduced."""
    if fixed is not None and (fixed.is_idle or buggy.is_none):
        return _mute(fixed)
    disagree = 0 < buggy.shown < buggy.said
    if (buggy.mute or (disagree and fixed is not None)) and len(buggy.runs) < most:
        return _open(buggy, fixed, most)
    if disagree:
        return _flaky(buggy, fixed)
    if buggy.said < least or buggy.mute:
        return _flaky(buggy, fixed) if buggy.shown >= least else _mute(buggy, fixed)
    if buggy.is_all:
        why = f"the fixed side: {main_cause(fixed.mute)[1]}" if fixed else "there is no fixed side"
        return _reproduced(buggy, why)
    return _not_triggered(buggy, None)


def _both(buggy: Side, fixed: Side, least: int, most: int) -> Judgement:
    """Both sides can say something."""
    if not buggy.mute and not fixed.mute and (settled := _agreed(buggy, fixed)) is not None:
        return settled
    if min(len(buggy.runs), len(fixed.runs)) < most:
        return _open(buggy, fixed, most)
    p_value = _p_value(buggy, fixed)
    if p_value <= P_EXTENDED:
        return _verified(buggy, fixed, "fisher")
    if _p_value(fixed, buggy) <= P_EXTENDED:
        return _reversed(buggy, fixed, "fisher")
    if lost := [*buggy.lost, *fixed.lost]:  # the host kept from us what might have decided
        text = f"{_told(buggy, fixed)}: not decisive; {main_cause(lost)[1]}"
        return Judgement(Verdict.INFRASTRUCTURE, Reason.HOST, text, most, rule="infrastructure")
    return _undecided(buggy, fixed, least) or _flaky(buggy, fixed, p_value)


def _agreed(buggy: Side, fixed: Side) -> Judgement | None:
    """All runs of a side that can say are alike, on both sides."""
    if buggy.is_all and fixed.is_none:
        return _verified(buggy, fixed, "all and none")
    if buggy.is_none and fixed.is_all:
        return _reversed(buggy, fixed, "all and none")
    if buggy.is_none and fixed.is_none:
        return _not_triggered(buggy, fixed)
    return _the_same(buggy, fixed) if buggy.is_all and fixed.is_all else None


def _undecided(buggy: Side, fixed: Side, least: int) -> Judgement | None:
    """As many runs as will be made, and too many of them cannot say; None: they contradict."""
    if buggy.said < least or (buggy.is_none and buggy.mute):
        return _mute(buggy, fixed)
    if buggy.is_all and not buggy.mute and not fixed.shown and fixed.mute:
        return _reproduced(buggy, f"the fixed side: {main_cause(fixed.mute)[1]}")
    if buggy.is_none and (fixed.said < least or (fixed.is_none and fixed.mute)):
        return _mute(fixed)
    if buggy.is_none and fixed.is_none:
        return _not_triggered(buggy, fixed)
    return _the_same(buggy, fixed) if buggy.is_all and fixed.is_all else None


def _verified(buggy: Side, fixed: Side, rule: str) -> Judgement:
    p_value = _p_value(buggy, fixed)
    text = f"{_told(buggy, fixed)} (Fisher p = {p_value:.2g}); {buggy.example}"
    return Judgement(Verdict.VERIFIED, Reason.NONE, text, rule=rule, p_value=p_value)


def _the_same(buggy: Side, fixed: Side) -> Judgement:
    """Both sides show it. If they are crashes of two kinds, the fix has a failure of its own."""
    crash = buggy.identity
    is_doubtful = buggy.doubt is not Reason.NONE and buggy.doubt is fixed.doubt
    if crash and crash != fixed.identity and not is_doubtful:
        if buggy.mute:  # not every buggy run
            return _flaky(buggy, fixed)
        return _reproduced(buggy, f"the fixed side: {fixed.example}, which is another crash")
    reason = Reason.ARTIFACT_DEFECT
    if crash and (failure := buggy.failure) is not None:
        reason = reason_of(failure)
    text = f"the same failure on both sides: {buggy.example}"
    return Judgement(Verdict.INVALID, reason, text, rule="same failure")


def _mute(side: Side, other: Side | None = None) -> Judgement:
    reason, text = main_cause(side.mute)
    if other is not None and other.mute and main_cause(other.mute) == (reason, text):
        text = f"the same on both sides: {text}"
    elif side.said:
        text = f"only {side.said} of {len(side.tried)} {side.name} runs can say; {text}"
    else:
        text = f"the {side.name} side: {text}"
    return Judgement(Verdict.INVALID, reason, text, rule="cannot say")


def _reproduced(buggy: Side, why: str) -> Judgement:
    if buggy.doubt is not Reason.NONE:  # nothing shows that it would run here if it were right
        text = f"{buggy.example}; {why}"
        return Judgement(Verdict.INVALID, buggy.doubt, text, rule="cannot say")
    text = f"{_told(buggy, None)} ({buggy.example}); {why}"
    return Judgement(Verdict.REPRODUCED, Reason.FIX_NOT_SHOWN, text, rule="every buggy run")


def _not_triggered(buggy: Side, fixed: Side | None) -> Judgement:
    text = f"{_told(buggy, fixed)}: the program did its work without the symptom"
    return Judgement(Verdict.NOT_REPRODUCED, Reason.NOT_TRIGGERED, text, rule="no symptom")


def _reversed(buggy: Side, fixed: Side, rule: str) -> Judgement:
    p_value = _p_value(fixed, buggy)
    text = f"{_told(buggy, fixed)}: it is the fixed side that shows it ({fixed.example})"
    return Judgement(Verdict.NOT_REPRODUCED, Reason.REVERSED, text, rule=rule, p_value=p_value)


def _flaky(buggy: Side, fixed: Side | None, p_value: float | None = None) -> Judgement:
    tested = "" if p_value is None else f" (Fisher p = {p_value:.2g}, {P_EXTENDED} is asked for)"
    rule = "every buggy run" if fixed is None else "fisher"
    text = f"{_told(buggy, fixed)}{tested}"
    return Judgement(Verdict.FLAKY, Reason.DISAGREEMENT, text, rule=rule, p_value=p_value)


def _open(buggy: Side, fixed: Side | None, wanted: int) -> Judgement:
    text = f"{_told(buggy, fixed)}: not decisive, {wanted} runs a side are wanted"
    if mute := [*buggy.mute, *(fixed.mute if fixed else ())]:
        text = f"{text}; {main_cause(mute)[1]}"
    return Judgement(Verdict.FLAKY, Reason.DISAGREEMENT, text, wanted, rule="so far")


def _told(buggy: Side, fixed: Side | None) -> str:
    """How many runs that happened show it; with those that cannot say, since they count."""
    text = f"{buggy.shown} of {len(buggy.tried)} buggy runs show it{_mute_ones(buggy)}"
    if fixed is None:
        return text
    return f"{text}, {fixed.shown} of {len(fixed.tried)} fixed ones{_mute_ones(fixed)}"


def _mute_ones(side: Side) -> str:
    cut = sum(each.is_cut for each in side.mute)
    said = [f"{cut} {'was' if cut == 1 else 'were'} cut"] if cut else []
    if others := len(side.mute) - cut:
        said.append(f"{others} cannot say")
    return f" ({', '.join(said)})" if said else ""


def _p_value(more: Side, less: Side) -> float:
    """Fisher's test that one side shows it more often; what cannot say counts against it."""
    return fisher_greater(more.shown, len(more.tried), less.shown + len(less.mute), len(less.tried))

"""Bad performance: the same seeds on both sides, compared by ranks.

Five seeds a side; the one-sided exact Mann-Whitney test at 0.01 and Vargha and Delaney's A12 of
0.8 or more, else ten seeds, then twenty. The sides are compared as two samples, not in pairs: the
same seed need not mean the same random numbers once the program has changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.oracles.bad_performance import DURATION, goodness
from faultatlas.analysis.reexecution.sides import Side, main_cause
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict
from faultatlas.analysis.statistics.groups import a12, mann_whitney_greater

STEPS = (5, 10, 20)
P_VALUE, EFFECT = 0.01, 0.8


def compare(bug: Bug, sides: dict[str, Side], least: int) -> Judgement:
    """The verdict of a measured symptom; both sides have been tried often enough to begin with."""
    buggy, fixed = sides["buggy"], sides["fixed"]
    for side in (buggy, fixed):
        if not side.said:
            reason, text = main_cause(side.mute)
            text = f"the {side.name} side: {text}"
            return Judgement(Verdict.INVALID, reason, text, rule="cannot say")
    # Of what is measured infinity is a run that a limit cut; a score may be infinite by itself.
    if bug.oracle.measure and all(
        each.value == math.inf for side in (buggy, fixed) for each in side.tried
    ):
        reason = Reason.TIMEOUT if bug.oracle.measure == DURATION else Reason.ARTIFACT_DEFECT
        text = f"every run of both sides was cut at the limit: {buggy.sightings[0].detail}"
        return Judgement(Verdict.INVALID, reason, text, rule="cannot say")
    pairs = _same_seeds(bug, buggy, fixed)
    tried = min(len(buggy.runs), len(fixed.runs))
    further = next((step for step in STEPS if step > max(tried, least - 1)), 0)
    if len(pairs) < STEPS[0]:
        return _too_few(buggy, fixed, len(pairs), further)
    judged = _compared([pair[0] for pair in pairs], [pair[1] for pair in pairs], further)
    if buggy.mute or fixed.mute:
        judged = _with_failures(bug, buggy, fixed, judged, further)
    lost = [*buggy.lost, *fixed.lost]
    if not lost or judged.wanted or judged.p_value is None or judged.p_value <= P_VALUE:
        return judged
    text = f"{judged.detail}; {main_cause(lost)[1]}"
    return Judgement(Verdict.INFRASTRUCTURE, Reason.HOST, text, STEPS[-1], rule="infrastructure")


def _compared(buggy: Sequence[float], fixed: Sequence[float], further: int) -> Judgement:
    """Goodness of both sides: the larger the better."""
    effect = a12(fixed, buggy)
    worse, better = mann_whitney_greater(fixed, buggy), mann_whitney_greater(buggy, fixed)
    is_all_the_same = len({*buggy, *fixed}) == 1
    text = (
        f"{len(buggy)} seeds a side: the fixed side is better in {100 * effect:.0f} % of all pairs "
        "of runs"
    )
    p_value, wanted, rule = worse, 0, "mann-whitney"
    if worse <= P_VALUE and effect >= EFFECT:
        verdict, reason = Verdict.VERIFIED, Reason.NONE
    elif better <= P_VALUE and 1 - effect >= EFFECT:
        verdict, reason, p_value = Verdict.NOT_REPRODUCED, Reason.REVERSED, better
    elif further and not is_all_the_same:
        verdict, reason, wanted, rule = Verdict.FLAKY, Reason.DISAGREEMENT, further, "so far"
    elif min(worse, better) <= P_VALUE:
        verdict, reason, p_value = Verdict.FLAKY, Reason.DISAGREEMENT, min(worse, better)
        text = f"{text}; they differ, but less than by A12 = {EFFECT}"
    else:
        verdict, reason = Verdict.NOT_REPRODUCED, Reason.NOT_TRIGGERED
    said = f"{text} (A12 = {effect:.2f}, one-sided exact Mann-Whitney p = {p_value:.2g})"
    n = len(buggy)
    return Judgement(
        verdict, reason, said, wanted, rule, buggy_runs=n, fixed_runs=n, p_value=p_value,
        effect=effect,
    )  # fmt: skip


def _with_failures(
    bug: Bug, buggy: Side, fixed: Side, judged: Judgement, further: int
) -> Judgement:
    """Runs that could not be measured count against whatever the others show."""
    count, cause = len(buggy.mute) + len(fixed.mute), main_cause([*buggy.mute, *fixed.mute])
    text = f"{judged.detail}; {count} runs could not be measured: {cause[1]}"
    if judged.reason is Reason.NOT_TRIGGERED:
        if further:
            return replace(_open(text), wanted=further)
        return Judgement(Verdict.INVALID, cause[0], text, rule="cannot say")
    if judged.verdict is not Verdict.VERIFIED and judged.reason is not Reason.REVERSED:
        return replace(judged, detail=text)
    is_verified = judged.verdict is Verdict.VERIFIED
    best, worst = (buggy, fixed) if is_verified else (fixed, buggy)
    lower = [_or(value, math.inf) for value in _values(bug, best)]
    upper = [_or(value, -math.inf) for value in _values(bug, worst)]
    p_value, effect = mann_whitney_greater(upper, lower), a12(upper, lower)
    if p_value <= P_VALUE and effect >= EFFECT:
        shown = effect if is_verified else 1 - effect
        return replace(judged, detail=f"{text}, which count against it", p_value=p_value,
                       effect=shown)  # fmt: skip
    text = f"{text}; counted against it they leave no difference for certain (p = {p_value:.2g})"
    undecided = replace(_open(text), p_value=p_value, effect=judged.effect,
                        buggy_runs=judged.buggy_runs, fixed_runs=judged.fixed_runs)  # fmt: skip
    return replace(undecided, wanted=further) if further else replace(undecided, rule=judged.rule)


def _open(text: str) -> Judgement:
    return Judgement(Verdict.FLAKY, Reason.DISAGREEMENT, text, rule="so far")


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _too_few(buggy: Side, fixed: Side, pairs: int, further: int) -> Judgement:
    mute = [*buggy.mute, *fixed.mute]
    text = f"{pairs} seeds were measured on both sides, {STEPS[0]} are needed"
    if further:
        return Judgement(Verdict.FLAKY, Reason.DISAGREEMENT, text, further, rule="so far")
    lost = [*buggy.lost, *fixed.lost]
    if lost or not mute:
        why = main_cause(lost)[1] if lost else "the sides were run with other seeds"
        return Judgement(
            Verdict.INFRASTRUCTURE, Reason.HOST, f"{text}; {why}", STEPS[0], rule="infrastructure"
        )
    reason, why = main_cause(mute)
    return Judgement(Verdict.INVALID, reason, f"{text}; {why}", rule="cannot say")


def _same_seeds(bug: Bug, buggy: Side, fixed: Side) -> list[tuple[float, float]]:
    """What was measured with the seeds that both sides have, as goodness."""
    first, second = _by_seed(bug, buggy), _by_seed(bug, fixed)
    return [(first[seed], second[seed]) for seed in sorted(first.keys() & second.keys())]


def _by_seed(bug: Bug, side: Side) -> dict[int, float]:
    return {
        observed.run.seed: goodness(bug, sighting.value)
        for observed, sighting in zip(side.runs, side.sightings, strict=True)
        if sighting.value is not None and not sighting.is_host
    }


def _values(bug: Bug, side: Side) -> list[float | None]:
    """The goodness of every run that happened; None of those that could not be measured."""
    return [None if each.value is None else goodness(bug, each.value) for each in side.tried]

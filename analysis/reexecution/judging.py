"""From runs to a verdict: a pure function of what the runs left behind.

The order of the evidence does not matter, nor what `bug.toml` claims. Infrastructure comes first,
then what makes the runs worthless; only runs that did their work can say 'not reproduced'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from faultatlas.analysis.reexecution.bugs import SIDES, Bug, Symptom
from faultatlas.analysis.reexecution.comparing import compare
from faultatlas.analysis.reexecution.counting import count
from faultatlas.analysis.reexecution.oracles import look, oracles
from faultatlas.analysis.reexecution.runs import RAN, Evidence
from faultatlas.analysis.reexecution.sides import Side, main_cause
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, observe
from faultatlas.analysis.reexecution.traces.normalising import plain
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict

SEEDS, MEASURED_SEEDS = 3, 5  # runs a side at least: fewer cannot be decisive
# Another run would not change them.
_LASTING = frozenset({Reason.MISSING_DEPENDENCY, Reason.MISSING_DATA, Reason.INTERPRETER})
_KEPT = 40  # runs a side that are listed in the evidence
_CUDA = "cuda"


def judge(bug: Bug, evidence: Sequence[Evidence], seeds: int = SEEDS) -> Judgement:
    """What the runs of a bug show together; `seeds` is the number of runs a side to begin with."""
    runs = _chosen(bug, evidence)
    is_measured = bug.oracle.symptom is Symptom.BAD_PERFORMANCE
    least = max(seeds, MEASURED_SEEDS if is_measured else SEEDS)
    if (defect := _unrunnable(bug)) is not None:
        return defect
    if bug.labels.about_gpu:
        on_gpu = [each for each in runs if each.run.device.kind == _CUDA]
        if runs and not on_gpu:
            return _infrastructure(Reason.DEVICE, _without_gpu(runs))
        runs = on_gpu
    if not runs:
        return replace(_infrastructure(Reason.HOST, "not run yet"), wanted=least)
    sides = _sides(bug, observe(bug, runs))
    judged = _before_counting(sides, least)
    if judged is None:
        judged = compare(bug, sides, least) if is_measured else count(sides, least)
        judged = _unless_kept_from(sides, judged)
    return replace(judged, detail=plain(judged.detail, 600), evidence=_listed(bug, sides))


def _without_gpu(runs: Sequence[Evidence]) -> str:
    if any(each.run.outcome in RAN for each in runs):
        return "the bug is about a GPU, and ran on a CPU: whatever came out says nothing"
    why = plain(runs[0].run.problem)
    return f"the bug is about a GPU, and could not be run here{f': {why}' if why else ''}"


def _chosen(bug: Bug, evidence: Sequence[Evidence]) -> list[Evidence]:
    """One run for each side and seed: the last attempt that ran, else the last."""
    best: dict[tuple[str, str, int], Evidence] = {}
    for each in evidence:
        run = each.run
        if run.bug_id != bug.bug_id or run.side not in SIDES:
            raise ValueError(f"a run of {run.bug_id} ({run.side}) is no evidence on {bug.bug_id}")
        key = (run.device.kind, run.side, run.seed)
        before = best.get(key)
        if before is None or _rank(each) > _rank(before):
            best[key] = each
    if len({each.run.content for each in best.values()}) > 1:
        raise ValueError(f"the runs of {bug.bug_id} are of several contents")
    return [best[key] for key in sorted(best)]


def _rank(evidence: Evidence) -> tuple[bool, int]:
    return (evidence.run.outcome in RAN, evidence.run.attempt)


def _unrunnable(bug: Bug) -> Judgement | None:
    """An artifact without a program, or with a fix that is none."""
    if "buggy" not in bug.runs or not bug.runs["buggy"].commands:
        return _invalid(Reason.ARTIFACT_DEFECT, "there is no command for the buggy side")
    if "fixed" in bug.runs and not bug.runs["fixed"].commands:
        return _invalid(Reason.ARTIFACT_DEFECT, "the fix is empty: there is no command for it")
    if bug.oracle.symptom is Symptom.BAD_PERFORMANCE and "fixed" not in bug.runs:
        text = "bad performance needs a fixed side to be compared with"
        return _invalid(Reason.ARTIFACT_DEFECT, text)
    return None


def _sides(bug: Bug, observed: Sequence[Observed]) -> dict[str, Side]:
    by_side = {side: [each for each in observed if each.run.side == side] for side in SIDES}
    sightings: dict[str, list[Sighting]] = {}
    for side, other in (SIDES, SIDES[::-1]):
        sightings[side] = [look(bug, each, by_side[other]) for each in by_side[side]]
    apart = getattr(oracles()[bug.oracle.symptom], "apart", None)
    if apart is not None:
        sightings = apart(sightings)
    return {
        side: Side(side, tuple(by_side[side]), tuple(sightings[side]))
        for side in SIDES
        if side in bug.runs
    }


def _before_counting(sides: dict[str, Side], least: int) -> Judgement | None:
    """Infrastructure, then reasons that no further run would change."""
    tried = [each for side in sides.values() for each in side.tried]
    if not tried:
        return _by_host(sides, least)
    not_run = all(each.run.outcome not in RAN for side in sides.values() for each in side.runs)
    everywhere = all(side.tried for side in sides.values())
    is_lasting = all(each.shown is None and each.reason in _LASTING for each in tried)
    if is_lasting and (everywhere or not_run):
        reason, text = main_cause(tried)
        names = [side.name for side in sides.values() if side.tried]
        return _invalid(reason, text if not_run else f"{' and '.join(names)}: {text}")
    if any(len(side.tried) < least for side in sides.values()):
        return _by_host(sides, least)
    return None


def _by_host(sides: dict[str, Side], least: int) -> Judgement:
    """Too few runs: the host did not let them happen, or they are still to come."""
    lost = [each for side in sides.values() for each in side.lost]
    counts = ", ".join(f"{len(side.tried)} {side.name}" for side in sides.values())
    if not lost:
        text = f"not run enough yet: {counts} of {least} runs a side"
        return replace(_infrastructure(Reason.HOST, text), wanted=least)
    reason, text = main_cause(lost)
    judged = _infrastructure(reason, f"{text} ({counts} of {least} runs a side)")
    return replace(judged, wanted=0 if reason is Reason.INTERPRETER else least)


def _unless_kept_from(sides: dict[str, Side], judged: Judgement) -> Judgement:
    """More runs are wanted, and one of them could not be had: too few to say anything."""
    kept_from = [
        sighting
        for side in sides.values()
        for observed, sighting in zip(side.runs, side.sightings, strict=True)
        if sighting.is_host or observed.run.outcome not in RAN
    ]
    if not judged.wanted or not kept_from or judged.verdict is Verdict.INFRASTRUCTURE:
        return judged
    cause, why = main_cause(kept_from)
    # An environment that could be built for the other runs is this host's matter, too.
    reason = cause if cause is Reason.INTERPRETER else Reason.HOST
    text = judged.detail if why in judged.detail else f"{judged.detail}; {why}"
    return replace(_infrastructure(reason, text), wanted=judged.wanted)


def _infrastructure(reason: Reason, text: str) -> Judgement:
    return Judgement(Verdict.INFRASTRUCTURE, reason, text, rule="infrastructure")


def _invalid(reason: Reason, text: str) -> Judgement:
    return Judgement(Verdict.INVALID, reason, text, rule="cannot say")


def _listed(bug: Bug, sides: dict[str, Side]) -> dict[str, Any]:
    """Every run with what it showed, for tables and for whoever doubts a verdict."""
    return {
        "symptom": str(bug.oracle.symptom),
        **{
            side.name: [
                {
                    "seed": observed.run.seed,
                    "attempt": observed.run.attempt,
                    "outcome": str(observed.run.outcome),
                    "shown": sighting.shown,
                    "value": _plain_number(sighting.value),
                    "reason": str(sighting.reason),
                    "detail": plain(sighting.detail),
                }
                for observed, sighting in list(zip(side.runs, side.sightings, strict=True))[:_KEPT]
            ]
            for side in sides.values()
        },
    }


def _plain_number(value: float | None) -> float | str | None:
    """JSON has no NaN."""
    return value if value is None or math.isfinite(value) else str(value)

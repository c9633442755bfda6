"""A study in which everything breaks, in steps that a seed draws."""

from __future__ import annotations

import random
from collections.abc import Callable

from faults.breaking import FAULTS, Fault
from faults.comparing import assert_same, state
from faults.reference import Reference
from faults.running import Trial
from faults.whole_study import STEPS, Step

SEED = 1


def planned(drawn: random.Random) -> dict[str, list[Fault]]:
    """Every fault in one of the steps that it can hit, where few others are."""
    plan: dict[str, list[Fault]] = {step.name: [] for step in STEPS}
    for fault in drawn.sample(FAULTS, len(FAULTS)):
        able = [step.name for step in STEPS if fault.hits(step)]
        fewest = min(len(plan[name]) for name in able)
        plan[drawn.choice([name for name in able if len(plan[name]) == fewest])].append(fault)
    return {
        name: sorted(faults, key=lambda fault: fault.may_do_it) for name, faults in plan.items()
    }


def test_a_study_in_which_everything_breaks_equals_one_in_which_nothing_does(
    trial_of: Callable[[Step], Trial], reference: Reference
) -> None:
    drawn = random.Random(SEED)  # noqa: S311
    plan, trial = planned(drawn), trial_of(STEPS[0])
    for step in STEPS:
        step.before(trial.study)
        is_done = False
        for fault in plan[step.name]:  # those that a step may be done in spite of come last
            before = trial.runs_done(step)
            if not is_done:
                fault.happen(trial, step, drawn)
            is_done = is_done or (fault.may_do_it and trial.runs_done(step) > before)
        if not is_done:
            trial.finish(step)
        trial.check(step)
    assert_same(state(trial.study), reference.state(STEPS[-1]))


def test_a_plan_has_every_fault_once() -> None:
    plan = planned(random.Random(SEED))  # noqa: S311
    names = sorted(fault.name for faults in plan.values() for fault in faults)
    assert names == sorted(fault.name for fault in FAULTS)

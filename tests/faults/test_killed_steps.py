"""`kill -9` in every step of a study: the same command again, and it is as if nothing had been."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from faults import leftovers
from faults.comparing import assert_same, state
from faults.reference import Reference
from faults.running import Trial
from faults.whole_study import STEPS, Step

KILLS = 2


def moments(step: Step, count: int) -> list[int]:
    """Seeded moments of a command that takes so many steps, one in each half of it."""
    drawn = random.Random(step.name)  # noqa: S311
    return [1 + int((part + drawn.random()) * count / KILLS) for part in range(KILLS)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_command_that_is_killed_again_and_again_ends_as_if_it_had_not_been(
    trial_of: Callable[[Step], Trial], reference: Reference, step: Step
) -> None:
    trial = trial_of(step)
    before = trial.runs_done(step)
    for number, moment in enumerate(moments(step, reference.moments[step.name])):
        ended = trial.run(step, kill_at=moment)
        leftovers.none_left(trial.study, ended)
        if not ended.was_killed:  # it went on, and had less to do than at first
            assert ended.code == 0, ended
            assert number > 0
            break
        if trial.runs_done(step) > before:  # what says that all is done has done all
            break
    else:
        trial.finish(step)
    trial.check(step)
    assert_same(state(trial.study), reference.state(step))

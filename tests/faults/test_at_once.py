"""Several commands on one study at the same time, and a log that was torn when the power went."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from faults import leftovers
from faults.comparing import assert_same, state
from faults.reference import Reference
from faults.running import Trial
from faults.whole_study import BY_NAME, Step

# Each list can be done in any order after the step before its first.
LOG = "study.duckdb.wal"
TOGETHER = [("commits", "dump", "posts", "papers"), ("distribution", "gap")]


@pytest.mark.parametrize("names", TOGETHER, ids=" ".join)
def test_commands_that_run_at_the_same_time_take_turns(
    trial_of: Callable[[Step], Trial], reference: Reference, names: tuple[str, ...]
) -> None:
    steps = [BY_NAME[name] for name in names]
    trial = trial_of(steps[0])
    trial.world.program.start(*(trial.wanted(step) for step in steps))
    for ended in trial.world.program.end():
        assert ended.code == 0, ended
        leftovers.none_left(trial.study, ended)
    trial.check(steps[-1])
    assert_same(state(trial.study), reference.state(steps[-1]))


@pytest.fixture
def logged(trial_of: Callable[[Step], Trial], reference: Reference) -> Trial:
    """A study that was killed when a round was stored: all of it is in the log beside the file."""
    step = BY_NAME["round"]
    trial = trial_of(step)
    ended = trial.run(step, kill_at=reference.moments["round"])
    assert ended.was_killed
    assert (trial.study / LOG).stat().st_size > 10_000
    return trial


@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.999])
def test_a_log_that_lost_its_end_loses_only_what_was_not_yet_in_the_file(
    logged: Trial, reference: Reference, part: float
) -> None:
    step, log = BY_NAME["round"], logged.study / LOG
    log.write_bytes(log.read_bytes()[: int(log.stat().st_size * part)])
    logged.finish(step)
    assert_same(state(logged.study), reference.state(step))


def test_a_damaged_log_is_named_and_the_study_goes_on_without_it(
    logged: Trial, reference: Reference
) -> None:
    """As a disk leaves it that had no power: as long as it was, and empty."""
    step, log = BY_NAME["round"], logged.study / LOG
    content = log.read_bytes()
    log.write_bytes(content[: len(content) // 2] + bytes(len(content) // 2))
    leftovers.refused(logged.run(step), f"{LOG} is damaged", "remove that file")
    log.unlink()
    logged.finish(step)
    assert_same(state(logged.study), reference.state(step))

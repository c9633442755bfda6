"""Studies of older programs go on with this one: nothing is lost, also if the upgrade is killed."""

from __future__ import annotations

import random
from collections.abc import Callable

import duckdb
import pytest
from faults import leftovers
from faults.comparing import assert_same, state
from faults.old_studies import made_old
from faults.reference import Reference
from faults.running import Trial
from faults.whole_study import BY_NAME, NAMES, STEPS, Step
from loopback.studies import opened

from faultatlas.data.migration import shipped_migrations

# The newest step that a program with so many tables could have taken.
AFTER = {4: "fetch", 6: "commits", 7: "posts", 11: "papers", 13: "gap"}
STATUS = Step("status", "miner", ("status",), ("SELECT count(*) > 20 FROM issues",))


def next_step(name: str) -> Step:
    return STEPS[NAMES.index(name) + 1]


def schema(trial: Trial) -> int:
    with opened(trial.study) as connection:
        asked = "SELECT max(number) FROM store.schema_migration"
        return int(connection.execute(asked).fetchall()[0][0])


@pytest.mark.parametrize("number", AFTER)
def test_an_old_study_goes_on_with_its_next_step(
    trial_of: Callable[[Step], Trial], reference: Reference, number: int
) -> None:
    step = next_step(AFTER[number])
    trial = trial_of(step)
    made_old(trial.study, number)
    assert schema(trial) == number
    trial.finish(step)
    assert schema(trial) == len(shipped_migrations())
    assert_same(state(trial.study), reference.state(step))


def test_an_upgrade_that_is_killed_again_and_again_goes_on(
    trial_of: Callable[[Step], Trial], reference: Reference
) -> None:
    step = BY_NAME["commits"]
    trial, drawn = trial_of(step), random.Random("upgrade")  # noqa: S311
    made_old(trial.study, 4)
    reached = [4]
    while reached[-1] < len(shipped_migrations()):
        ended = trial.run(STATUS, kill_at=1 + drawn.randrange(6))
        assert ended.was_killed, ended
        leftovers.none_left(trial.study, ended)
        reached.append(schema(trial))
        assert len(reached) < 40, reached
    assert reached == sorted(reached)
    assert len(set(reached)) > 3
    trial.finish(step)
    assert_same(state(trial.study), reference.state(step))


def test_the_first_schema_of_all_with_a_run_in_it(
    trial_of: Callable[[Step], Trial], reference: Reference
) -> None:
    step = BY_NAME["fetch"]
    trial = trial_of(next_step("fetch"))
    made_old(trial.study, 1)
    trial.finish(step)
    with opened(trial.study) as connection:
        runs = connection.execute("SELECT command, outcome FROM runs").fetchall()
    assert runs == [("miner fetch", "ok")] * 2
    assert_same(state(trial.study), reference.state(step))


def test_final_labels_of_a_program_that_knew_no_rounds_are_kept(
    trial_of: Callable[[Step], Trial],
) -> None:
    trial = trial_of(next_step("fetch"))
    made_old(trial.study, 9)
    old = [(f"github:example/tensors#{number}", code) for number in (1, 2) for code in "ab"]
    with duckdb.connect(str(trial.study / "study.duckdb")) as connection:
        for artifact, code in old:
            row = ["r", artifact, artifact, "t", "1", code, "imported", "old"]
            connection.execute("INSERT INTO store.final_label VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    trial.finish(STATUS)
    with opened(trial.study) as connection:
        asked = "SELECT artifact_id, code FROM final_labels ORDER BY ALL"
        assert connection.execute(asked).fetchall() == old

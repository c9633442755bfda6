"""Every way in which things break, in a step where it matters."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from faults.breaking import BY_NAME
from faults.comparing import assert_same, state
from faults.reference import Reference
from faults.running import Trial
from faults.whole_study import BY_NAME as STEPS
from faults.whole_study import Step

# Where each fault is tried by itself; the long scenarios try it in other steps.
CASES = [
    ("full disk", "fetch"),
    ("full disk", "import"),
    ("full disk", "reexecute"),
    ("full disk", "package"),
    ("nearly full disk", "commits"),
    ("nearly full disk", "build"),
    ("cut input", "dump"),
    ("cut input", "papers"),
    ("cut input", "import"),
    ("cut input", "verify"),
    ("cut database", "link"),
    ("held for long", "adjudicate"),
    ("held for a while", "commits"),
    ("held for a while", "round"),
    ("twice at once", "fetch"),
    ("twice at once", "import"),
    ("twice at once", "sample"),
    ("twice at once", "reexecute"),
    ("server down", "posts"),
    ("500", "fetch"),
    ("429", "posts"),
    ("garbage", "fetch"),
    ("another page", "posts"),
    ("cut answer", "fetch"),
    ("reset connection", "posts"),
    ("quota until long ago", "fetch"),
    ("quota until far away", "fetch"),
    ("clock a year back", "agreement"),
    ("clock a year ahead", "posts"),
    ("moved", "reexecute"),
    ("copied", "dump"),
]


@pytest.mark.parametrize(("fault", "step"), CASES)
def test_a_step_in_which_something_breaks_ends_as_if_it_had_not(
    trial_of: Callable[[Step], Trial], reference: Reference, fault: str, step: str
) -> None:
    taken = STEPS[step]
    trial = trial_of(taken)
    before = trial.runs_done(taken)
    broken = BY_NAME[fault]
    assert broken.hits(taken)
    broken.happen(trial, taken, random.Random(f"{fault} {step}"))  # noqa: S311
    if not broken.may_do_it or trial.runs_done(taken) == before:
        trial.finish(taken)
    trial.check(taken)
    assert_same(state(trial.study), reference.state(taken))


def test_every_fault_is_tried() -> None:
    assert {fault for fault, _step in CASES} | {"killed"} == BY_NAME.keys()

"""Bad performance: a score, the time or the memory of the buggy side is worse than of the fixed.

One run shows nothing of it: a run is measured, and judging compares the sides. NaN is the worst
score of all; a run that a limit of what is measured cut is worse than any that ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.invalidity import cut, failed, idle
from faultatlas.analysis.reexecution.numbers import number_in
from faultatlas.analysis.reexecution.oracles.out_of_memory import ran_out
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, no_work
from faultatlas.analysis.reexecution.traces.normalising import plain

SYMPTOM = Symptom.BAD_PERFORMANCE
ABOUT = "a score, the time or the memory is worse than after the fix"
DURATION, MEMORY = "duration", "peak memory"


def seen(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """What was measured; whether it is bad only all runs together show."""
    run, measure = observed.run, bug.oracle.measure
    if measure == MEMORY and (how := ran_out(observed)) is not None:
        return _measured(math.inf, how)
    if observed.failure is not None and observed.failure.ended:
        return failed(observed.failure)
    if run.outcome is not Outcome.EXITED:
        if measure == DURATION and run.outcome is Outcome.TIMED_OUT:
            # By how much it was cut too late says nothing: all that were cut are alike.
            return _measured(math.inf, f"at least {run.duration_s:.4g} s")
        return cut(bug, observed)
    return idle(observed, across) or _value(bug, observed)


def _value(bug: Bug, observed: Observed) -> Sighting:
    run, measure = observed.run, bug.oracle.measure
    if measure:
        value = run.duration_s if measure == DURATION else run.peak_memory_mb
        return _measured(value, f"{measure}: {value:.4g}")
    found = [number for text in observed.found or () if (number := number_in(text)) is not None]
    if not found:
        where = bug.oracle.file or "its output"
        return no_work(f"no work done: no number in {plain(where)} by the pattern")
    return _measured(found[-1], f"{found[-1]:.6g}")


def goodness(bug: Bug, value: float) -> float:
    """The larger the better: what is compared."""
    if math.isnan(value):
        return -math.inf
    is_lower = bool(bug.oracle.measure) or bug.oracle.better == "lower"
    return -value if is_lower else value


def _measured(value: float, text: str) -> Sighting:
    return Sighting(None, value, detail=text)

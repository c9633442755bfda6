"""A hang: the program lives, and for longer than anybody would wait it writes nothing.

How long that is: a minute, and five times what the other side's runs take in the middle. The
oracle's `hang_seconds` stands in for the minute where a program is known to be quick. A run that
was cut before so much silence could pass cannot say, whatever it looked like.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.invalidity import cut, failed, idle
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, cannot
from faultatlas.analysis.reexecution.verdicts import Reason

SYMPTOM = Symptom.HANG
ABOUT = "the program is alive and writes nothing any more"
TIMES = 5.0


def seen(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """Whether the run hung."""
    run = observed.run
    if observed.failure is not None and observed.failure.ended:
        return failed(observed.failure)
    if run.outcome is Outcome.EXITED:
        ends = Sighting(False, run.duration_s, detail=f"ends after {run.duration_s:.4g} s")
        return idle(observed, across) or ends
    if run.outcome is not Outcome.TIMED_OUT:
        return cut(bug, observed)
    needed = threshold(bug, across)
    silence = silence_of(observed)
    if silence >= needed:
        text = f"silent for {silence:.1f} s ({needed:.3g} s count as a hang)"
        return Sighting(True, silence, signature="hang", detail=text)
    hung = [
        each
        for each in across
        if each.run.outcome is Outcome.TIMED_OUT and silence_of(each) >= bug.oracle.hang_seconds
    ]
    if hung and run.output_bytes > max(each.run.output_bytes for each in hung):
        return Sighting(False, silence, detail="cut, but it still wrote past the point of the hang")
    text = (
        f"cut after {run.duration_s:.4g} s and {silence:.4g} s of silence; a hang is "
        f"{needed:.4g} s of it (limits.seconds, or oracle.hang_seconds)"
    )
    return cannot(Reason.TIMEOUT, text, is_cut=True)


def threshold(bug: Bug, across: Sequence[Observed]) -> float:
    """Seconds of silence that are a hang."""
    durations = [each.run.duration_s for each in across if each.is_complete]
    middle = statistics.median(durations) if durations else 0.0
    return max(bug.oracle.hang_seconds, TIMES * middle)


def silence_of(observed: Observed) -> float:
    """How long a run had written nothing when it was cut."""
    return observed.run.duration_s - observed.run.last_output_s

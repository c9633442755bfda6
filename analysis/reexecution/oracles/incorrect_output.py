"""Incorrect output: what the program says or stores is not what is right.

Right is what the oracle says: a text, a number with its tolerance, a least or a largest number; or
its check command, which ends with 0 for right and 1 for wrong, and by anything else, an exception
of its own included, says nothing. Only a program that ended well has said something.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug, Oracle, Symptom
from faultatlas.analysis.reexecution.invalidity import cut, failed, idle
from faultatlas.analysis.reexecution.numbers import number_in
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, cannot, no_work
from faultatlas.analysis.reexecution.traces.normalising import plain
from faultatlas.analysis.reexecution.traces.tracebacks import last_traceback
from faultatlas.analysis.reexecution.verdicts import Reason

SYMPTOM = Symptom.INCORRECT_OUTPUT
ABOUT = "what comes out is definitely wrong"
_DEFECT = Reason.ARTIFACT_DEFECT


def seen(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """Whether the run's output is wrong."""
    if observed.failure is not None and observed.failure.ended:
        return failed(observed.failure)
    if observed.run.outcome is not Outcome.EXITED:
        return cut(bug, observed)
    if (nothing := idle(observed, across)) is not None:
        return nothing
    if bug.oracle.check:
        return _checked(observed)
    if not observed.found:
        where = bug.oracle.file or "its output"
        return no_work(f"no work done: nothing in {plain(where)} that the pattern finds")
    return _compared(bug.oracle, observed.found[-1])


def _checked(observed: Observed) -> Sighting:
    code = observed.run.checked
    raised = last_traceback(observed.checked)
    if code == 1 and raised is not None and not raised.exception.endswith("AssertionError"):
        return cannot(_DEFECT, f"its check fails itself: {plain(raised.exception, 80)}")
    if code in {0, 1}:
        said = "wrong" if code else "right"
        return Sighting(
            bool(code), signature="wrong" if code else "", detail=f"its check says {said}"
        )
    ended = "was not run" if code is None else f"ended with {code}"
    return cannot(_DEFECT, f"its check {ended}, which says nothing")


def _compared(oracle: Oracle, text: str) -> Sighting:
    if isinstance(oracle.expected, str):
        is_wrong = text.strip() != oracle.expected.strip()
        return _told(is_wrong, None, f"{plain(text, 80)}, expected {plain(oracle.expected, 80)}")
    number = number_in(text)
    if number is None:
        return cannot(_DEFECT, f"no number in what the pattern finds: {plain(text, 80)}")
    asked, wrong = [], math.isnan(number)
    if oracle.expected is not None:
        asked.append(f"expected {oracle.expected:g} within {oracle.tolerance:g}")
        wrong |= not _is_near(number, float(oracle.expected), oracle.tolerance)
    if oracle.at_least is not None:
        asked.append(f"at least {oracle.at_least:g}")
        wrong |= number < oracle.at_least
    if oracle.at_most is not None:
        asked.append(f"at most {oracle.at_most:g}")
        wrong |= number > oracle.at_most
    if not asked:
        return cannot(_DEFECT, "the oracle does not say what would be right")
    return _told(wrong, number, f"{number:.6g}, {', '.join(asked)}")


def _is_near(number: float, expected: float, tolerance: float) -> bool:
    return number == expected or abs(number - expected) <= tolerance


def _told(is_wrong: bool, number: float | None, text: str) -> Sighting:  # noqa: FBT001
    said = "wrong" if is_wrong else "right"
    return Sighting(is_wrong, number, "wrong" if is_wrong else "", f"{said}: {text}")

"""A crash: an exception or a signal that ends the program.

`exception` and `message` of the oracle say which crashes are meant. Without them any crash is,
except those that speak of the artifact: a missing package, missing data, a command that is not
there. Where both sides crash, the crashes of the side that does so more often are the bug's: the
others are crashes of another kind, which say nothing about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.reexecution.bugs import Bug, Symptom
from analysis.reexecution.invalidity import (
    cut,
    failed,
    idle,
    is_no_program,
    lacks_data,
    lacks_module,
    reason_of,
)
from analysis.reexecution.progress import got_past
from analysis.reexecution.runs import Outcome
from analysis.reexecution.sightings import Observed, Sighting, cannot
from analysis.reexecution.traces.normalising import plain
from analysis.reexecution.verdicts import Reason

SYMPTOM = Symptom.CRASH
ABOUT = "an exception or a signal ends the program"
# The same thing under the names that several versions of Python give it.
_SAME = (
    frozenset({"ImportError", "ModuleNotFoundError"}),
    frozenset({"IOError", "OSError", "EnvironmentError", "FileNotFoundError", "error"}),
    frozenset({"RuntimeError", "RecursionError"}),
)


def seen(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """Whether the run crashed as the oracle says."""
    failure = observed.failure
    if is_meant(bug, observed):
        assert failure is not None  # noqa: S101  (is_meant looked at it)
        text = f"crashes with {failure}"
        doubt = Reason.NONE
        if not _is_named(bug) and (reason := reason_of(failure)) is not Reason.ARTIFACT_DEFECT:
            doubt = reason  # another syntax, another API: only a side that works makes it a bug
        return Sighting(
            True, signature=failure.signature, detail=text, identity=failure.key, doubt=doubt
        )
    if failure is not None and failure.ended:
        return _another(bug, observed)
    if observed.run.outcome is Outcome.EXITED:
        return idle(observed, across) or Sighting(False, detail="ends without a crash")
    crashed = [each for each in across if is_meant(bug, each)]
    if got_past(observed, crashed):
        return Sighting(False, detail="cut, but past the point of the crash")
    return cut(bug, observed)


def apart(sides: dict[str, list[Sighting]]) -> dict[str, list[Sighting]]:
    """The same with crashes of another kind as runs that cannot say.

    The bug's crashes are those of the side that crashes more often, but for those that the other
    side has more often still; if both crash as often, all are.
    """
    crashes = {
        side: Counter(each.identity for each in found if each.shown)
        for side, found in sides.items()
    }
    most = max((found.total() for found in crashes.values()), default=0)
    leading = [side for side, found in crashes.items() if found.total() == most]
    ours = {
        key
        for side in leading
        for key, times in crashes[side].items()
        if len(leading) > 1 or times >= max(found[key] for found in crashes.values())
    }
    return {
        side: [_other(each) if each.shown and each.identity not in ours else each for each in found]
        for side, found in sides.items()
    }


def _other(sighting: Sighting) -> Sighting:
    text = f"{sighting.detail}: another crash than that of the other side"
    return cannot(Reason.ARTIFACT_DEFECT, text)


def is_meant(bug: Bug, observed: Observed) -> bool:
    """Whether the run's failure is one that the oracle looks for."""
    failure = observed.failure
    if failure is None:
        return False
    wanted = bug.oracle.exception
    if not _is_named(bug):
        about_artifact = lacks_module(failure) or lacks_data(failure) or is_no_program(failure)
        return failure.ended and not about_artifact
    if not observed.says_message:
        return False
    return not wanted or _is_called(failure.exception, wanted)


def _is_named(bug: Bug) -> bool:
    """Whether the oracle says which crash is meant."""
    return bool(bug.oracle.exception or bug.oracle.message)


def _is_called(exception: str, wanted: str) -> bool:
    if exception == wanted:
        return True
    name, asked = exception.rpartition(".")[2], wanted.rpartition(".")[2]
    if "." in wanted and "." in exception:  # both with their module, which versions rename
        return name == asked
    return name == asked or any(name in same and asked in same for same in _SAME)


def _another(bug: Bug, observed: Observed) -> Sighting:
    failure = observed.failure
    assert failure is not None  # noqa: S101  (the caller looked)
    other = failed(failure)
    oracle = bug.oracle
    if other.reason is Reason.ARTIFACT_DEFECT and _is_named(bug):
        looked = oracle.exception or oracle.message
        return cannot(other.reason, f"{other.detail}, not with {plain(looked, 80)}")
    return other

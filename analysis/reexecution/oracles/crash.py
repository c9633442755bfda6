"""A crash: an exception or a signal that ends the program.

`exception` and `message` of the oracle say which crashes are meant. Without them any crash is,
except those that speak of the artifact: a missing package, missing data, a command that is not
there. Where both sides crash, the crashes of the side that does so more often are the bug's: the
others are crashes of another kind, which say nothing about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.invalidity import (
    cut,
    failed,
    idle,
    is_no_program,
    lacks_data,
    lacks_module,
    reason_of,
)
from faultatlas.analysis.reexecution.progress import got_past
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, cannot
from faultatlas.analysis.reexecution.traces.failures import Failure
from faultatlas.analysis.reexecution.traces.normalising import plain
from faultatlas.analysis.reexecution.verdicts import Reason

SYMPTOM = Symptom.CRASH
ABOUT = "an exception or a signal ends the program"
# One class since Python 3.3, under the names that it had before.
_OS_ERROR = "OSError"
_OS_ERRORS = frozenset({_OS_ERROR, "IOError", "EnvironmentError", "socket.error", "select.error"})
# Classes that Python got later: what they were called before, and by which words they are known.
_LATER = {
    "FileNotFoundError": (_OS_ERROR, re.compile(r"\[Errno 2\]|No such file or directory")),
    "ModuleNotFoundError": ("ImportError", re.compile("No module named")),
    "RecursionError": ("RuntimeError", re.compile("maximum recursion depth")),
}
_NO_NAMES = frozenset({"error", "Error"})  # many modules have one, and they are not the same


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
    return not wanted or _is_called(failure, wanted)


def _is_named(bug: Bug) -> bool:
    """Whether the oracle says which crash is meant."""
    return bool(bug.oracle.exception or bug.oracle.message)


def _is_called(failure: Failure, wanted: str) -> bool:
    """Whether that is the exception's name, or one that another version of Python has for it."""
    exception, name, asked = failure.exception, failure.name, wanted.rpartition(".")[2]
    if name == asked:
        # Versions move a class from module to module, but not to another package.
        are_known = "." in wanted and "." in exception
        return name not in _NO_NAMES or not are_known or _package(exception) == _package(wanted)
    raised, meant = _today(exception), _today(wanted)
    if raised == meant:
        return True
    if raised in _LATER:  # it is one of those, whatever they are called
        return _LATER[raised][0] == meant
    before, words = _LATER.get(meant, ("", None))
    return raised == before and words is not None and bool(words.search(failure.message))


def _today(exception: str) -> str:
    """The name that today's Python has for it; a name with another module is nobody else's."""
    return _OS_ERROR if exception in _OS_ERRORS else exception


def _package(exception: str) -> str:
    return exception.partition(".")[0].lstrip("_")  # `_csv.Error` is that of csv


def _another(bug: Bug, observed: Observed) -> Sighting:
    failure = observed.failure
    assert failure is not None  # noqa: S101  (the caller looked)
    other = failed(failure)
    oracle = bug.oracle
    if other.reason is Reason.ARTIFACT_DEFECT and _is_named(bug):
        looked = oracle.exception or oracle.message
        return cannot(other.reason, f"{other.detail}, not with {plain(looked, 80)}")
    return other

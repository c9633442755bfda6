"""Why a run cannot say anything about its bug: host, environment, data or artifact are at fault."""

from __future__ import annotations

import re
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.runs import RAN, Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, cannot, no_work
from faultatlas.analysis.reexecution.traces.aborts import KILLED_ATTEMPTS, was_killed
from faultatlas.analysis.reexecution.traces.failures import Failure
from faultatlas.analysis.reexecution.traces.normalising import plain
from faultatlas.analysis.reexecution.verdicts import Reason

WORK_S = 10.0  # processor time after which a silent program has done something all the same
START_S = 0.1  # what starting Python and printing a traceback may cost: no difference
_ANY = "exit "
_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError"})
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})
_FILES = frozenset({"FileNotFoundError", "NotADirectoryError", "IsADirectoryError"})
_NETWORK = frozenset(
    {
        "URLError", "HTTPError", "gaierror", "ConnectionError", "ConnectionRefusedError",
        "ConnectTimeout", "NewConnectionError", "MaxRetryError", "ProxyError", "SSLError",
        "LocalEntryNotFoundError",
    }
)  # fmt: skip
# Errors of no type of their own that say so in words.
_NO_FILE = re.compile(
    r"\[Errno 2\]|No such file or directory|[Uu]nable to open file|does not exist|"
    r"NewRandomAccessFile failed|cannot find the (?:file|path)|"
    r"^[\w.~-]*(?:/[\w.~-]+)+/?$"  # TensorFlow may name the path alone
)
_FILE_ERRORS = frozenset({"IOError", "OSError", "NotFoundError", "error"})
_NO_NETWORK = re.compile(
    r"URL fetch failure|Name or service not known|[Tt]emporary failure in name resolution|"
    r"Network is unreachable|Max retries exceeded with url|nodename nor servname|"
    r"[Cc]ouldn't (?:connect|reach)|[Ff]ailed to (?:download|connect)|getaddrinfo failed"
)
_LIBRARY = re.compile(r"\.(?:so|dll|dylib)\b[^\n]{0,200}(?:cannot open|not found|[Nn]o such file)")
# As shells, interpreters and runners of tests say it; a program may say 'not found' of anything.
_NO_PROGRAM = re.compile(
    r"^(?:\S*\.sh|(?:ba|da|k|z|tc)?sh|env): (?:.{0,300}: )?(?:(?:command )?not found|"
    r"(?:[Cc]an't|[Cc]annot) open\b.*|No such file or directory|Permission denied|"
    r"cannot execute\b.*|bad interpreter\b.*)$|"
    r"^(?:cat|chmod|cp|ls|mkdir|mv|tar|unzip): .*(?:No such file or directory|Permission denied|"
    r"cannot find or open)|"
    r"^(?:python|pypy)[\w.-]*: (?:can't open file|can't find '__main__' module|No module named|"
    r"Error while finding module specification|.{0,300} is a package and cannot be directly)|"
    r"^(?:ERROR: )?(?:file (?:or directory )?)?not found: |^\(no match in any of |"
    r"(?:^|= )no tests ran\b|(?:^|= )\d+ deselected in|^no such test: "
)
_CUT = {
    Outcome.TIMED_OUT: "time",
    Outcome.DISK_FULL: "disk",
    Outcome.TOO_MANY_PROCESSES: "processes",
    Outcome.OUTPUT_LIMIT: "output",
}


def unusable(bug: Bug, seen: Observed) -> Sighting | None:
    """A run that says nothing, whatever the oracle: it did not happen, or somebody killed it."""
    run = seen.run
    if run.outcome not in RAN:
        return _not_run(bug, seen)
    if seen.failure and was_killed(run) and seen.killed < KILLED_ATTEMPTS:
        return _host(Reason.HOST, f"killed from outside ({seen.failure.exception})")
    if seen.problem:
        return cannot(Reason.ARTIFACT_DEFECT, plain(seen.problem))
    return None


def _not_run(bug: Bug, seen: Observed) -> Sighting:
    run, problem = seen.run, plain(seen.run.problem)
    if run.outcome is Outcome.NO_INTERPRETER:
        wanted = f"there is no Python {bug.environment.python} on this host"
        return _host(Reason.INTERPRETER, problem or wanted)
    if run.outcome is Outcome.NO_ENVIRONMENT:
        return cannot(Reason.MISSING_DEPENDENCY, problem or "its environment cannot be built")
    if run.outcome is Outcome.NO_DATA:
        return cannot(Reason.MISSING_DATA, problem or "its data are not there")
    if run.outcome is Outcome.BAD_ARTIFACT:
        return cannot(Reason.ARTIFACT_DEFECT, problem or "its files cannot be put together")
    return _host(Reason.HOST, problem or f"the run was {run.outcome}")


def cut(bug: Bug, seen: Observed) -> Sighting:
    """A run that one of its limits ended, without evidence."""
    run, limits = seen.run, bug.limits
    if run.outcome is Outcome.TIMED_OUT:
        return cannot(Reason.TIMEOUT, f"cut after {run.duration_s:.4g} s", is_cut=True)
    if run.outcome is Outcome.OUT_OF_MEMORY:
        text = f"needs more than its {limits.memory_mb} MB of memory"
        return cannot(Reason.ARTIFACT_DEFECT, text, is_cut=True)
    text = f"cut at its limit of {_CUT.get(run.outcome, run.outcome)}"
    return cannot(Reason.ARTIFACT_DEFECT, text, is_cut=True)


def failed(failure: Failure) -> Sighting:
    """A run that failed, and not with the symptom."""
    return cannot(reason_of(failure), f"fails with {failure}")


def reason_of(failure: Failure) -> Reason:
    """What a failure says about the artifact, if it is not what the bug is about."""
    if lacks_module(failure) or failure.name in _IMPORTS:
        return Reason.MISSING_DEPENDENCY
    if lacks_data(failure):
        return Reason.MISSING_DATA
    return Reason.INTERPRETER if failure.name in _SYNTAX else Reason.ARTIFACT_DEFECT


def lacks_module(failure: Failure) -> bool:
    """A package is not there at all. A name that a package has not is another thing: an API."""
    if failure.name not in _IMPORTS:
        return bool(failure.name == "OSError" and _LIBRARY.search(failure.message))
    if _LIBRARY.search(failure.message):
        return True
    named = re.search(r"No module named '?([\w.]+)", failure.message)
    return named is not None and "." not in named[1]


def lacks_data(failure: Failure) -> bool:
    """A file that is not there, or something that would have to be fetched."""
    if failure.name in _FILES | _NETWORK or _NO_NETWORK.search(failure.message):
        return True
    return failure.name in _FILE_ERRORS and bool(_NO_FILE.search(failure.message))


def is_no_program(failure: Failure) -> bool:
    """The command itself could not be started: nothing of the bug ran."""
    if not failure.exception.startswith(_ANY):
        return False
    return failure.exception in {"exit 126", "exit 127"} or bool(
        failure.exception in {"exit 1", "exit 2", "exit 4", "exit 5"}
        and _NO_PROGRAM.search(failure.message)
    )


def idle(seen: Observed, across: Sequence[Observed]) -> Sighting | None:
    """A run that ended well but did not do its work: an empty program, stale or missing outputs."""
    states = sorted(seen.run.files.items())
    for wrong, text in (("stale", "is stale: the run did not write it"), ("missing", "is missing")):
        names = [name for name, state in states if state == wrong]
        if names:
            return no_work(f"its output {plain(names[0])} {text}")
    if seen.run.source_bytes == 0:
        return no_work("no work done: its program is empty")
    if not seen.is_silent or seen.run.cpu_s >= WORK_S:
        return None
    failing = [each.run.cpu_s for each in across if each.failure and each.failure.ended]
    if failing:
        return _doubtful(seen.run.cpu_s, min(failing))
    if not all(each.is_complete and each.is_silent for each in across):
        return None
    return no_work("no work done: it wrote nothing and took no time (let it print a line)")


def _doubtful(took: float, needed: float) -> Sighting | None:
    """A fix that leaves out what is slow, or one that does nothing: where nobody can tell."""
    if took >= 0.5 * needed or needed - took < START_S:
        return None
    text = (
        "it wrote nothing and took less than half of the time in which the other side failed, "
        "so it may have done nothing (let it print a line)"
    )
    return cannot(Reason.ARTIFACT_DEFECT, text)


def _host(reason: Reason, detail: str) -> Sighting:
    return Sighting(None, detail=detail, reason=reason, is_host=True)

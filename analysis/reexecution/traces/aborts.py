"""What native code says before it dies of a signal: C++ exceptions, failed checks, malloc."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from faultatlas.analysis.reexecution.runs import Outcome, Run
from faultatlas.analysis.reexecution.traces.tracebacks import Frame

_SAID = (
    re.compile(r"terminate called after throwing an instance of '(?P<what>[^'\n]{1,200})'"),
    re.compile(r"^(?P<what>Fatal Python error: [^\n]{1,300})", re.MULTILINE),
    re.compile(r"(?P<what>Check failed: [^\n]{1,300})"),
    re.compile(r"(?P<what>Assertion [`'][^\n]{1,300}' failed)"),
    re.compile(
        r"(?P<what>(?:double free or corruption|free\(\): invalid|malloc\(\): |munmap_chunk\(\)|"
        r"corrupted size vs|corrupted double-linked|\*\*\* stack smashing|\*\*\* buffer overflow)"
        r"[^\n]{0,200})"
    ),
)
_WHAT = re.compile(r"\s*what\(\): +([^\n]{1,2000})")
_FATAL_FRAME = re.compile(r'^ {2}File "([^"\n]{1,1000})", line \d+ in (.{1,300})$', re.MULTILINE)
# Somebody else may have sent these: they say nothing of the program, unless it ends so again.
FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT})
KILLED_ATTEMPTS = 2  # of a run that ended so: the second time it is the program's own doing


@dataclass(frozen=True)
class Abort:
    """What was said, and, where Python's fault handler was on, the frames (innermost last)."""

    message: str
    frames: tuple[Frame, ...]
    start: int  # in the text; its length where nothing was said


def last_abort(text: str) -> Abort:
    """The last words of native code; an empty message where there are none."""
    found = [match for pattern in _SAID for match in pattern.finditer(text)]
    if not found:
        return Abort("", (), len(text))
    last = max(found, key=lambda match: match.start())
    what = last["what"]
    if last[0].startswith("terminate") and (said := _WHAT.match(text, last.end())):
        what = f"{what}: {said[1]}"
    frames = [Frame(each[1], each[2]) for each in _FATAL_FRAME.finditer(text, last.end())]
    return Abort(what, tuple(reversed(frames)), last.start())


def was_killed(run: Run) -> bool:
    """Whether it ended by such a signal; a shell in between reports 128 and its number."""
    number = run.signal
    if run.outcome is Outcome.EXITED:
        number = (run.exit_code or 0) - 128
    elif run.outcome is not Outcome.SIGNALLED:
        return False
    return number in FROM_OUTSIDE and not run.memory_kills


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

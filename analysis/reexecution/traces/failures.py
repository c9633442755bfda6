"""How a run failed: exception type, message and the innermost place in the program itself.

Two failures are the same when exception type, normalised message and that place are. The place is
file and function, not the line, which a fix moves; the script that is started is just that, under
whatever name, for the sides may call theirs differently.
"""

from __future__ import annotations

import posixpath
import re
import signal
from dataclasses import dataclass

from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.runs import Outcome, Run
from faultatlas.analysis.reexecution.traces.aborts import last_abort, signal_name
from faultatlas.analysis.reexecution.traces.normalising import first_line, normalised, plain
from faultatlas.analysis.reexecution.traces.tracebacks import (
    Frame,
    Traceback,
    is_of_pytest,
    last_traceback,
)

_INSIDE = "/bug/"  # where a sandbox puts the workspace
_WITHOUT = "/workspace/"  # and where it lies when there is none
_FOREIGN = ("site-packages/", "dist-packages/", "/lib/python")
_MAIN = ("main",)
_ENDING = frozenset({"KeyboardInterrupt", "SystemExit"})  # of a program that was told to end
_LAST_LINES = 5
_UNFOUND = re.compile(
    r"^ERROR: [^\n]{1,300}_FailedTest[^\n]{0,300}\n-{20,}\n(AttributeError: [^\n]{1,500})$",
    re.MULTILINE,
)
# Who says it: a shell, an interpreter. Where that lies on the host is nobody's business.
_PROGRAM = re.compile(r"^(?!/bug/)/[^:\n]{0,1000}/([^/:\n]{1,100}): ")
_FROM_SHELLS = frozenset(128 + each for each in signal.Signals if each <= signal.SIGSYS)


@dataclass(frozen=True)
class Failure:
    """What ended a run; `ended` is False where only a thread died."""

    exception: str  # with its module; a signal's name; 'exit 2'
    message: str
    file: str  # of the program itself, '' where it is not known
    function: str
    is_script: bool = False  # the file is what the command starts
    ended: bool = True
    written: int = 0  # characters of output before it
    number: int = 0  # of the signal, where it was one
    tests: tuple[str, ...] = ()  # all that failed, where tests were run

    @property
    def name(self) -> str:
        """The exception without its module."""
        return self.exception.rpartition(".")[2]

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same failure as another; of several tests, which of them failed."""
        place = "script" if self.is_script else self.file
        others = tuple(sorted(set(self.tests))) if len(self.tests) > 1 else ()
        return (self.name, normalised(self.message), place, self.function, *others)

    @property
    def signature(self) -> str:
        """The same for people and tables."""
        text = f"{self.name}: {normalised(self.message)}" if self.message else self.name
        return plain(f"{text}{self._where()}")

    def __str__(self) -> str:
        """As it was said, numbers included."""
        said = first_line(self.message)
        return plain(
            f"{self.name}: {said}{self._where()}" if said else f"{self.name}{self._where()}"
        )

    def _where(self) -> str:
        more = f" (the last of {len(self.tests)} failed tests)" if len(self.tests) > 1 else ""
        if not self.file:
            return more
        where = f" in {self.file}, {self.function}" if self.function else f" in {self.file}"
        return f"{where}{more}"


def failure_of(bug: Bug, run: Run, stdout: str, stderr: str) -> Failure | None:
    """How a run that ended by itself failed; None where it did not, or was cut."""
    number = _signal(run)
    if number is not None:
        return _aborted(bug, run, number, stdout, stderr)
    if run.outcome is Outcome.TIMED_OUT:
        return _before_it_was_cut(bug, run, stdout, stderr)
    if run.outcome is not Outcome.EXITED:
        return None
    if run.exit_code == 0:
        found = last_traceback(stderr, ("thread",))
        return _raised(bug, run, found, len(stdout), ended=False) if found else None
    texts = [(stderr, stdout), (stdout, stderr)]
    if is_of_pytest(stdout):  # it reports there; what programs log stands in the other
        texts.reverse()
    for text, other in texts:
        for kinds in (_MAIN, ("thread",)):
            if found := last_traceback(text, kinds):  # type: ignore[arg-type]
                return _raised(bug, run, found, len(other))
    unfound = _no_such_test(stderr) or _no_such_test(stdout)
    last = unfound or _last_line(stderr) or _last_line(stdout)
    return Failure(f"exit {run.exit_code}", last, "", "", written=len(stdout) + len(stderr))


def _before_it_was_cut(bug: Bug, run: Run, stdout: str, stderr: str) -> Failure | None:
    """What the main thread died of while others kept the program alive: its last words."""
    found = last_traceback(stderr)
    if found is None or found.exception in _ENDING:
        return None
    last = "\n".join(stderr.rstrip().splitlines()[-_LAST_LINES:])
    if f"\n{found.exception}" not in f"\n{last}":
        return None
    return _raised(bug, run, found, len(stdout), ended=False)


def _signal(run: Run) -> int | None:
    """The signal it died of; a shell in between reports 128 and its number."""
    if run.outcome is Outcome.SIGNALLED:
        return run.signal or 0
    code = run.exit_code or 0
    return code - 128 if run.outcome is Outcome.EXITED and code in _FROM_SHELLS else None


def _aborted(bug: Bug, run: Run, number: int, stdout: str, stderr: str) -> Failure:
    said = last_abort(stderr)
    file, function, is_script = _own_place(bug, run, said.frames)
    return Failure(
        signal_name(number), said.message, file, function, is_script,
        written=len(stdout) + said.start, number=number,
    )  # fmt: skip


def _raised(bug: Bug, run: Run, found: Traceback, besides: int, *, ended: bool = True) -> Failure:
    file, function, is_script = _own_place(bug, run, found.frames)
    return Failure(
        found.exception, found.message, file, function, is_script, ended, found.start + besides,
        tests=found.tests,
    )  # fmt: skip


def _own_place(bug: Bug, run: Run, frames: tuple[Frame, ...]) -> tuple[str, str, bool]:
    """The innermost frame of the program itself: file, function, and whether it is the script."""
    side = bug.runs.get(run.side)
    place = side.place if side else "."
    for frame in reversed(frames):
        path = _inside(frame.file)
        if path is None:
            continue
        scripts = set()
        if side:
            words = [word for command in side.commands for word in command]
            scripts = {posixpath.normpath(posixpath.join(side.directory, word)) for word in words}
            scripts |= {posixpath.normpath(word) for word in words}
        shown = path.removeprefix(f"{place}/") if place != "." else path
        return shown, frame.function, path in scripts
    return "", "", False


def _inside(file: str) -> str | None:
    """The path in the workspace; None for the standard library, packages, generated code."""
    if file.startswith("<") or any(each in file for each in _FOREIGN):
        return None
    if file.startswith(_INSIDE):
        return posixpath.normpath(file.removeprefix(_INSIDE))
    if not file.startswith("/"):
        return posixpath.normpath(file)
    _, found, rest = file.partition(_WITHOUT)
    return posixpath.normpath(rest) if found else None


def _no_such_test(text: str) -> str:
    """What unittest says of a test that it cannot find: no traceback, for nothing was run."""
    found = _UNFOUND.search(text[-200_000:])
    return f"no such test: {found[1]}" if found else ""


def _last_line(text: str) -> str:
    for line in reversed(text[-4_000:].splitlines()):
        if line.strip():
            return _PROGRAM.sub(r"\1: ", line.strip())
    return ""

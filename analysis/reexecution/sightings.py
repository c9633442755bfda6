"""What an oracle is given, and what it says: a run as it was observed, and a sighting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.runs import Evidence, Outcome, Run
from faultatlas.analysis.reexecution.traces.failures import Failure, failure_of
from faultatlas.analysis.reexecution.traces.matching import PatternError, find_all
from faultatlas.analysis.reexecution.traces.normalising import without_colours
from faultatlas.analysis.reexecution.verdicts import Reason

TAIL = 1 << 20  # characters of a log, or of an output, that are looked at: the last ones
_OVERWRITTEN = re.compile(r"[\r\b]+")  # progress bars write over themselves


@dataclass(frozen=True)
class Sighting:
    """Whether a run shows the symptom; None where it cannot say, and then why."""

    shown: bool | None
    value: float | None = None
    signature: str = ""
    detail: str = ""
    reason: Reason = Reason.NONE  # why it cannot say
    is_host: bool = False  # for a reason of this host: it is as if it had not been run
    is_cut: bool = False  # because a limit cut it, not because it failed
    is_idle: bool = False  # because it ended well without doing its work
    identity: tuple[str, ...] = ()  # of a crash: what makes it the same as another
    doubt: Reason = Reason.NONE  # what it says of the artifact, unless the other side works


@dataclass(frozen=True)
class Observed:
    """A run with what it wrote, read once."""

    run: Run
    stdout: str
    stderr: str
    outputs: dict[str, str]
    failure: Failure | None
    found: tuple[str, ...] | None = None  # what the oracle's pattern found
    problem: str = ""  # why its pattern, or that of the message, could not be looked for
    says_message: bool = True  # the failure's message is as the oracle asks
    checked: str = ""  # what the oracle's check command wrote
    killed: int = 0  # how many attempts of it somebody may have killed

    @property
    def is_silent(self) -> bool:
        """Nothing that anybody could see."""
        fresh = any(state == "fresh" for state in self.run.files.values())
        wrote = self.stdout.strip() or self.stderr.strip() or self.run.written_mb
        return not (fresh or wrote)

    @property
    def is_complete(self) -> bool:
        """It ran to its end, and says that all went well."""
        return self.run.outcome is Outcome.EXITED and self.run.exit_code == 0


def cannot(reason: Reason, detail: str, *, is_cut: bool = False) -> Sighting:
    """A run that cannot say."""
    return Sighting(None, detail=detail, reason=reason, is_cut=is_cut)


def no_work(detail: str) -> Sighting:
    """A run that ended well, but did not do what it is there for."""
    return Sighting(None, detail=detail, reason=Reason.ARTIFACT_DEFECT, is_idle=True)


def observe(bug: Bug, evidence: Sequence[Evidence]) -> list[Observed]:
    """Every run as oracles see it; patterns are looked for in all of them at once."""
    plain = [_observed(bug, each) for each in evidence]
    oracle = bug.oracle
    found: list[tuple[str, ...] | None] = [None] * len(plain)
    said = [True] * len(plain)
    problem = ""
    try:
        if oracle.pattern:
            texts = [text_of(bug, each) or "" for each in plain]
            found = list(find_all(oracle.pattern, texts))
        if oracle.message:
            messages = [each.failure.message if each.failure else "" for each in plain]
            said = [bool(each) for each in find_all(f"(?:{oracle.message})", messages)]
    except PatternError as error:
        problem = str(error)
    return [
        Observed(
            each.run, each.stdout, each.stderr, each.outputs, each.failure, found[number], problem,
            said[number], each.checked, each.killed,
        )
        for number, each in enumerate(plain)
    ]  # fmt: skip


def text_of(bug: Bug, observed: Observed) -> str | None:
    """What the pattern is looked for in: the named file, or all output; None without the file."""
    if bug.oracle.file:
        return observed.outputs.get(bug.oracle.file)
    return f"{observed.stdout}\n{observed.stderr}"


def _observed(bug: Bug, evidence: Evidence) -> Observed:
    stdout, stderr = _readable(evidence.stdout), _readable(evidence.stderr)
    outputs = {name: _readable(text) for name, text in evidence.outputs.items()}
    failure = failure_of(bug, evidence.run, stdout, stderr)
    return Observed(
        evidence.run, stdout, stderr, outputs, failure, checked=evidence.checked,
        killed=evidence.killed,
    )  # fmt: skip


def _readable(text: str) -> str:
    """The end of a text, without colours, and with what overwrites a line on a line of its own."""
    end = text[-TAIL:].replace("\r\n", "\n")
    if "\x1b" in end:
        end = without_colours(end)
    return _OVERWRITTEN.sub("\n", end) if "\r" in end or "\b" in end else end

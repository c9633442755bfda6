"""The runs of one side and what they showed, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from faultatlas.analysis.reexecution.sightings import Observed, Sighting
from faultatlas.analysis.reexecution.traces.failures import Failure
from faultatlas.analysis.reexecution.verdicts import Reason

_Named = TypeVar("_Named", str, tuple[str, ...])
# Where as many runs give one reason as another, the first of these is told.
_ORDER = (
    Reason.HOST, Reason.INTERPRETER, Reason.MISSING_DEPENDENCY, Reason.MISSING_DATA,
    Reason.ARTIFACT_DEFECT, Reason.TIMEOUT,
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """Runs with their sightings, one by one, by seed."""

    name: str
    runs: tuple[Observed, ...]
    sightings: tuple[Sighting, ...]

    @cached_property
    def lost(self) -> list[Sighting]:
        """Those that the host did not let happen."""
        return [each for each in self.sightings if each.is_host]

    @cached_property
    def tried(self) -> list[Sighting]:
        """Those that happened."""
        return [each for each in self.sightings if not each.is_host]

    @cached_property
    def mute(self) -> list[Sighting]:
        """Those that happened and cannot say; what was measured says something."""
        return [each for each in self.tried if each.shown is None and each.value is None]

    @property
    def is_idle(self) -> bool:
        """Most of its runs ended well without doing their work: the artifact is at fault."""
        return 2 * sum(each.is_idle for each in self.mute) > len(self.tried)

    @cached_property
    def said(self) -> int:
        """How many can say."""
        return len(self.tried) - len(self.mute)

    @property
    def counted(self) -> int:
        """How many count: all that happened, for those that cannot say count against the claim."""
        return len(self.tried) if self.said else 0

    @cached_property
    def shown(self) -> int:
        """How many show the symptom."""
        return sum(each.shown is True for each in self.tried)

    @property
    def is_all(self) -> bool:
        """All that can say show it, and some can."""
        return 0 < self.said == self.shown

    @property
    def is_none(self) -> bool:
        """Some can say, and none shows it."""
        return self.said > 0 and not self.shown

    @cached_property
    def signature(self) -> str:
        """What most of those that show it look like."""
        return _most((each.signature for each in self.tried if each.shown), "")

    @property
    def identity(self) -> tuple[str, ...]:
        """Which crash was shown most often."""
        return _most((each.identity for each in self.tried if each.shown), ())

    @property
    def failure(self) -> Failure | None:
        """How the first run that shows it failed."""
        pairs = zip(self.runs, self.sightings, strict=True)
        return next((observed.failure for observed, each in pairs if each.shown), None)

    @property
    def doubt(self) -> Reason:
        """What all that show it say of the artifact; none where one of them speaks of the bug."""
        found = {each.doubt for each in self.tried if each.shown}
        return found.pop() if len(found) == 1 else Reason.NONE

    @property
    def example(self) -> str:
        """What most of those that show it say."""
        return _most((each.detail for each in self.tried if each.shown), "")


def main_cause(mute: Iterable[Sighting]) -> tuple[Reason, str]:
    """The commonest reason of runs that cannot say, and what most of those say."""
    found = list(mute)
    counts = Counter(each.reason for each in found)
    reason = min(counts, key=lambda each: (-counts[each], _place(each)))
    return reason, _most((each.detail for each in found if each.reason is reason), "")


def _place(reason: Reason) -> int:
    return _ORDER.index(reason) if reason in _ORDER else len(_ORDER)


def _most(found: Iterable[_Named], nothing: _Named) -> _Named:
    """What is there most often; of several the first by name."""
    counts = Counter(found)
    return min(counts, key=lambda each: (-counts[each], each), default=nothing)

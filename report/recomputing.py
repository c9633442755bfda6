"""Stored results, computed again from the study and their parameters alone.

Who can do that for an analysis is found by entry points (group `faultatlas.results`): a provider
is called without arguments and gives, by the name of the analysis, a function that takes the
study and the parameters of a result and gives the result. Nothing of it is imported here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from faultatlas.data import provenance, result_store
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study
from faultatlas.report.catalogue import Entry, all_entries
from faultatlas.report.formatting import plain
from faultatlas.report.invocation import load
from faultatlas.report.old.stored import as_stored

Again = Callable[[Study, dict[str, Any]], Result]

GROUP = "faultatlas.results"
# The last bits of a number depend on the machine. What ought to be 0 may be a tiny number on one of
# them; but of two p-values, neither 0, 7.7e-21 is not 1.8e-14.
NEAR = 1e-9  # of the number
NOTHING = 1e-12

# What comes of parameters that another version stored, or a hand.
_STRANGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class Recomputed:
    """A stored result beside the same one computed now; none where it cannot be computed."""

    stored: Result
    now: Result | None
    problem: str = ""
    listed: tuple[Claim, ...] | None = None  # as the view has them: what is exported and traced

    @property
    def is_same(self) -> bool:
        """Whether nothing of it changed: no number, no table, no word."""
        if self.now is None or not same(self.stored.to_json(), self.now.to_json()):
            return False
        return self.listed is None or same(_by_id(self.listed), _by_id(self.now.claims))


@dataclass(frozen=True)
class Refreshed:
    """What came of computing all results again."""

    changed: tuple[Result, ...]  # stored anew
    unchanged: tuple[str, ...]
    failed: dict[str, str]  # by the name of the result why it cannot be computed; it stays


@cache
def analyses() -> Mapping[str, Again]:
    """By the name of every analysis of this installation the function that computes it again."""
    found: dict[str, Again] = {
        " ".join(entry.words): partial(_by_frame, entry) for entry in all_entries() if entry.stores
    }
    for provider in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        given = _provided(provider)
        if twice := sorted(found.keys() & given.keys()):
            raise StudyError(
                f"{plain(provider.name)} computes the analysis {plain(twice[0])!r}, which another "
                "part of this installation computes already",
                "Uninstall the plug-in that is not wanted.",
            )
        found.update(given)
    return found


def _by_frame(entry: Entry, study: Study, arguments: dict[str, Any]) -> Result:
    """A result of a command of the frame."""
    return as_stored(load(entry).compute_again(study, arguments))


def _provided(provider: EntryPoint) -> Mapping[str, Again]:
    """What a part of the installation, or a plug-in, computes."""
    try:
        return dict(provider.load()())
    except Exception as error:
        raise StudyError(
            f"the analyses of {plain(provider.name)} ({plain(provider.value)}) cannot be loaded "
            f"({type(error).__name__}: {plain(error)})",
            "Upgrade or uninstall that plug-in.",
        ) from error


def computed_again(study: Study, stored: Result, *, may_rename: bool = False) -> Result:
    """A stored result, computed again; its name may change where its parameters were changed."""
    again = analyses().get(stored.analysis)
    if again is None:
        raise StudyError(
            f"result {plain(stored.name)!r} is of the analysis {plain(stored.analysis)!r}, which "
            "this program does not have",
            "Another version or a plug-in wrote it: install that one. This program has: "
            f"{', '.join(sorted(analyses()))}.",
        )
    try:
        found = again(study, stored.parameters)
    except _STRANGE as error:
        raise StudyError(
            f"result {plain(stored.name)!r} cannot be computed from its parameters "
            f"({type(error).__name__}: {plain(error)})",
            f"Another version may have written it: run {plain(stored.analysis)} again.",
        ) from error
    if found.name != stored.name and not may_rename:
        raise StudyError(
            f"result {plain(stored.name)!r} comes out as {plain(found.name)!r}",
            f"Another version may have written it: run {plain(stored.analysis)} again.",
        )
    return found


def all_again(study: Study, names: Sequence[str] = ()) -> list[Recomputed]:
    """Stored results beside what they are now: all, or those named; nothing is stored."""
    with study.reading() as reader:
        wanted = list(names) or result_store.names(reader)
        stored = [
            (result_store.latest(reader, name), result_store.listed_claims(reader, name))
            for name in dict.fromkeys(wanted)
        ]
    return [replace(beside(study, each), listed=listed) for each, listed in stored]


def refresh(study: Study, names: Sequence[str] = ()) -> Refreshed:
    """Compute all results (or those named) again and store those that changed, as one run.

    What cannot be computed any more stays as it is, and is named.
    """
    begun = provenance.begin("report build", {"results": list(names)} if names else {})
    found = all_again(study, names)
    changed = tuple(each.now for each in found if each.now is not None and not each.is_same)
    for result in changed:
        result_store.save(study, result, begun)
    return Refreshed(
        changed,
        tuple(each.stored.name for each in found if each.is_same),
        {each.stored.name: each.problem for each in found if each.now is None},
    )


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same, numbers nearly so."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if _is_number(one) and _is_number(other):
        neither = math.isnan(one) and math.isnan(other)
        crosses = not one or not other or (one < 0) is not (other < 0)
        return neither or math.isclose(
            one, other, rel_tol=NEAR, abs_tol=NOTHING if crosses else 0.0
        )
    return type(one) is type(other) and bool(one == other)


def beside(study: Study, stored: Result, *, may_rename: bool = False) -> Recomputed:
    """A stored result beside what it is now, or why it cannot be computed."""
    try:
        return Recomputed(stored, computed_again(study, stored, may_rename=may_rename))
    except StudyError as error:
        return Recomputed(stored, None, error.message)
    except Exception as error:  # noqa: BLE001  (one of many: the others are computed all the same)
        return Recomputed(stored, None, f"{type(error).__name__}: {plain(error)}")


def _by_id(claims: Sequence[Claim]) -> dict[str, Any]:
    return {claim.claim_id: asdict(claim) for claim in claims}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Stored results computed again, and their numbers compared with what is stored.

Who can compute an analysis again is found by entry points (group `faultatlas.results`): a provider
is called without arguments and gives, by the name of the analysis, a function that takes the study
and the parameters of a result and gives the result. Commands of the frame need none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

from typer import Argument

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim
from faultatlas.data.old.results import Result as StoredResult
from faultatlas.data.results import Column, Listing, Result
from faultatlas.data.study import Study
from faultatlas.report import formatting
from faultatlas.report.catalogue import Entry, all_entries
from faultatlas.report.command import command
from faultatlas.report.console import Console
from faultatlas.report.formatting import counted, plain
from faultatlas.report.invocation import load
from faultatlas.report.old.stored import as_stored
from faultatlas.report.progress import progress

Recompute = Callable[[Study, dict[str, Any]], StoredResult]

GROUP = "faultatlas.results"
# The last bits of a number depend on the machine. What ought to be 0 may be a tiny number on one of
# them; but of two p-values, neither 0, 7.7e-21 is not 1.8e-14.
NEAR = 1e-9  # of the number
NOTHING = 1e-12

# What is compared of a claim: the number with its interval and counts, and its status.
_COMPARED = ("value", "unit", "low", "high", "count", "total", "printed", "status")
# What comes of parameters that another version stored, or a hand.
_STRANGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@command("claims check")
def claims_check(
    study: Study,
    console: Console,
    results: Annotated[
        tuple[str, ...], Argument(metavar="RESULT", help="Results; without any, all.")
    ] = (),
) -> Result:
    """Compute all stored results again and fail if a number is not what was stored.

    Nothing is written. What changed is named with the stored and the new number; `report build`
    stores the new ones.

    Examples:

        report claims check

        report claims check coverage-gap agreement-pilot
    """
    recomputations = recompute_all(study, results, console)
    differences = [difference for one in recomputations for difference in differences_of(one)]
    differing = {difference.result for difference in differences}
    reworded = [
        one.stored.name
        for one in recomputations
        if not one.is_same and one.stored.name not in differing
    ]
    claims = sum(len(one.stored.claims) for one in recomputations)
    return Result(
        "Stored numbers, computed again",
        tables=(differences_table(differences),) if differences else (),
        summary=tuple(_summary(len(recomputations), claims, differences, reworded)),
        missing=_missing(differences),
        data={
            "results": [one.stored.name for one in recomputations],
            "claims": claims,
            "differences": [difference.to_json() for difference in differences],
            "reworded": reworded,
        },
    )


def _summary(
    results: int, claims: int, differences: Sequence[Difference], reworded: Sequence[str]
) -> Iterator[str]:
    if not results:
        yield "The study has no results yet: run an analysis, such as analysis coverage-gap."
    elif not differences:
        yield (
            f"All {counted(claims, 'number')} of {counted(results, 'result')} match what is stored."
        )
    if reworded:
        yield (
            f"Same numbers, but other words, tables or figures: {', '.join(reworded)}. "
            "Run report build to update."
        )


def _missing(differences: Sequence[Difference]) -> tuple[str, ...]:
    ids = list(dict.fromkeys(difference.claim_id for difference in differences))
    if not ids:
        return ()
    shown = ", ".join(map(plain, ids[:_NAMED]))
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    changed = f"{counted(len(ids), 'number')} changed since stored: {shown}{more}"
    return changed, "Trace one with report trace ID; accept the new numbers with report build."


_NAMED = 20  # claims in a message; the table has all


# --- comparing ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A claim that differs from what is stored: changed, missing, new, or not computable."""

    result: str
    claim_id: str
    stored: Claim | None
    now: Claim | None
    problem: str = ""  # why the result cannot be computed

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The fields that differ, with the stored value and the new one."""
        if self.stored is None or self.now is None:
            return {}
        pairs = {name: (getattr(self.stored, name), getattr(self.now, name)) for name in _COMPARED}
        return {name: pair for name, pair in pairs.items() if not same(*pair)}

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        numbers = {
            when: None if claim is None else {name: getattr(claim, name) for name in _COMPARED}
            for when, claim in (("stored", self.stored), ("now", self.now))
        }
        return {
            "result": self.result, "claim_id": self.claim_id, **numbers,
            "differs": sorted(self.fields), "problem": self.problem,
        }  # fmt: skip


def differences_of(one: Recomputation) -> Iterator[Difference]:
    """The claims that differ: in the stored result itself, or in the view `claims`."""
    in_result = list(_compared(one, one.stored.claims))
    yield from in_result
    known = {difference.claim_id for difference in in_result}
    if one.now is not None and one.listed is not None:
        for difference in _compared(one, one.listed):
            if difference.claim_id not in known:
                yield difference


def _compared(one: Recomputation, claims: Sequence[Claim]) -> Iterator[Difference]:
    stored = {claim.claim_id: claim for claim in claims}
    name = one.stored.name
    if one.now is None:
        for claim_id in list(stored) or [name]:
            yield Difference(name, claim_id, stored.get(claim_id), None, one.problem)
        return
    now = {claim.claim_id: claim for claim in one.now.claims}
    for claim_id in dict.fromkeys((*stored, *now)):
        difference = Difference(name, claim_id, stored.get(claim_id), now.get(claim_id))
        if claim_id not in stored or claim_id not in now or difference.fields:
            yield difference


def differences_table(differences: Sequence[Difference]) -> Listing:
    """The claims that differ, with what is stored and what they are now."""
    return Listing(
        "differences",
        "Numbers that changed",
        (Column("claim_id", "Id", "code"), Column("stored", "Stored"), Column("now", "Now")),
        tuple((difference.claim_id, *_both(difference)) for difference in differences),
    )


def _both(difference: Difference) -> tuple[str, str]:
    """Both claims, with no more than is needed to see that they differ."""
    fields = difference.fields
    only_status = {"printed", "status"}.issuperset(fields) and bool(fields)
    texts = [
        "(not there)" if claim is None else _with_printed(claim) if only_status else number(claim)
        for claim in (difference.stored, difference.now)
    ]
    if difference.problem:
        texts[1] = f"cannot be computed: {difference.problem}"
    elif fields and texts[0] == texts[1]:  # they differ in digits that are not shown
        texts = ["; ".join(f"{name} {pair[at]}" for name, pair in fields.items()) for at in (0, 1)]
    return texts[0], texts[1]


def number(claim: Claim) -> str:
    """A claim's number with its interval and counts: `40.0 % (24.6-57.7 %; 12 of 30)`."""
    behind = [
        "" if claim.low is None else formatting.interval(claim.low, claim.high, claim.unit),
        formatting.counts(claim),
    ]
    inside = "; ".join(filter(None, behind))
    value = formatting.measure(claim.value, claim.unit)
    return f"{value} ({inside})" if inside else value


def _with_printed(claim: Claim) -> str:
    if claim.printed is None:
        return f"{number(claim)}, nothing printed"
    printed = formatting.printed(claim.printed, claim.unit)
    return f"{number(claim)}, printed {printed}: {claim.status}"


# --- computing again ---------------------------------------------------------------------


@dataclass(frozen=True)
class Recomputation:
    """A stored result and the same one computed now; None where it cannot be computed."""

    stored: StoredResult
    now: StoredResult | None
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
    """The outcome of computing all results again."""

    changed: tuple[StoredResult, ...]  # stored again
    unchanged: tuple[str, ...]
    failed: dict[str, str]  # by name, why a result cannot be computed; it stays


@cache
def analyses() -> Mapping[str, Recompute]:
    """By the name of every analysis of this installation the function that computes it again."""
    known: dict[str, Recompute] = {
        " ".join(entry.words): partial(_by_frame, entry) for entry in all_entries() if entry.stores
    }
    for provider in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        given = _provided(provider)
        if twice := sorted(known.keys() & given.keys()):
            raise StudyError(
                f"{plain(provider.name)} computes the analysis {plain(twice[0])!r}, which another "
                "part of this installation computes already",
                "Uninstall the plug-in that is not wanted.",
            )
        known.update(given)
    return known


def _by_frame(entry: Entry, study: Study, arguments: dict[str, Any]) -> StoredResult:
    """A result of a command of the frame."""
    return as_stored(load(entry).compute_again(study, arguments))


def _provided(provider: EntryPoint) -> Mapping[str, Recompute]:
    """What a part of the installation, or a plug-in, computes."""
    try:
        return dict(provider.load()())
    except Exception as error:
        raise StudyError(
            f"the analyses of {plain(provider.name)} ({plain(provider.value)}) cannot be loaded "
            f"({type(error).__name__}: {plain(error)})",
            "Upgrade or uninstall that plug-in.",
        ) from error


def recompute(study: Study, stored: StoredResult, *, may_rename: bool = False) -> StoredResult:
    """A stored result, computed again; its name may change where its parameters were changed."""
    function = analyses().get(stored.analysis)
    if function is None:
        raise StudyError(
            f"result {plain(stored.name)!r} is of the analysis {plain(stored.analysis)!r}, which "
            "this program does not have",
            "Another version or a plug-in wrote it: install that one. This program has: "
            f"{', '.join(sorted(analyses()))}.",
        )
    try:
        result = function(study, stored.parameters)
    except _STRANGE as error:
        raise StudyError(
            f"result {plain(stored.name)!r} cannot be computed from its parameters "
            f"({type(error).__name__}: {plain(error)})",
            f"Another version may have written it: run {plain(stored.analysis)} again.",
        ) from error
    if result.name != stored.name and not may_rename:
        raise StudyError(
            f"result {plain(stored.name)!r} is now called {plain(result.name)!r}",
            f"Another version may have written it: run {plain(stored.analysis)} again.",
        )
    return result


def recompute_all(
    study: Study, names: Sequence[str] = (), console: Console | None = None
) -> list[Recomputation]:
    """Stored results with what they are now: all, or those named; nothing is stored."""
    with study.reading() as reader:
        wanted = list(names) or provenance.names(reader)
        stored = [
            (provenance.latest(reader, name), provenance.listed_claims(reader, name))
            for name in dict.fromkeys(wanted)
        ]
    recomputations: list[Recomputation] = []
    with progress(console or Console(quiet=True), "computing again", unit="results") as bar:
        for result, listed in stored:
            bar.update(len(recomputations), len(stored), note=result.name)
            recomputations.append(replace(compare(study, result), listed=listed))
    return recomputations


def refresh(study: Study, names: Sequence[str] = (), console: Console | None = None) -> Refreshed:
    """Compute all results (or those named) again and store those that changed, as one run.

    What cannot be computed any more stays as it is, and is named.
    """
    begun = provenance.begin("report build", {"results": list(names)} if names else {})
    recomputations = recompute_all(study, names, console)
    changed = tuple(one.now for one in recomputations if one.now is not None and not one.is_same)
    is_partial = any(one.now is None for one in recomputations)
    for result in changed:
        provenance.save(study, result, begun, "partial" if is_partial else "ok")
    return Refreshed(
        changed,
        tuple(one.stored.name for one in recomputations if one.is_same),
        {one.stored.name: one.problem for one in recomputations if one.now is None},
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


def compare(study: Study, stored: StoredResult, *, may_rename: bool = False) -> Recomputation:
    """A stored result with what it is now, or why it cannot be computed."""
    try:
        return Recomputation(stored, recompute(study, stored, may_rename=may_rename))
    except StudyError as error:
        return Recomputation(stored, None, error.message)
    except Exception as error:  # noqa: BLE001  (one of many: the others are computed all the same)
        return Recomputation(stored, None, f"{type(error).__name__}: {plain(error)}")


def _by_id(claims: Sequence[Claim]) -> dict[str, Any]:
    return {claim.claim_id: asdict(claim) for claim in claims}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

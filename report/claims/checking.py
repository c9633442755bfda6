"""Whether every stored number still comes out of the study, and which ones do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Column, Table
from faultatlas.data.study import Study
from faultatlas.report import formatting
from faultatlas.report.recomputing import Recomputed, all_again, same

# What is compared of a claim: the number with its interval and counts, and what it was held to.
_COMPARED = ("value", "unit", "low", "high", "count", "total", "printed", "status")
_ABSENT = "(not there)"
_NAMED = 20  # claims in a message; the table has all


@dataclass(frozen=True)
class Difference:
    """A claim that is not what was stored: changed, gone, new, or not to be computed."""

    result: str
    claim_id: str
    stored: Claim | None
    now: Claim | None
    problem: str = ""  # why the result cannot be computed

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """What of the claim differs: the stored value and the new one."""
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


@dataclass(frozen=True)
class Checked:
    """What came of computing all claims again."""

    results: tuple[str, ...]
    claims: int
    differences: tuple[Difference, ...]
    reworded: tuple[str, ...]  # results whose claims hold, but not every table, figure or word

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "results": list(self.results),
            "claims": self.claims,
            "differences": [each.to_json() for each in self.differences],
            "reworded": list(self.reworded),
        }


def check(study: Study, names: Sequence[str] = ()) -> Checked:
    """Compute stored results again, all or those named, and compare their claims."""
    found = all_again(study, names)
    differences = tuple(each for beside in found for each in differences_of(beside))
    differing = {each.result for each in differences}
    return Checked(
        tuple(beside.stored.name for beside in found),
        sum(len(beside.stored.claims) for beside in found),
        differences,
        tuple(
            beside.stored.name
            for beside in found
            if not beside.is_same and beside.stored.name not in differing
        ),
    )


def differences_of(beside: Recomputed) -> Iterator[Difference]:
    """What of a result is not what was stored: in the result itself, or in the list of claims."""
    yield from (found := list(_compared(beside, beside.stored.claims)))
    known = {each.claim_id for each in found}
    if beside.now is not None and beside.listed is not None:
        listed = _compared(beside, beside.listed)
        yield from (each for each in listed if each.claim_id not in known)


def _compared(beside: Recomputed, claims: Sequence[Claim]) -> Iterator[Difference]:
    stored = {claim.claim_id: claim for claim in claims}
    name = beside.stored.name
    if beside.now is None:
        for claim_id in list(stored) or [name]:
            yield Difference(name, claim_id, stored.get(claim_id), None, beside.problem)
        return
    now = {claim.claim_id: claim for claim in beside.now.claims}
    for claim_id in dict.fromkeys((*stored, *now)):
        difference = Difference(name, claim_id, stored.get(claim_id), now.get(claim_id))
        if claim_id not in stored or claim_id not in now or difference.fields:
            yield difference


def differences_table(differences: Sequence[Difference]) -> Table:
    """The claims that differ, with what was stored and what comes out now."""
    return Table(
        "differences",
        "Claims that differ",
        (
            Column("claim_id", "Id"),
            Column("stored", "Stored"),
            Column("now", "Now"),
        ),
        tuple((each.claim_id, *_told(each)) for each in differences),
    )


def _told(difference: Difference) -> tuple[str, str]:
    """Both claims, with no more than is needed to see that they are not the same."""
    fields = difference.fields
    only = {"printed", "status"}.issuperset(fields) and bool(fields)
    told = [
        _ABSENT if claim is None else _beside_printed(claim) if only else number(claim)
        for claim in (difference.stored, difference.now)
    ]
    if difference.problem:
        told[1] = f"cannot be computed: {difference.problem}"
    elif fields and told[0] == told[1]:  # they differ in digits that are not shown
        told = ["; ".join(f"{name} {pair[at]}" for name, pair in fields.items()) for at in range(2)]
    return told[0], told[1]


def number(claim: Claim) -> str:
    """A claim's number with its interval and counts: `40.0 % (24.6-57.7 %; 12 of 30)`."""
    behind = [
        "" if claim.low is None else formatting.interval(claim.low, claim.high, claim.unit),
        formatting.counts(claim),
    ]
    inside = "; ".join(filter(None, behind))
    value = formatting.measure(claim.value, claim.unit)
    return f"{value} ({inside})" if inside else value


def _beside_printed(claim: Claim) -> str:
    if claim.printed is None:
        return f"{number(claim)}, nothing printed"
    printed = formatting.printed(claim.printed, claim.unit)
    return f"{number(claim)}, printed {printed}: {claim.status}"


def told(checked: Checked) -> list[str]:
    """What came of it, in lines."""
    if not checked.results:
        return ["The study has no results yet: run an analysis, such as analysis coverage-gap."]
    lines = []
    if not checked.differences:
        whole = f"{formatting.counted(checked.claims, 'claim')} of "
        whole += formatting.counted(len(checked.results), "result")
        lines.append(f"{whole}: every number comes out as it was stored.")
    if checked.reworded:
        lines.append(
            f"Other words, tables or figures, but the same numbers: {', '.join(checked.reworded)}. "
            "Store them anew: report build"
        )
    return lines


def refuse_differences(checked: Checked) -> None:
    """Fail if a claim differs, and name it."""
    if not checked.differences:
        return
    ids = list(dict.fromkeys(each.claim_id for each in checked.differences))
    listed = ", ".join(map(formatting.plain, ids[:_NAMED]))
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    verb = "differs" if len(ids) == 1 else "differ"
    raise StudyError(
        f"{formatting.counted(len(ids), 'claim')} {verb} from what was stored: {listed}{more}",
        "See where one comes from: report trace ID. Store the new numbers: report build",
    )

"""The numbers of a package, computed on what is in it, and which of them it cannot give."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultatlas.data import evidence, result_store
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Result
from faultatlas.report.claims import check
from faultatlas.report.claims.check import Difference, differences_of
from faultatlas.report.formatting import counted, plain
from faultatlas.report.package.loading import store
from faultatlas.report.study import own

if TYPE_CHECKING:
    from faultatlas.data.study import Study
    from faultatlas.report.package.cleaning import Cleaner
    from faultatlas.report.package.copying import LeftOut, Options

_REPLICATION = "replicate"
_NAMED = 5


@dataclass(frozen=True)
class Entry:
    """A result of a package: how it is computed and what its claims are.

    `cannot` says by claim why the package does not give it; `besides` are claims that come out of
    the package only, because something was left out.
    """

    result: Result
    cannot: Mapping[str, str] = field(default_factory=dict)
    besides: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        claims = [
            {**asdict(claim), "cannot": self.cannot.get(claim.claim_id, "")}
            for claim in self.result.claims
        ]
        named = {key: getattr(self.result, key) for key in ("name", "analysis", "title")}
        return {
            **named,
            "parameters": self.result.parameters,
            "besides": list(self.besides),
            "claims": claims,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Entry:
        """The entry that `to_json` described; a TypeError for what it never wrote."""
        for each in given["claims"]:
            _check_types(each, given)
        cannot = {each["claim_id"]: each["cannot"] for each in given["claims"] if each["cannot"]}
        claims = tuple(
            Claim(**{key: value for key, value in each.items() if key != "cannot"})
            for each in given["claims"]
        )
        named = {key: given[key] for key in ("name", "analysis", "title", "parameters")}
        return cls(Result(**named, claims=claims), cannot, tuple(given["besides"]))


def _check_types(claim: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """A claim is words and numbers, and nothing that a hand may have put there."""
    words = [claim[key] for key in ("claim_id", "statement", "unit", "query", "status", "cannot")]
    words += [result[key] for key in ("name", "analysis", "title")] + list(result["besides"])
    numbers = [claim[key] for key in ("value", "low", "high", "count", "total", "printed")]
    if not all(isinstance(each, str) for each in words):
        raise TypeError("what ought to be words is not")
    if not all(each is None or isinstance(each, int | float) for each in numbers):
        raise TypeError("what ought to be a number is none")


def entries_of(
    study: Study, copy: Study, cleaner: Cleaner, options: Options, without: LeftOut
) -> list[Entry]:
    """The results of a study, computed on its copy for the package and stored there."""
    with study.reading() as reader:
        names = [name for name in result_store.names(reader) if name != own.NAME]
        stored = [result_store.latest(reader, name) for name in names]
        has_own = own.NAME in result_store.names(reader)
        before = result_store.latest(reader, own.NAME) if has_own else None
    found = []
    stale: list[Difference] = []
    for each in stored:
        entry, old = _entry(study, copy, each, cleaner, _why(each, options, without))
        found.append(entry)
        stale += old
        store(copy, entry.result)
    entry, old = _own_entry(study, copy, before, cleaner, _why(None, options, without))
    _refuse(stale + old)
    store(copy, entry.result)
    return [*found, entry]


def verified(copy: Study, entries: Sequence[Entry]) -> Iterator[tuple[Entry, list[Difference]]]:
    """Each result of a package, and all that comes out otherwise when it is computed again.

    Also what the package says it cannot give is computed: its word alone proves nothing.
    """
    last = [each for each in entries if each.result.name == own.NAME]
    for entry in (*(each for each in entries if each not in last), *last):
        beside = check.compare(copy, entry.result)
        if beside.now is not None:
            store(copy, _shown(entry, beside.now))
        elif entry.cannot and len(entry.cannot) == len(entry.result.claims):
            store(copy, entry.result)
        yield entry, list(differences_of(beside))


def is_excused(entry: Entry, found: Difference) -> bool:
    """Whether the package itself says that this comes out otherwise."""
    return found.claim_id in (entry.besides if found.stored is None else entry.cannot)


def _entry(
    study: Study, copy: Study, stored: Result, cleaner: Cleaner, why: str
) -> tuple[Entry, list[Difference]]:
    """A result for the package, and what of it the study itself no longer gives."""
    asked = replace(stored, parameters=cleaner.plain(stored.parameters))
    here = check.compare(copy, asked, may_rename=asked.parameters != stored.parameters)
    if here.now is not None and _same_numbers(stored.claims, here.now.claims):
        return Entry(here.now), []
    there = check.compare(study, stored)
    if there.now is None:  # the study cannot compute it either
        return _only_claims(asked, cleaner, cleaner.words(plain(there.problem))), []
    if old := list(differences_of(there)):
        return Entry(asked), old
    if here.now is None:
        return _only_claims(asked, cleaner, f"{why} ({cleaner.words(_lacking(here.problem))})"), []
    return _partly(asked, here.now, cleaner, why), []


def _own_entry(
    study: Study, copy: Study, stored: Result | None, cleaner: Cleaner, why: str
) -> tuple[Entry, list[Difference]]:
    """The study's own numbers, which are counted last: they count what is stored, too."""
    there = own.again(study, {})
    old = list(differences_of(check.Recomputation(stored, there))) if stored else []
    here = own.again(copy, {})
    if _same_numbers(there.claims, here.claims):
        return Entry(here), old
    partly = _partly(there, here, cleaner, why)
    return replace(partly, result=replace(here, claims=partly.result.claims)), old


def _partly(stored: Result, now: Result, cleaner: Cleaner, why: str) -> Entry:
    """The claims of the study, and which of them the copy does not give. Tables would differ."""
    mine = _only_claims(stored, cleaner, why)
    given = {claim.claim_id: claim for claim in now.claims}
    same = {
        claim.claim_id
        for claim in mine.result.claims
        if claim.claim_id in given and _same_numbers([claim], [given[claim.claim_id]])
    }
    cannot = {name: said for name, said in mine.cannot.items() if name not in same}
    besides = tuple(name for name in given if name not in mine.cannot)
    return Entry(mine.result, cannot, besides)


def _only_claims(stored: Result, cleaner: Cleaner, why: str) -> Entry:
    """A result without all that may quote somebody, whose claims stand as they were stored."""
    claims = tuple(_clean_claim(claim, cleaner) for claim in stored.claims)
    result = Result(
        analysis=stored.analysis,
        name=cleaner.words(stored.name),
        title=cleaner.words(stored.title),
        parameters=cleaner.plain(stored.parameters),
        claims=claims,
        notes=(f"Tables and figures are left out: {why}.",),
    )
    return Entry(result, {claim.claim_id: why for claim in claims})


def _clean_claim(claim: Claim, cleaner: Cleaner) -> Claim:
    texts = {
        name: cleaner.words(value)
        for name, value in asdict(claim).items()
        if isinstance(value, str) and name != "claim_id"
    }
    return Claim(**{**asdict(claim), **texts, "claim_id": cleaner.claim_id(claim.claim_id)})


def _shown(entry: Entry, now: Result) -> Result:
    """What is stored beside the others: as in the package, without tables that would differ."""
    return entry.result if entry.cannot or entry.besides else now


def _same_numbers(some: Sequence[Claim], others: Sequence[Claim]) -> bool:
    """Whether claims have the same numbers; raters, and so some ids, have other names."""
    return sorted(map(_numbers, some)) == sorted(map(_numbers, others))


def _numbers(claim: Claim) -> tuple[str, ...]:
    values = (claim.value, claim.low, claim.high, claim.count, claim.total, claim.printed)
    return (*map(_rounded, values), claim.unit, claim.status)


def _rounded(value: float | None) -> str:
    return "" if value is None else "nan" if math.isnan(value) else f"{value:.9g}"


def _why(stored: Result | None, options: Options, without: LeftOut) -> str:
    """Why a copy of the study does not give what the study gives."""
    published = stored.parameters.get("study") if stored else None
    if stored and stored.analysis == _REPLICATION and published in without.packages:
        source = next(each for each in evidence.sources() if each.source_id == published)
        return (
            f"it needs the public package of {published}, which no licence allows to hand on "
            f"({source.citation}): analysis replicate {published} --from DIR"
        )
    if without.packages:
        return "it needs rows of published packages that no licence allows to hand on"
    if options.with_texts:
        return "it needs texts as they were, with people and secrets"
    return "it needs texts, which are not in the package"


def _lacking(problem: str) -> str:
    """What a copy says of itself as "the study", which readers would take for theirs."""
    return re.sub(r"^the study has no\b", "the package does not carry", plain(problem))


def _refuse(stale: Sequence[Difference]) -> None:
    if not stale:
        return
    ids = [plain(each.claim_id) for each in stale]
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    raise StudyError(
        f"{counted(len(ids), 'claim')} of the study would not come out as stored: "
        f"{', '.join(ids[:_NAMED])}{more}",
        "Store what the study gives now, look at it, and make the package then: report build",
    )

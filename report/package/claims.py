"""The numbers of a package: computed on its rows, and which of them it cannot give, and why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultatlas.data import evidence, provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim
from faultatlas.data.old.results import Result as StoredResult
from faultatlas.data.provenance import Run
from faultatlas.report.claims.check import Difference, Recomputation, compare, differences_of
from faultatlas.report.formatting import counted, plain
from faultatlas.report.study import own

if TYPE_CHECKING:
    from faultatlas.data.study import Study
    from faultatlas.report.package.contents import Omitted, Options
    from faultatlas.report.package.people import Cleaner

_REPLICATION = "replicate"
_SHOWN = 5
_AT = datetime(2000, 1, 1)  # noqa: DTZ001  (UTC, as in the study; no clock may show in a package)
_WORDS = ("claim_id", "statement", "unit", "query", "status", "cannot")
_NUMBERS = ("value", "low", "high", "count", "total", "printed")


@dataclass(frozen=True)
class Entry:
    """A result of a package: how it is computed, and its claims.

    `unverifiable` says by claim why the package does not give it; `extra` are claims that the
    package gives and the study does not, because something was omitted.
    """

    result: StoredResult
    unverifiable: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """The claims as plain values, each with the reason why it cannot be verified, if any."""
        return [
            {**asdict(claim), "cannot": self.unverifiable.get(claim.claim_id, "")}
            for claim in self.result.claims
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        names = ("name", "analysis", "title", "parameters")
        named = {name: getattr(self.result, name) for name in names}
        return {**named, "besides": list(self.extra), "claims": self.records()}

    @classmethod
    def from_json(cls, plain_values: Mapping[str, Any]) -> Entry:
        """The entry that `to_json` described; a TypeError for what it never wrote."""
        records = plain_values["claims"]
        for record in records:
            _check_types(record, plain_values)
        claims = tuple(
            Claim(**{name: value for name, value in record.items() if name != "cannot"})
            for record in records
        )
        names = ("name", "analysis", "title", "parameters")
        result = StoredResult(**{name: plain_values[name] for name in names}, claims=claims)
        reasons = {record["claim_id"]: record["cannot"] for record in records if record["cannot"]}
        return cls(result, reasons, tuple(plain_values["besides"]))

    def excuses(self, difference: Difference) -> bool:
        """Whether the package itself says that this differs."""
        expected = self.extra if difference.stored is None else self.unverifiable
        return difference.claim_id in expected


def _check_types(claim: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """A claim is texts and numbers: somebody may have edited the file."""
    texts = [claim[name] for name in _WORDS]
    texts += [result[name] for name in ("name", "analysis", "title")] + list(result["besides"])
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a text is expected")
    numbers = [claim[name] for name in _NUMBERS]
    if not all(number is None or isinstance(number, int | float) for number in numbers):
        raise TypeError("a number is expected")
    for number in numbers:
        float(number or 0)  # OverflowError: a whole number of hundreds of digits


# --- making ------------------------------------------------------------------------------


def entries_of(
    study: Study, copy: Study, cleaner: Cleaner, options: Options, without: Omitted
) -> list[Entry]:
    """The results of a study, computed on its copy for the package and stored there."""
    with study.reading() as reader:
        names = provenance.names(reader)
        stored = {name: provenance.latest(reader, name) for name in names}
    own_numbers = stored.pop(own.NAME, None)
    packing = _Packing(study, copy, cleaner)
    entries = []
    for result in stored.values():
        entries.append(packing.entry(result, _reason(result, options, without)))
        store(copy, entries[-1].result)
    # Last, because they count stored results, too.
    entries.append(packing.own_entry(own_numbers, _reason(None, options, without)))
    _refuse_stale(packing.stale)
    store(copy, entries[-1].result)
    return entries


def store(study: Study, result: StoredResult) -> None:
    """Store a result in the study of a package; who did it and when is always the same."""
    run = Run("package", "report package", {}, provenance.program_version(), _AT)
    provenance.save(study, result, run)


@dataclass
class _Packing:
    """Computes results on the study and on its copy; `stale` is what the study no longer gives."""

    study: Study
    copy: Study
    cleaner: Cleaner
    stale: list[Difference] = field(default_factory=list)

    def entry(self, stored: StoredResult, reason: str) -> Entry:
        """A result for the package."""
        cleaned = replace(stored, parameters=self.cleaner.plain(stored.parameters))
        is_changed = cleaned.parameters != stored.parameters
        on_copy = compare(self.copy, cleaned, may_rename=is_changed)
        if on_copy.now is not None and same_numbers(stored, on_copy.now, self.cleaner):
            return Entry(on_copy.now)
        on_study = compare(self.study, stored)
        if on_study.now is None:  # the study cannot compute it either
            return self._claims_only(cleaned, self.cleaner.words(plain(on_study.problem)))
        if differences := list(differences_of(on_study)):
            self.stale += differences
            return Entry(cleaned)
        if on_copy.now is None:
            problem = self.cleaner.words(_problem_of_copy(on_copy.problem))
            return self._claims_only(cleaned, f"{reason} ({problem})")
        return self._partly(cleaned, on_copy.now, reason)

    def own_entry(self, stored: StoredResult | None, reason: str) -> Entry:
        """The study's own numbers."""
        on_study = own.again(self.study, {})
        if stored is not None:
            self.stale += differences_of(Recomputation(stored, on_study))
        on_copy = own.again(self.copy, {})
        if same_numbers(on_study, on_copy, self.cleaner):
            return Entry(on_copy)
        partly = self._partly(on_study, on_copy, reason)
        return replace(partly, result=replace(on_copy, claims=partly.result.claims))

    def _partly(self, stored: StoredResult, now: StoredResult, reason: str) -> Entry:
        """The claims of the study, and which of them the copy does not give."""
        entry = self._claims_only(stored, reason)
        given = {claim.claim_id: _numbers(claim) for claim in now.claims}
        differing = {
            claim.claim_id: reason
            for claim in entry.result.claims
            if given.get(claim.claim_id) != _numbers(claim)
        }
        extra = tuple(name for name in given if name not in entry.unverifiable)
        return Entry(entry.result, differing, extra)

    def _claims_only(self, stored: StoredResult, reason: str) -> Entry:
        """A result without its tables and texts, which may quote somebody."""
        claims = tuple(self._cleaned(claim) for claim in stored.claims)
        result = StoredResult(
            analysis=stored.analysis,
            name=self.cleaner.words(stored.name),
            title=self.cleaner.words(stored.title),
            parameters=self.cleaner.plain(stored.parameters),
            claims=claims,
            notes=(f"Tables and figures are omitted: {reason}.",),
        )
        return Entry(result, {claim.claim_id: reason for claim in claims})

    def _cleaned(self, claim: Claim) -> Claim:
        texts = {
            name: self.cleaner.words(value)
            for name, value in asdict(claim).items()
            if isinstance(value, str)
        }
        claim_id = self.cleaner.claim_id(claim.claim_id)
        return Claim(**{**asdict(claim), **texts, "claim_id": claim_id})


def same_numbers(stored: StoredResult, now: StoredResult, cleaner: Cleaner) -> bool:
    """Whether each claim has the same numbers under its new id.

    Where ids cannot be translated, because the name of a rater is an ordinary word, claims are
    compared in their order, which renaming does not change.
    """
    expected = {cleaner.claim_id(claim.claim_id): _numbers(claim) for claim in stored.claims}
    actual = {claim.claim_id: _numbers(claim) for claim in now.claims}
    if expected.keys() == actual.keys():
        return expected == actual
    return list(map(_numbers, stored.claims)) == list(map(_numbers, now.claims))


def _numbers(claim: Claim) -> tuple[str, ...]:
    values = (getattr(claim, name) for name in _NUMBERS)
    return (*map(_rounded, values), claim.unit, claim.status)


def _rounded(value: float | None) -> str:
    return "" if value is None else "nan" if math.isnan(value) else f"{value:.9g}"


def _reason(stored: StoredResult | None, options: Options, without: Omitted) -> str:
    """Why a copy of the study does not give what the study gives."""
    published = stored.parameters.get("study") if stored else None
    if stored and stored.analysis == _REPLICATION and published in without.packages:
        sources = {source.source_id: source for source in evidence.sources()}
        return (
            f"it needs the public package of {published}, which no licence allows to redistribute "
            f"({sources[str(published)].citation}): analysis replicate {published} --from DIR"
        )
    if without.packages:
        return "it needs rows of published packages that no licence allows to redistribute"
    if options.with_texts:
        return "it needs texts as they were, with people and secrets"
    return "it needs texts, which are not in the package"


def _problem_of_copy(problem: str) -> str:
    """A problem of the copy, which would call itself "the study"."""
    return re.sub(r"^the study has no\b", "the package does not contain", plain(problem))


def _refuse_stale(stale: Sequence[Difference]) -> None:
    if not stale:
        return
    ids = [plain(difference.claim_id) for difference in stale]
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    raise StudyError(
        f"{counted(len(ids), 'number')} of the study changed since stored: "
        f"{', '.join(ids[:_SHOWN])}{more}",
        "Run report build to store the current numbers, check them, and make the package again.",
    )


# --- verifying ---------------------------------------------------------------------------


def verified(copy: Study, entries: Sequence[Entry]) -> Iterator[tuple[Entry, list[Difference]]]:
    """Each result of a package, and everything that differs when it is computed again.

    Also what the package says it cannot give is computed: its word alone proves nothing.
    """
    for entry in sorted(entries, key=lambda entry: entry.result.name == own.NAME):
        recomputation = compare(copy, entry.result)
        if recomputation.now is not None:
            # Beside what is omitted, the result as the package has it: tables would differ.
            is_whole = not entry.unverifiable and not entry.extra
            store(copy, recomputation.now if is_whole else entry.result)
        elif entry.unverifiable and len(entry.unverifiable) == len(entry.result.claims):
            store(copy, entry.result)
        yield entry, list(differences_of(recomputation))

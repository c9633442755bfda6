"""A study's own final labels, as the coverage gap counts them: of artifacts, not of papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.analysis.coverage.labels import CodeGap
    from faultatlas.annotation.taxonomies.outcomes import Said
    from faultatlas.data.results import Result
    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

# What is no paper, also where a paper got another id since it was labelled.
OF_PRACTICE = "NOT regexp_matches(artifact_id, '^(doi|paper):')"
PAPERS = ("doi:", "paper:")

# A code as raters gave it: taxonomy, version, code.
Given = tuple[str, str, str]
# Codes as they were given, each with what it is in the version that the evidence is about.
Carried = dict[str, frozenset[str]]


@dataclass(frozen=True)
class StudyLabels:
    """The codes of final labels in the version that the evidence is about, by taxonomy."""

    codes: Mapping[str, list[str]] = field(default_factory=dict)
    given: Mapping[tuple[str, str], set[Given]] = field(default_factory=dict)  # (taxonomy, code)
    undecided: tuple[tuple[str, str, str, str], ...] = ()  # taxonomy, version, wanted, codes
    rounds: tuple[str, ...] = ()
    twice: int = 0  # artifacts with final labels in several rounds
    no_code: int = 0  # final labels such as ~unclear

    def require(self, round_name: str) -> None:
        """Refuse labels that are not there, not decided, or would count twice."""
        if not self.codes and self.undecided:
            name = self.undecided[0][0]
            raise StudyError(
                f"no final label is decided in the version of {name} that is shipped",
                f"See what changed: annotation taxonomy diff {name}",
            )
        if not self.codes:
            raise StudyError(
                f"the study has no final labels{f' in round {round_name!r}' if round_name else ''}",
                f"Its rounds: {', '.join(self.rounds)}."
                if self.rounds
                else "Bring some in: annotation import ROUND FILE --item COL --final COL "
                "--taxonomy T",
            )
        if self.twice:
            raise StudyError(
                f"{self.twice:,} artifacts have final labels in several rounds and would count "
                "twice",
                f"Choose one with --round: {', '.join(self.rounds)}.",
            )

    def told_in(self, result: Result) -> Result:
        """The result, saying which labels it leaves out."""
        if self.no_code:
            told = f"Final labels that are no code (such as ~unclear), left out: {self.no_code:,}."
            result = replace(result, notes=(*result.notes, told))
        if not self.undecided:
            return result
        counts = sorted(Counter(self.undecided).items())
        listed = "; ".join(
            f"{count:,} of {codes} ({name} {version}, not decided in {wanted})"
            for (name, version, wanted, codes), count in counts
        )
        keys = ("taxonomy", "version", "in_version", "codes")
        told = (
            f"{len(self.undecided):,} final labels are left out: the version of their taxonomy "
            "that the evidence is about does not decide which code they are."
        )
        left_out: list[dict[str, Any]] = [
            {**dict(zip(keys, which, strict=True)), "count": count} for which, count in counts
        ]
        return replace(
            result,
            summary=(*result.summary, told),
            notes=(*result.notes, f"Final labels that are left out: {listed}."),
            data={**result.data, "undecided": left_out},
        )


@dataclass(frozen=True)
class LabelCounts:
    """How often a study's labels mean each fault, alone or together with others."""

    alone: Mapping[str, int] = field(default_factory=dict)
    together: Mapping[str, int] = field(default_factory=dict)
    total: int = 0  # labels that mean a fault at all


def label_counts(codes: Iterable[CodeGap]) -> LabelCounts:
    """The labels of a study by the faults that their codes mean."""
    alone: Counter[str] = Counter()
    together: Counter[str] = Counter()
    total = 0
    for each in codes:
        total += each.count if each.faults else 0
        for fault in each.faults:
            (alone if len(each.faults) == 1 else together)[fault] += each.count
    return LabelCounts(alone, together, total)


def study_labels(
    reader: Reader, directory: Path, library: TaxonomyLibrary, round_name: str = ""
) -> StudyLabels:
    """The final labels of one round or of all; what papers were coded with is not among them."""
    names = [
        row["taxonomy"]
        for row in reader.rows("SELECT DISTINCT taxonomy FROM store.settlement ORDER BY ALL")
    ]
    found: dict[str, list[str]] = {}
    given: dict[tuple[str, str], set[Given]] = {}
    undecided: list[tuple[str, str, str, str]] = []
    no_code = 0
    for name in names:
        wanted = library.taxonomy(name).version if name in library.names else ""
        for said, carried in _decided(reader, directory, name, round_name, wanted):
            if said.artifact_id.startswith(PAPERS):
                continue
            if carried is None:
                undecided.append((name, said.version, wanted, ", ".join(said.codes)))
                continue
            meant = sorted(frozenset[str]().union(*carried.values()))
            codes = [code for code in meant if not code.startswith("~")]
            no_code += len(meant) - len(codes)
            if codes:
                found.setdefault(name, []).extend(codes)
            for as_given, into in carried.items():
                for code in into:
                    given.setdefault((name, code), set()).add((name, said.version, as_given))
    rounds = [
        row["round"]
        for row in reader.rows(
            f"SELECT DISTINCT round FROM final_labels WHERE {OF_PRACTICE} ORDER BY round"
        )
    ]
    twice = reader.value(
        "SELECT count(*) FROM (SELECT 1 FROM final_labels WHERE ? IN ('', round) "
        f"AND {OF_PRACTICE} "
        "GROUP BY taxonomy, artifact_id HAVING count(DISTINCT round) > 1)",
        [round_name],
    )
    return StudyLabels(found, given, tuple(undecided), tuple(rounds), twice, no_code)


def _decided(
    reader: Reader, directory: Path, name: str, round_name: str, wanted: str
) -> list[tuple[Said, Carried | None]]:
    """The decisions that count, with their codes in the wanted version, else as they are."""
    from faultatlas.annotation.taxonomies.outcomes import (
        carried_codes,
        counting_ones,
        current_decisions,
    )
    from faultatlas.annotation.taxonomies.versions import Versions
    from faultatlas.data.taxonomy_changes import version_key

    settled = current_decisions(reader, name, round_name)
    if not wanted:
        # Nothing is known of its versions: of each item the highest counts.
        settled.sort(key=lambda said: version_key(said.version))
        return [
            (said, {code: frozenset((code,)) for code in said.codes})
            for said in {said.place: said for said in settled}.values()
        ]
    versions = Versions.known(reader, directory, name)
    found: list[tuple[Said, Carried | None]] = []
    for said in counting_ones(versions, settled, wanted):
        one_by_one = {
            code: carried_codes(versions, replace(said, codes=(code,)), wanted)
            for code in said.codes
        }
        carried = {code: codes for code, codes in one_by_one.items() if codes is not None}
        found.append((said, carried if len(carried) == len(one_by_one) else None))
    return found

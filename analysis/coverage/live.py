"""What a study adds to the shipped evidence: its papers, its labels, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from faultatlas.analysis.coverage import SEED
from faultatlas.analysis.coverage import changes as changed
from faultatlas.analysis.coverage.catalogue import Entry, catalogue, faults_table
from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.analysis.coverage.earlier import Earlier
from faultatlas.analysis.coverage.faults import FAULT_TAXONOMY, STATUSES, Fault, survey_faults
from faultatlas.analysis.coverage.labels import CodeGap, study_gap
from faultatlas.analysis.coverage.priority import priorities, priority_table, sources
from faultatlas.analysis.coverage.rows import label_rows
from faultatlas.analysis.coverage.study_labels import Given, LabelCounts, StudyLabels, label_counts
from faultatlas.analysis.coverage.study_papers import StudyPapers
from faultatlas.data.old.results import Table
from faultatlas.data.taxonomy_library import TaxonomyLibrary


@dataclass(frozen=True)
class Live:
    """The study's own evidence; `problems` say why some of it is not used."""

    papers: StudyPapers = field(default_factory=StudyPapers)
    labels: StudyLabels = field(default_factory=StudyLabels)
    since: Earlier | None = None
    seed: int = SEED
    problems: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """What a result must keep to be computed again."""
        found: dict[str, Any] = {"seed": self.seed}
        return found | ({"since": self.since.run_id} if self.since else {})


@dataclass(frozen=True)
class Standing:
    """What every result of the coverage gap shows, whatever its evidence."""

    entries: tuple[Entry, ...]
    counts: LabelCounts
    news: tuple[Table, ...]  # what changed; none the first time
    tables: tuple[Table, ...]
    summary: tuple[str, ...]
    notes: tuple[str, ...]
    document: dict[str, Any]
    # Codes of labels that mean one fault, as raters gave them, by the status of that fault.
    labels: Mapping[str, tuple[Given, ...]]

    def label_rows(self, status: str, round_name: str) -> str:
        """The final labels that mean one fault, those on a fault with that status marked."""
        every = sorted(given for codes in self.labels.values() for given in codes)
        return label_rows(self.labels[status], every, round_name)


def standing(
    library: TaxonomyLibrary, corpus: Corpus, statuses: Iterable[Fault], live: Live
) -> Standing:
    """All faults side by side, the untargeted ones in order, and what changed.

    `statuses` are those by which a fault counts as untargeted here.
    """
    status_of = {fault.code: fault.status for fault in statuses}
    taxonomy = library.taxonomy(FAULT_TAXONOMY)
    labels = study_gap(live.labels.codes, library, survey_faults(taxonomy, corpus))
    counts = label_counts(labels)
    single = [code for code in labels if len(code.faults) == 1]
    entries = catalogue(taxonomy, corpus, counts)
    where = sources(entries, counts.total)
    untargeted = [code for code, status in status_of.items() if status == "untargeted"]
    ranked = priority_table(priorities(entries, untargeted, where, live.seed), where)
    compared = _compared(entries, corpus, counts, live.since)
    return Standing(
        entries,
        counts,
        compared.tables,
        (ranked, faults_table(entries, corpus, with_labels=bool(counts.total))),
        compared.summary,
        (*live.problems, *live.papers.notes(), *_doubles(corpus), *compared.notes),
        {
            "catalogue": [entry.to_json() for entry in entries],
            "corpus_papers": {paper.paper: paper.label for paper in corpus.papers},
            "label_total": counts.total,
            "priority": ranked.records(),
            **compared.document,
        },
        {
            status: _given(live, (code for code in single if status_of[code.faults[0]] == status))
            for status in STATUSES
        },
    )


def _doubles(corpus: Corpus) -> tuple[str, ...]:
    """Papers that a reader cannot tell apart, and that may be one."""
    labels = Counter(paper.label for paper in corpus.papers)
    twice = sorted(label for label, count in labels.items() if count > 1)
    told = (
        f"{', '.join(twice)}: papers of the survey and of the study have the same author and year. "
        "Where they are one, leave one out with --without ID."
    )
    return (told,) if twice else ()


def _given(live: Live, codes: Iterable[CodeGap]) -> tuple[Given, ...]:
    """How raters gave these codes, in whatever version."""
    return tuple(
        sorted(one for code in codes for one in live.labels.given[code.taxonomy, code.code])
    )


@dataclass(frozen=True)
class _Compared:
    tables: tuple[Table, ...]
    summary: tuple[str, ...]
    notes: tuple[str, ...]
    document: dict[str, Any]


def _compared(
    entries: Sequence[Entry], corpus: Corpus, counts: LabelCounts, since: Earlier | None
) -> _Compared:
    if since is None:
        told = "What changed: this result was compared with no earlier one."
        return _Compared((), (), (told,), {"changes": None})
    if not since.is_there:
        told = (
            f"What changed cannot be told: the study has no result of run {since.run_id} to read."
        )
        return _Compared((), (), (told,), {"changes": None})
    found = changed.changes(entries, corpus, since)
    grown = changed.growth(entries, counts.total, since)
    tables = []
    if found:
        tables.append(changed.changes_table(found, since.day))
    if grown:
        tables.append(changed.growth_table(grown, since.day))
    return _Compared(
        tuple(tables),
        (changed.summary(found, grown, since.day),),
        (f"What changed is told against the result of run {since.run_id}.",),
        {
            "changes": {
                "since": since.run_id,
                "faults_and_papers": [
                    {**asdict(each), "papers": list(each.papers)} for each in found
                ],
                "growth": [{**asdict(each), "verdict": each.verdict} for each in grown],
            }
        },
    )

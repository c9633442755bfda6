"""Every fault with all that is known of it side by side: survey, papers, practice, own labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.analysis.coverage.faults import Fault, corpus_faults, survey_faults
from faultatlas.analysis.coverage.study_labels import LabelCounts
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.data.taxonomy import Taxonomy

CODE = Column("code", "Code", "code")
FAULT = Column("fault", "Fault")
OCCURRENCES = (
    Column("github", "GitHub", "count"),
    Column("stackoverflow", "Stack Overflow", "count"),
    Column("interviews", "Interviews", "count"),
)


@dataclass(frozen=True)
class Entry:
    """A fault: its status by the survey and by the papers, and how often it was met."""

    code: str
    name: str
    category: str
    survey: str
    survey_basis: str
    corpus: str
    corpus_basis: str
    papers: tuple[str, ...]  # of the corpus that target it, by its code or one above it
    github: int
    stackoverflow: int
    interviews: int
    labels: int  # of the study that mean this fault alone
    labels_together: int  # of the study that mean this fault among others
    note: str

    @property
    def artifacts(self) -> int:
        """GitHub and Stack Overflow together, of the public data."""
        return self.github + self.stackoverflow

    def to_json(self) -> dict[str, Any]:
        """Plain values, from which a later result tells what changed."""
        return {**asdict(self), "papers": list(self.papers)}


def catalogue(taxonomy: Taxonomy, corpus: Corpus, counts: LabelCounts) -> tuple[Entry, ...]:
    """All faults of the survey, in its order; a new fault that no paper targets is untargeted."""
    by_papers = {fault.code: fault for fault in corpus_faults(taxonomy, corpus)}
    return tuple(
        _entry(fault, by_papers.get(fault.code), counts)
        for fault in survey_faults(taxonomy, corpus)
    )


def faults_table(entries: Sequence[Entry], corpus: Corpus, *, with_labels: bool) -> Table:
    """Every fault with status, ground, papers and occurrences; labels where the study has some."""
    labels = (
        Column("labels", "This study", "count"),
        Column("labels_together", "This study, with others", "count", aside=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for each in entries:
        own = (each.labels, each.labels_together) if with_labels else ()
        rows.append(
            (each.code, each.name, each.category, each.survey, each.survey_basis, each.corpus,
             each.corpus_basis, ", ".join(corpus.label(paper) for paper in each.papers),
             each.github, each.stackoverflow, each.interviews, *own, each.note)
        )  # fmt: skip
    return Table(
        "faults",
        "All faults: the survey, the papers and practice",
        (
            CODE,
            FAULT,
            Column("category", "Category", aside=True),
            Column("survey", "Survey", "status"),
            Column("survey_basis", "Ground", aside=True),
            Column("corpus", "Papers", "status"),
            Column("corpus_basis", "Ground", aside=True),
            Column("papers", "Which papers"),
            *OCCURRENCES,
            *(labels if with_labels else ()),
            Column("note", "Note", aside=True),
        ),
        tuple(rows),
        note=(
            "Survey: the status that the survey gives. Papers: the status by the codes of papers "
            "alone, those of the study included. Ground: named, or only through its category. "
            "Occurrences are those of the public data of the fault taxonomy"
            + (
                "; this study: final labels that mean this fault alone, or this one among others."
                if with_labels
                else "."
            )
        ),
        folded=True,
    )


def _entry(fault: Fault, by_papers: Fault | None, counts: LabelCounts) -> Entry:
    return Entry(
        code=fault.code,
        name=fault.name,
        category=fault.category,
        survey=fault.status,
        survey_basis=fault.basis,
        corpus=by_papers.status if by_papers else "untargeted",
        corpus_basis=by_papers.basis if by_papers else "",
        papers=fault.papers,
        github=fault.github,
        stackoverflow=fault.stackoverflow,
        interviews=fault.interviews,
        labels=counts.alone.get(fault.code, 0),
        labels_together=counts.together.get(fault.code, 0),
        note=fault.note,
    )

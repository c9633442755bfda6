"""The tables of what the papers of the corpus target, and how much hangs on each."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.analysis.coverage.alignment import Matrix
from faultatlas.analysis.coverage.catalogue import CODE, FAULT
from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.analysis.coverage.faults import Fault
from faultatlas.data import evidence
from faultatlas.data.old.results import Column, Table
from faultatlas.data.taxonomy import Taxonomy


def matrix_table(matrix: Matrix, faults: Taxonomy, techniques: Taxonomy, corpus: Corpus) -> Table:
    """Fault, technique and the papers that join them, one row a pair."""
    return Table(
        "matrix",
        "Faults and the techniques that address them",
        (
            Column("fault_code", "Fault code", "code"),
            FAULT,
            Column("technique_code", "Technique code", "code"),
            Column("technique", "Technique"),
            Column("papers", "Papers", "count"),
            Column("which", "Which"),
        ),
        tuple(
            (
                row,
                fault_label(faults, row),
                column,
                techniques.node(column).name,
                len(papers),
                ", ".join(corpus.label(paper) for paper in papers),
            )
            for (row, column), papers in matrix.papers.items()
        ),
        note="A row may be a whole category where the papers name no single fault.",
        folded=True,
    )


def disagreements_table(
    by_corpus: Sequence[Fault], by_survey: Sequence[Fault], corpus: Corpus
) -> Table:
    """The leaves where the codes of the papers and the survey's own status differ."""
    survey = {fault.code: fault for fault in by_survey}
    rows = [
        (fault.code, fault.name, fault.status, fault.basis, survey[fault.code].status,
         ", ".join(corpus.label(paper) for paper in fault.papers), survey[fault.code].note)
        for fault in by_corpus
        if fault.status != survey[fault.code].status
    ]  # fmt: skip
    return Table(
        "disagreements",
        "Where the papers and the survey's own status disagree",
        (
            CODE,
            FAULT,
            Column("corpus", "By the papers"),
            Column("basis", "Ground", aside=True),
            Column("survey", "By the survey"),
            Column("papers", "Papers"),
            Column("note", "Note", aside=True),
        ),
        tuple(rows),
        note="Ground: named, or only through its category.",
    )


def dependence_table(faults: Sequence[Fault], corpus: Corpus) -> Table:
    """What would be untargeted without each paper, the weightiest first."""
    alone: dict[str, list[Fault]] = {}
    for fault in faults:
        if len(fault.papers) == 1:
            alone.setdefault(fault.papers[0], []).append(fault)
    weights = {
        paper: (len(only), sum(each.artifacts for each in only), sum(f.interviews for f in only))
        for paper, only in alone.items()
    }
    return Table(
        "dependence",
        "How much hangs on one paper",
        (
            Column("paper", "Without"),
            Column("faults", "Faults less", "count"),
            Column("artifacts", "Artifacts less", "count"),
            Column("interviews", "Mentions less", "count"),
            Column("which", "Which faults", aside=True),
        ),
        tuple(
            (corpus.label(paper), *weights[paper], ", ".join(each.code for each in alone[paper]))
            for paper in sorted(weights, key=lambda paper: (*(-w for w in weights[paper]), paper))
        ),
        note="What only this paper targets. Papers without a line change nothing when left out.",
    )


def fault_label(taxonomy: Taxonomy, code: str) -> str:
    """The name of a fault, a category (marked as such) or a new fault."""
    if code not in taxonomy:
        return next(fault.name for fault in evidence.new_faults() if fault.code == code)
    name = taxonomy.node(code).name
    return name if taxonomy.is_leaf(code) else f"{name} (category)"

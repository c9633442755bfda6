"""The status of every fault: targeted, untargeted, new, or not mentioned; and on what ground."""

from __future__ import annotations

from dataclasses import dataclass

from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.data import evidence
from faultatlas.data.evidence import Occurrences
from faultatlas.data.taxonomy import Taxonomy

FAULT_TAXONOMY = "humbatova"
STATUSES = ("targeted", "untargeted", "new", "not mentioned")


@dataclass(frozen=True)
class Fault:
    """A leaf of the fault taxonomy, or a new fault, with its status and its occurrences.

    `basis` is `named` when the fault itself is named and `category` when only a category
    above it is; `papers` are those of the corpus that target it, in either way.
    """

    code: str
    name: str
    category: str
    status: str
    basis: str
    papers: tuple[str, ...]
    github: int
    stackoverflow: int
    interviews: int
    note: str = ""

    @property
    def artifacts(self) -> int:
        """GitHub and Stack Overflow together."""
        return self.github + self.stackoverflow

    @property
    def mentions(self) -> int:
        """All occurrences: artifacts and interview mentions."""
        return self.artifacts + self.interviews


def survey_faults(taxonomy: Taxonomy, corpus: Corpus) -> tuple[Fault, ...]:
    """Every fault with the status that the survey itself gives it."""
    statuses, seen = evidence.survey_statuses(), evidence.occurrences()
    leaves = [
        _leaf(
            taxonomy,
            corpus,
            seen[leaf.code],
            status=statuses[leaf.code].status.replace("-", " "),
            basis=statuses[leaf.code].basis,
            note=statuses[leaf.code].note,
        )
        for leaf in taxonomy.leaves
    ]
    return (*leaves, *_new_faults(taxonomy, corpus, only_targeted=False))


def corpus_faults(taxonomy: Taxonomy, corpus: Corpus) -> tuple[Fault, ...]:
    """Every fault with the status that follows from the codes of the papers alone.

    A leaf is targeted by name when a paper carries its code, and through its category
    when a paper carries the code of a node above it.
    """
    targeted, seen = corpus.papers_by_fault, evidence.occurrences()
    leaves = []
    for leaf in taxonomy.leaves:
        if leaf.code in targeted:
            status, basis = "targeted", "named"
        elif any(code in targeted for code in taxonomy.ancestors(leaf.code)):
            status, basis = "targeted", "category"
        else:
            status, basis = "untargeted", ""
        leaves.append(_leaf(taxonomy, corpus, seen[leaf.code], status=status, basis=basis, note=""))
    return (*leaves, *_new_faults(taxonomy, corpus, only_targeted=True))


def papers_on(taxonomy: Taxonomy, corpus: Corpus, code: str) -> tuple[str, ...]:
    """The papers that target a leaf, by its own code or by one above it."""
    targeted = corpus.papers_by_fault
    codes = (code, *taxonomy.ancestors(code)) if code in taxonomy else (code,)
    return tuple(sorted({paper for each in codes for paper in targeted.get(each, ())}))


def category_path(taxonomy: Taxonomy, code: str) -> str:
    """The names above a node, outermost first."""
    return " / ".join(taxonomy.node(each).name for each in reversed(taxonomy.ancestors(code)))


def _leaf(
    taxonomy: Taxonomy, corpus: Corpus, seen: Occurrences, *, status: str, basis: str, note: str
) -> Fault:
    code = seen.code
    return Fault(
        code=code,
        name=taxonomy.node(code).name,
        category=category_path(taxonomy, code),
        status=status,
        basis=basis,
        papers=papers_on(taxonomy, corpus, code),
        github=seen.github,
        stackoverflow=seen.stackoverflow,
        interviews=seen.interviews,
        note=note,
    )


def _new_faults(taxonomy: Taxonomy, corpus: Corpus, *, only_targeted: bool) -> list[Fault]:
    """The faults that only the papers know; they have no occurrences in the public data."""
    found = []
    for fault in evidence.new_faults():
        papers = papers_on(taxonomy, corpus, fault.code)
        if papers or not only_targeted:
            above = (*reversed(taxonomy.ancestors(fault.parent)), fault.parent)
            category = " / ".join(taxonomy.node(code).name for code in above)
            found.append(
                Fault(fault.code, fault.name, category, "new", "named", papers, 0, 0, 0, fault.note)
            )
    return found

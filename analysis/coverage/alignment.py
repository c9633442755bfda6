"""Which techniques address which faults, and how research and practice weigh components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.analysis.coverage.faults import Fault
from faultatlas.data import evidence
from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True)
class Matrix:
    """Papers by fault code (rows) and technique code (columns); only codes that papers carry."""

    faults: tuple[str, ...]
    techniques: tuple[str, ...]
    papers: dict[tuple[str, str], tuple[str, ...]]

    def count(self, fault: str, technique: str) -> int:
        """How many papers use the technique on the fault."""
        return len(self.papers.get((fault, technique), ()))


@dataclass(frozen=True)
class Component:
    """A larger component of a machine-learning system, as the survey's figure 4 merges them.

    `papers` target faults of the taxonomy; `papers_on_new` target new faults, which have no
    occurrences to compare with and so stand apart.
    """

    name: str
    papers: int
    papers_on_new: int
    artifacts: int
    interviews: int
    labels: int = 0  # of the study


@dataclass(frozen=True)
class ComponentComparison:
    """Components, and the wholes that they are parts of."""

    components: tuple[Component, ...]
    papers: int  # that target at least one fault of the taxonomy
    artifacts: int
    interviews: int
    labels: int = 0


def fault_technique_matrix(faults: Taxonomy, techniques: Taxonomy, corpus: Corpus) -> Matrix:
    """Which papers address which fault with which technique."""
    by_fault = corpus.papers_by_fault
    by_technique = corpus.papers_by_technique
    # In the order of the taxonomies, new faults last.
    rows = [node.code for node in faults.nodes if node.code in by_fault]
    rows += [fault.code for fault in evidence.new_faults() if fault.code in by_fault]
    columns = [node.code for node in techniques.nodes if node.code in by_technique]
    cells = {}
    for row in rows:
        for column in columns:
            both = sorted(set(by_fault[row]) & set(by_technique[column]))
            if both:
                cells[row, column] = tuple(both)
    used = {column for _row, column in cells}
    return Matrix(tuple(rows), tuple(column for column in columns if column in used), cells)


def compare_components(
    taxonomy: Taxonomy,
    corpus: Corpus,
    faults: Sequence[Fault],
    labels: Mapping[str, int] | None = None,
) -> ComponentComparison:
    """Papers, artifacts, interview mentions and the study's labels for each component.

    `labels` are by fault. A paper counts once for each component that one of its fault codes lies
    in; a code that spans several components counts for all of them.
    """
    component_of = evidence.components()
    names = list(dict.fromkeys(component_of.values()))
    papers: dict[str, set[str]] = {name: set() for name in names}
    papers_on_new: dict[str, set[str]] = {name: set() for name in names}
    for code, coded in corpus.papers_by_fault.items():
        if code in taxonomy:
            for leaf in taxonomy.leaves_of(code):
                papers[component_of_code(taxonomy, leaf)].update(coded)
        else:
            papers_on_new[component_of[code]].update(coded)
    artifacts = dict.fromkeys(names, 0)
    interviews = dict.fromkeys(names, 0)
    labelled = dict.fromkeys(names, 0)
    for fault in faults:
        name = component_of_code(taxonomy, fault.code)
        artifacts[name] += fault.artifacts
        interviews[name] += fault.interviews
        labelled[name] += (labels or {}).get(fault.code, 0)
    return ComponentComparison(
        tuple(
            Component(
                name,
                len(papers[name]),
                len(papers_on_new[name]),
                artifacts[name],
                interviews[name],
                labelled[name],
            )
            for name in names
        ),
        papers=len(set().union(*papers.values())),
        artifacts=sum(artifacts.values()),
        interviews=sum(interviews.values()),
        labels=sum(labelled.values()),
    )


def component_of_code(taxonomy: Taxonomy, code: str) -> str:
    """The component that a leaf or a new fault belongs to."""
    component_of = evidence.components()
    above = (code, *taxonomy.ancestors(code)) if code in taxonomy else (code,)
    return next(component_of[each] for each in above if each in component_of)

"""The gap of a study's own final labels, through crosswalks where they need one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from faultatlas.analysis.coverage.corpus import TECHNIQUES
from faultatlas.analysis.coverage.faults import FAULT_TAXONOMY, Fault
from faultatlas.data.taxonomy import Crosswalk, Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary

# `mixed`: a label that means several faults which differ in status.
# `unmapped`: a label without a counterpart among the faults.
LABEL_STATUSES = ("targeted", "untargeted", "not mentioned", "mixed", "unmapped")


@dataclass(frozen=True)
class CodeGap:
    """A code of the study's labels: how often it was given, and what research says of it."""

    taxonomy: str
    code: str
    name: str
    count: int
    status: str
    faults: tuple[str, ...]  # leaves of the fault taxonomy that it means
    relation: str  # of the crosswalk's pair; exact in the fault taxonomy itself
    techniques: tuple[str, ...] | None  # that find such defects; None where nobody looked
    reason: str


def study_gap(
    labels: Mapping[str, Sequence[str]], library: TaxonomyLibrary, faults: Iterable[Fault]
) -> tuple[CodeGap, ...]:
    """Every code of the final labels (taxonomy to codes), most frequent first."""
    statuses = {fault.code: fault.status for fault in faults}
    fault_taxonomy = library.taxonomy(FAULT_TAXONOMY)
    found: list[CodeGap] = []
    for name in sorted(labels):
        taxonomy = library.taxonomy(name) if name in library.names else None
        to_faults = None if taxonomy is None else library.crosswalk(name, FAULT_TAXONOMY)
        to_techniques = None if taxonomy is None else library.crosswalk(name, TECHNIQUES)
        for code, count in Counter(labels[name]).items():
            meant, relation, reason = _meant(name, code, fault_taxonomy, taxonomy, to_faults)
            techniques = None if to_techniques is None else to_techniques.pair(code)
            known = taxonomy is not None and code in taxonomy
            found.append(
                CodeGap(
                    taxonomy=name,
                    code=code,
                    name=taxonomy.node(code).name if taxonomy is not None and known else "",
                    count=count,
                    status=_status({statuses[leaf] for leaf in meant}),
                    faults=meant,
                    relation=relation,
                    techniques=None if techniques is None else techniques.targets,
                    reason=reason,
                )
            )
    return tuple(sorted(found, key=lambda gap: (-gap.count, gap.taxonomy, gap.code)))


def _meant(
    name: str,
    code: str,
    fault_taxonomy: Taxonomy,
    taxonomy: Taxonomy | None,
    crosswalk: Crosswalk | None,
) -> tuple[tuple[str, ...], str, str]:
    """The leaves of the fault taxonomy that a code means, how closely, and why those."""
    if name == FAULT_TAXONOMY:
        if code not in fault_taxonomy:
            return (), "none", f"no code of {FAULT_TAXONOMY}"
        return fault_taxonomy.leaves_of(code), "exact", "the same taxonomy"
    if taxonomy is None:
        return (), "none", f"the taxonomy {name} is not known"
    if crosswalk is None:
        return (), "none", f"no crosswalk from {name} to {FAULT_TAXONOMY}"
    pair = crosswalk.pair(code)
    if pair is None:
        return (), "none", f"the crosswalk does not know the code {code}"
    leaves = (leaf for target in pair.targets for leaf in fault_taxonomy.leaves_of(target))
    return tuple(dict.fromkeys(leaves)), pair.relation, pair.basis


def _status(statuses: set[str]) -> str:
    if not statuses:
        return "unmapped"
    return statuses.pop() if len(statuses) == 1 else "mixed"

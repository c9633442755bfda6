"""The coverage gap of a study's own final labels, as a `Result`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faultatlas.analysis.coverage.code_tables import codes_table, untargeted_codes_table
from faultatlas.analysis.coverage.corpus import TECHNIQUES, Corpus
from faultatlas.analysis.coverage.faults import FAULT_TAXONOMY, survey_faults
from faultatlas.analysis.coverage.gap import StatusShares, shares_by_status
from faultatlas.analysis.coverage.labels import LABEL_STATUSES, CodeGap, study_gap
from faultatlas.analysis.coverage.live import Live, standing
from faultatlas.analysis.coverage.numbers import (
    SHARES,
    result_name,
    share_labels,
    share_quantities,
    told,
)
from faultatlas.analysis.coverage.rows import label_rows
from faultatlas.data.results import Chart, Result
from faultatlas.data.taxonomy_library import TaxonomyLibrary

_NOTES = (
    (
        "By technique: targeted where the sources of the crosswalk to techniques report that one "
        "found a defect of that type, untargeted where they report none, unmapped where there is "
        "no such crosswalk."
    ),
    (
        "By fault: the status, in the survey, of the faults that a code means, itself or through "
        "the crosswalk of its taxonomy. Mixed: they differ. Unmapped: it means none of them. A "
        "related pair is a resemblance, not an identity: the table of codes "
        "says which pairs are."
    ),
    "Intervals are Wilson score intervals; they take the labels for independent draws.",
)


def study_result(
    library: TaxonomyLibrary,
    corpus: Corpus,
    live: Live,
    parameters: dict[str, Any],
) -> Result:
    """The gap of the study's final labels."""
    parameters = {"evidence": "study", **parameters, **live.parameters}
    labels = live.labels.codes
    everything = corpus.joined(live.papers.corpus)
    faults = survey_faults(library.taxonomy(FAULT_TAXONOMY), everything)
    codes = study_gap(labels, library, faults)
    beside = standing(library, everything, faults, live)
    wholes = _wholes(codes)
    chosen = f", round {parameters['round']}" if "round" in parameters else ""
    statements = {
        ("techniques", "untargeted"): "Labels whose type no technique is reported to find",
        ("mapped", "untargeted"): "Labels that mean a fault, on one that no technique targets",
        ("labels", "unmapped"): "Labels without a counterpart among the faults",
    }
    there = {whole.key: whole for whole in wholes if whole.total}

    def rows(whole: str, status: str) -> str:
        return _rows(codes, there[whole], status, live, parameters.get("round", ""))

    return Result(
        name=result_name(parameters),
        title=f"The gap between this study's defects and debugging research{chosen}",
        quantities=share_quantities(there.values(), statements=statements, rows=rows),
        leading=tuple(f"{whole}.{status}" for whole, status in statements if whole in there),
        labels=share_labels(wholes),
        summary=(*_summary(*wholes), *beside.summary),
        tables=(
            SHARES,
            *beside.news,
            untargeted_codes_table(codes),
            codes_table(codes, library.taxonomy(TECHNIQUES)),
            *beside.tables,
        ),
        figures=(
            Chart(
                "shares",
                "The study's labels by status",
                "shares",
                "whole",
                "status",
                "Stacked bars.",
                only=tuple(there),
            ),
        ),
        notes=(*_NOTES, *beside.notes),
        sources=_sources(library, labels),
        data=beside.document,
    )


def _rows(
    codes: Sequence[CodeGap], whole: StatusShares, status: str, live: Live, round_name: str
) -> str:
    """The final labels of a share, those that it counts marked."""

    def status_of(code: CodeGap) -> str:
        return _technique_status(code) if whole.key == "techniques" else code.status

    given = live.labels.given
    every = [code for code in codes if whole.key != "mapped" or code.status != "unmapped"]
    return label_rows(
        (
            one
            for code in every
            if status_of(code) == status
            for one in given[code.taxonomy, code.code]
        ),
        (one for code in every for one in given[code.taxonomy, code.code]),
        round_name,
    )


def _wholes(codes: Sequence[CodeGap]) -> tuple[StatusShares, StatusShares, StatusShares]:
    """By technique, by fault, and by fault among those that have one."""
    return (
        shares_by_status(
            "techniques",
            "Labels, by technique",
            ((_technique_status(code), code.count) for code in codes),
            ("targeted", "untargeted", "unmapped"),
        ),
        shares_by_status(
            "labels",
            "Labels, by fault",
            ((code.status, code.count) for code in codes),
            LABEL_STATUSES,
        ),
        shares_by_status(
            "mapped",
            "Labels that mean a fault",
            ((code.status, code.count) for code in codes if code.status != "unmapped"),
            LABEL_STATUSES[:-1],
        ),
    )


def _summary(
    by_technique: StatusShares, by_fault: StatusShares, mapped: StatusShares
) -> tuple[str, ...]:
    sentences = []
    if by_technique.shares["unmapped"].count < by_technique.total:
        sentences.append(
            f"For {told(by_technique.shares['untargeted'])} labels no technique is reported to "
            "have found a defect of that type."
        )
    if mapped.total:
        sentences.append(
            f"{mapped.total:,} of {by_fault.total:,} labels mean or resemble a fault of the "
            f"taxonomy; of these, {told(mapped.shares['untargeted'])} are on faults that nobody "
            "targets."
        )
    unmapped = by_fault.shares["unmapped"]
    if unmapped.count:
        sentences.append(
            f"{told(unmapped)} labels have no counterpart among the faults, or no crosswalk to "
            "them."
        )
    return tuple(sentences)


def _technique_status(code: CodeGap) -> str:
    if code.techniques is None:
        return "unmapped"
    return "targeted" if code.techniques else "untargeted"


def _sources(library: TaxonomyLibrary, labels: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The taxonomies and crosswalks that were used, and the faults they lead to."""
    names = [name for name in sorted(labels) if name in library.names]
    found = [library.taxonomy(name).source for name in [*names, FAULT_TAXONOMY, TECHNIQUES]]
    for name in names:
        for target in (FAULT_TAXONOMY, TECHNIQUES):
            crosswalk = None if name == target else library.crosswalk(name, target)
            if crosswalk is not None:
                found.append(f"Crosswalk {crosswalk.name}: {crosswalk.source}")
    return tuple(dict.fromkeys(found))

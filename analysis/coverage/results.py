"""The coverage gap as a `Result`, for each kind of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from analysis.coverage import tables
from analysis.coverage.alignment import compare_components, fault_technique_matrix
from analysis.coverage.corpus import TECHNIQUES, Corpus
from analysis.coverage.faults import FAULT_TAXONOMY, Fault, corpus_faults, survey_faults
from analysis.coverage.gap import StatusShares, gap, most_frequent_untargeted, shares_by_status
from analysis.coverage.labels import LABEL_STATUSES, CodeGap, study_gap
from analysis.coverage.published import RULE, Comparison, compare
from data import evidence
from data.results import Claim, Result, Table
from data.taxonomy_library import TaxonomyLibrary

ANALYSIS = "coverage-gap"

_SURVEY_NOTES = (
    (
        "Occurrences are those of the public data of the fault taxonomy (Humbatova et al.): "
        "artifacts from GitHub and Stack Overflow, and accepted mentions in interviews."
    ),
    (
        "The faults are a list, not a sample: the interval of a share of faults says how far it "
        "would move if the list were another one of the same kind."
    ),
    (
        "The survey calls mislabelled training data both targeted and untargeted; it counts as "
        "untargeted here, as in the survey's list of untargeted faults."
    ),
)


def survey_result(library: TaxonomyLibrary, corpus: Corpus) -> Result:
    """The gap by the survey's own statuses."""
    taxonomy = library.taxonomy(FAULT_TAXONOMY)
    faults = survey_faults(taxonomy, corpus)
    unmentioned = [fault.name for fault in faults if fault.status == "not mentioned"]
    return _literature_result(
        library,
        corpus,
        faults,
        parameters={"evidence": "survey"},
        name=ANALYSIS,
        title="The gap between machine-learning faults and debugging research",
        with_readings=True,
        extra_tables=(tables.readings_table(evidence.readings()),),
        notes=(
            (
                f"{len(unmentioned)} leaves are not mentioned by the survey "
                f"({'; '.join(unmentioned)}); they stay in the denominator."
            ),
            *_SURVEY_NOTES,
        ),
        extra_document={},
    )


def corpus_result(library: TaxonomyLibrary, corpus: Corpus, parameters: dict[str, Any]) -> Result:
    """The gap by the codes of the papers alone."""
    taxonomy = library.taxonomy(FAULT_TAXONOMY)
    faults = corpus_faults(taxonomy, corpus)
    disagreements = tables.disagreements_table(faults, survey_faults(taxonomy, corpus))
    by_basis = {
        basis: sum(fault.status == "targeted" and fault.basis == basis for fault in faults)
        for basis in ("named", "category")
    }
    return _literature_result(
        library,
        corpus,
        faults,
        parameters={"evidence": "corpus", **parameters},
        name=f"{ANALYSIS}-corpus",
        title="The gap between machine-learning faults and debugging research, by the papers alone",
        with_readings=False,
        extra_tables=(disagreements, tables.single_paper_table(faults, corpus)),
        notes=(
            (
                f"Of the targeted faults, {by_basis['named']} are named by a paper and "
                f"{by_basis['category']} are targeted only through a category above them."
            ),
            f"{len(disagreements.rows)} faults have another status than the survey gives them.",
            (
                "The corpus has the papers that the survey discusses by name, not all that it "
                "collected."
            ),
            *_SURVEY_NOTES[:2],
        ),
        extra_document={
            "papers": [paper.paper for paper in corpus.papers],
            "targeted_by": by_basis,
            "disagreements": disagreements.records(),
        },
    )


def study_result(
    library: TaxonomyLibrary,
    corpus: Corpus,
    labels: Mapping[str, Sequence[str]],
    parameters: dict[str, Any],
) -> Result:
    """The gap of a study's own final labels."""
    taxonomy = library.taxonomy(FAULT_TAXONOMY)
    techniques = library.taxonomy(TECHNIQUES)
    codes = study_gap(labels, library, survey_faults(taxonomy, corpus))
    by_fault = shares_by_status(
        "labels", "Labels", ((code.status, code.count) for code in codes), LABEL_STATUSES
    )
    mapped = shares_by_status(
        "mapped",
        "Labels with a counterpart",
        ((code.status, code.count) for code in codes if code.status != "unmapped"),
        LABEL_STATUSES[:-1],
    )
    by_technique = shares_by_status(
        "techniques",
        "Labels, by techniques that find such defects",
        ((_technique_status(code), code.count) for code in codes),
        ("targeted", "untargeted", "unmapped"),
    )
    wholes = (by_fault, mapped, by_technique)
    name = f"{ANALYSIS}-study"
    untargeted = tables.untargeted_codes_table(codes)
    return Result(
        analysis=ANALYSIS,
        name=name,
        title="The gap between this study's defects and debugging research",
        parameters={"evidence": "study", **parameters},
        summary=_study_summary(by_fault, mapped, by_technique),
        claims=tuple(
            _claim(name, "study", whole, status)
            for whole, status in (
                (mapped, "untargeted"),
                (by_fault, "unmapped"),
                (by_technique, "untargeted"),
            )
        ),
        tables=(
            tables.shares_table(wholes),
            untargeted,
            tables.codes_table(codes, techniques),
        ),
        figures=(tables.shares_figure(wholes, "The study's labels by status of their fault"),),
        notes=(
            ("Status of a label: that of the faults it means, by the survey, directly or through "
            "the crosswalk of its taxonomy. Mixed: it means faults of different status. Unmapped: "
            "it has no counterpart among the faults, and is counted."),
            ("By techniques: targeted where a published technique found defects of that type, "
            "unmapped where no crosswalk to techniques exists."),
        ),
        sources=_sources(),
        document={
            "evidence": "study",
            **{whole.key: _shares_document(whole) for whole in wholes},
            "unmapped": [
                {"taxonomy": code.taxonomy, "code": code.code, "count": code.count,
                 "reason": code.reason}
                for code in codes
                if code.status == "unmapped"
            ],
            "codes": [asdict(code) for code in codes],
        },
    )  # fmt: skip


def _literature_result(
    library: TaxonomyLibrary,
    corpus: Corpus,
    faults: Sequence[Fault],
    *,
    parameters: dict[str, Any],
    name: str,
    title: str,
    with_readings: bool,
    extra_tables: tuple[Table, ...],
    notes: tuple[str, ...],
    extra_document: dict[str, Any],
) -> Result:
    taxonomy, techniques = library.taxonomy(FAULT_TAXONOMY), library.taxonomy(TECHNIQUES)
    wholes = gap(faults)
    comparisons = compare(wholes, with_readings=with_readings)
    ranked = tables.untargeted_table(most_frequent_untargeted(faults), faults)
    matrix = fault_technique_matrix(taxonomy, techniques, corpus)
    parts = compare_components(taxonomy, corpus, faults)
    by_key = {whole.key: whole for whole in wholes}
    return Result(
        analysis=ANALYSIS,
        name=name,
        title=title,
        parameters=parameters,
        summary=_summary(by_key),
        claims=tuple(
            _claim(name, parameters["evidence"], by_key[each.printed.whole], each.printed.status,
                   each)
            for each in comparisons
        ),
        tables=(
            tables.shares_table(wholes),
            tables.published_table(comparisons),
            ranked,
            tables.components_table(parts),
            *extra_tables,
            tables.matrix_table(matrix, taxonomy, techniques, corpus),
            tables.faults_table(faults, corpus),
        ),
        figures=(
            tables.shares_figure(
                [by_key[key] for key in ("faults", "artifacts", "interviews")],
                "Targeted and untargeted faults, and how often practice meets them",
            ),
            tables.components_figure(parts),
            tables.matrix_figure(matrix, taxonomy, techniques),
        ),
        notes=notes,
        sources=_sources(),
        document={
            "evidence": parameters["evidence"],
            "leaves": len(taxonomy.leaves),
            "new_faults": sum(fault.status == "new" for fault in faults),
            **{whole.key: _shares_document(whole) for whole in wholes},
            "published": [_published_document(each) for each in comparisons],
            "rule": RULE,
            "untargeted": ranked.records(),
            "components": tables.components_table(parts).records(),
            "matrix": [
                {"fault": row, "technique": column, "papers": list(papers)}
                for (row, column), papers in matrix.papers.items()
            ],
            **extra_document,
        },
    )  # fmt: skip


def _summary(wholes: Mapping[str, StatusShares]) -> tuple[str, ...]:
    faults, artifacts, interviews = (
        wholes[key].shares for key in ("faults", "artifacts", "interviews")
    )
    return (
        (
            f"Research targets {_told(faults['targeted'])} faults; "
            f"nobody targets {faults['untargeted'].count:,} ({faults['untargeted'].percent:.1f} %)."
        ),
        (
            f"{_told(artifacts['untargeted'])} GitHub and Stack Overflow artifacts and "
            f"{_told(interviews['untargeted'])} interview mentions concern a fault that nobody "
            "targets."
        ),
    )


def _study_summary(
    by_fault: StatusShares, mapped: StatusShares, by_technique: StatusShares
) -> tuple[str, ...]:
    unmapped = by_fault.shares["unmapped"]
    told = [f"{_told(unmapped)} labels have no counterpart in the fault taxonomy."]
    if mapped.total:
        told.insert(
            0,
            f"{_told(mapped.shares['untargeted'])} labels with a counterpart in the fault "
            "taxonomy concern a fault that nobody targets.",
        )
    if by_technique.shares["unmapped"].count < by_technique.total:
        told.append(
            f"For {_told(by_technique.shares['untargeted'])} labels no published technique has "
            "found a defect of that type."
        )
    return tuple(told)


def _told(share: Any) -> str:
    percent = "no share" if share.percent is None else f"{share.percent:.1f} %"
    return f"{share.count:,} of {share.total:,} ({percent})"


def _claim(
    result: str,
    evidence_name: str,
    whole: StatusShares,
    status: str,
    comparison: Comparison | None = None,
) -> Claim:
    share = whole.shares[status]
    return Claim(
        claim_id=f"{result}.{whole.key}.{status}",
        statement=(
            f"{whole.label}: {status}"
            if comparison is None
            else comparison.printed.statement.replace("GitHub issues", whole.label)
        ),
        value=share.percent,
        unit="percent",
        query=f"{ANALYSIS}(evidence={evidence_name}): {whole.key}.{status}.percent",
        count=share.count,
        total=share.total,
        low=share.low,
        high=share.high,
        method=share.method,
        printed=None if comparison is None else comparison.printed.printed,
        status="" if comparison is None else comparison.status,
        reason="" if comparison is None else comparison.reason,
    )


def _shares_document(whole: StatusShares) -> dict[str, Any]:
    return {
        "total": whole.total,
        **{
            status.replace(" ", "_"): {
                "count": share.count,
                "percent": share.percent,
                "interval": [share.low, share.high],
                "method": share.method,
            }
            for status, share in whole.shares.items()
        },
    }


def _published_document(comparison: Comparison) -> dict[str, Any]:
    return {
        "key": comparison.printed.key,
        "statement": comparison.printed.statement,
        "printed": comparison.printed.printed,
        "ours": comparison.ours,
        "difference": comparison.difference,
        "status": comparison.status,
        "reason": comparison.reason,
        "nearest_reading": comparison.nearest_reading,
        "nearest_reading_percent": comparison.nearest_percent,
        "published_figure": comparison.printed.figure_id,
    }


def _technique_status(code: CodeGap) -> str:
    if code.techniques is None:
        return "unmapped"
    return "targeted" if code.techniques else "untargeted"


def _sources() -> tuple[str, ...]:
    return tuple(
        source.citation + (f". doi:{source.doi}" if source.doi else "")
        for source in evidence.sources()
        if source.source_id in ("survey", "dl-faults")
    )

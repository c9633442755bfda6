"""The coverage gap of the literature as a `Result`: by the survey, or by its papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faultatlas.analysis.coverage import corpus_tables, figures, tables
from faultatlas.analysis.coverage.alignment import compare_components, fault_technique_matrix
from faultatlas.analysis.coverage.alignment_figure import alignment_figures
from faultatlas.analysis.coverage.corpus import TECHNIQUES, Corpus
from faultatlas.analysis.coverage.faults import FAULT_TAXONOMY, Fault, corpus_faults, survey_faults
from faultatlas.analysis.coverage.gap import (
    StatusShares,
    gap,
    label_shares,
    most_frequent_untargeted,
)
from faultatlas.analysis.coverage.live import Live, Standing, standing
from faultatlas.analysis.coverage.numbers import ANALYSIS, claim, result_name, shares_document, told
from faultatlas.analysis.coverage.published import RULE, Comparison, compare
from faultatlas.data import evidence
from faultatlas.data.results import Claim, Result, Table
from faultatlas.data.taxonomy_library import TaxonomyLibrary

_TITLE = "The gap between machine-learning faults and debugging research"
# The bars of the survey's figure 3, and the study's own labels beside them.
_SHOWN = ("faults", "artifacts", "interviews", "labels")
_SURVEY_NOTES = (
    (
        "Occurrences are those of the public data of the fault taxonomy (Humbatova et al.): "
        "artifacts from GitHub and Stack Overflow, and accepted mentions in interviews."
    ),
    (
        "Intervals are Wilson score intervals and take what is counted for independent draws. The "
        "faults are a list, not a sample; artifacts and mentions gather on a few faults, and one "
        "interview mentions several: the true uncertainty is larger."
    ),
    (
        "The survey calls mislabelled training data both targeted and untargeted; it counts as "
        "untargeted here, as in the survey's list of untargeted faults."
    ),
)


def survey_result(library: TaxonomyLibrary, corpus: Corpus, live: Live | None = None) -> Result:
    """The gap by the survey's own statuses; the study's own papers stand beside them."""
    live = live or Live()
    faults = survey_faults(library.taxonomy(FAULT_TAXONOMY), corpus)
    beside = standing(library, corpus.joined(live.papers.corpus), faults, live)
    unmentioned = [fault.name for fault in faults if fault.status == "not mentioned"]
    return _result(
        library,
        corpus,
        faults,
        beside,
        parameters={"evidence": "survey", **live.parameters},
        title=_TITLE,
        comparisons=compare(gap(faults), with_readings=True),
        extra_tables=(tables.readings_table(evidence.readings()),),
        notes=(
            (
                f"{len(unmentioned)} leaves are not mentioned by the survey "
                f"({'; '.join(unmentioned)}); they stay in the denominator."
            ),
            *_SURVEY_NOTES,
        ),
        extra_document={"rule": RULE},
    )


def corpus_result(
    library: TaxonomyLibrary,
    corpus: Corpus,
    parameters: dict[str, Any],
    live: Live | None = None,
    rows_query: str | None = None,
) -> Result:
    """The gap by the codes of the papers alone; `parameters` say how the corpus was chosen.

    `rows_query` gives the codes of the study's papers that are in the corpus, if any are.
    """
    live = live or Live()
    taxonomy = library.taxonomy(FAULT_TAXONOMY)
    faults = corpus_faults(taxonomy, corpus)
    beside = standing(library, corpus, faults, live)
    disagreements = corpus_tables.disagreements_table(
        faults, survey_faults(taxonomy, corpus), corpus
    )
    dependence = corpus_tables.dependence_table(faults, corpus)
    by_basis = {
        basis: sum(fault.status == "targeted" and fault.basis == basis for fault in faults)
        for basis in ("named", "category")
    }
    return _result(
        library,
        corpus,
        faults,
        beside,
        parameters={"evidence": "corpus", **parameters, **live.parameters},
        title=f"{_TITLE}, by the papers alone{_chosen(parameters)}",
        comparisons=compare(gap(faults), with_readings=False),
        extra_tables=(disagreements, dependence),
        notes=(
            (
                f"Of the targeted faults, {by_basis['named']} are named by a paper and "
                f"{by_basis['category']} are targeted only through a category above them."
            ),
            f"{len(disagreements.rows)} faults have another status than the survey gives them.",
            (
                "Of the survey's papers the corpus has those that the survey discusses by name, "
                "not all that it collected. A new fault counts when one of its papers is in the "
                "corpus."
            ),
            *_SURVEY_NOTES[:2],
        ),
        rows_query=rows_query,
        extra_document={
            "papers": [paper.paper for paper in corpus.papers],
            "targeted_by": by_basis,
            "disagreements": disagreements.records(),
            "dependence": dependence.records(),
        },
    )


def _result(
    library: TaxonomyLibrary,
    corpus: Corpus,
    faults: Sequence[Fault],
    beside: Standing,
    *,
    parameters: dict[str, Any],
    title: str,
    comparisons: Sequence[Comparison],
    extra_tables: tuple[Table, ...],
    notes: tuple[str, ...],
    extra_document: dict[str, Any],
    rows_query: str | None = None,
) -> Result:
    taxonomy, techniques = library.taxonomy(FAULT_TAXONOMY), library.taxonomy(TECHNIQUES)
    own = beside.counts.alone
    wholes = {whole.key: whole for whole in (*gap(faults), *label_shares(faults, own))}
    matrix = fault_technique_matrix(taxonomy, techniques, corpus)
    parts = compare_components(taxonomy, corpus, faults, own)
    shown = (
        tables.shares_table(wholes.values()),
        *beside.news,
        tables.published_table(comparisons),
        tables.untargeted_table(most_frequent_untargeted(faults), faults),
        tables.components_table(parts),
        *extra_tables,
        corpus_tables.matrix_table(matrix, taxonomy, techniques, corpus),
        *beside.tables,
    )
    drawn = (
        figures.shares_figure(
            [wholes[key] for key in _SHOWN if key in wholes],
            "Targeted and untargeted faults, and how often practice meets them",
        ),
        figures.components_figure(parts),
        *alignment_figures(taxonomy, techniques, corpus, faults),
        figures.matrix_figure(matrix, taxonomy, techniques),
    )
    by_name = {table.name: table for table in shown}
    return Result(
        analysis=ANALYSIS,
        name=result_name(parameters),
        title=title,
        parameters=parameters,
        summary=(*_summary(wholes, known=len(taxonomy.leaves)), *beside.summary),
        claims=tuple(
            claim(
                parameters,
                wholes[each.printed.whole],
                each.printed.status,
                f"{each.printed.statement} ({each.printed.ours_counts})",
                each,
                rows_query=rows_query,
            )
            for each in comparisons
        )
        + _label_claims(parameters, wholes, beside),
        tables=shown,
        figures=drawn,
        notes=(*notes, *beside.notes),
        sources=_sources(),
        document={
            "evidence": parameters["evidence"],
            "leaves": len(taxonomy.leaves),
            "new_faults": sum(fault.status == "new" for fault in faults),
            **{key: shares_document(whole) for key, whole in wholes.items()},
            "published": [each.to_json() for each in comparisons],
            "untargeted": by_name["untargeted"].records(),
            "components": by_name["components"].records(),
            "matrix": [
                {"fault": row, "technique": column, "papers": list(papers)}
                for (row, column), papers in matrix.papers.items()
            ],
            **extra_document,
            **beside.document,
        },
    )


def _label_claims(
    parameters: dict[str, Any], wholes: Mapping[str, StatusShares], beside: Standing
) -> tuple[Claim, ...]:
    """The share of the study's labels on faults that nobody targets, if it has labels."""
    if "labels" not in wholes:
        return ()
    statement = "Labels of this study that mean one fault, on one that nobody targets"
    rows = beside.label_rows(parameters.get("round", ""))
    return (claim(parameters, wholes["labels"], "untargeted", statement, rows_query=rows),)


def _chosen(parameters: dict[str, Any]) -> str:
    """How the corpus was chosen, for the title."""
    words = []
    if parameters.get("papers"):
        words.append(
            {"shipped": "those of the survey", "study": "those of this study"}[parameters["papers"]]
        )
    if parameters.get("without"):
        words.append(f"without {', '.join(parameters['without'])}")
    if parameters.get("support"):
        words.append(f"with {' or '.join(parameters['support'])} support only")
    return f" ({'; '.join(words)})" if words else ""


def _summary(wholes: Mapping[str, StatusShares], known: int) -> tuple[str, ...]:
    faults, artifacts, interviews = (
        wholes[key].shares for key in ("faults", "artifacts", "interviews")
    )
    unmentioned = faults["not mentioned"].count
    return (
        (
            f"Of {known:,} known faults, debugging research targets {faults['targeted'].count:,} "
            f"and leaves {faults['untargeted'].count:,} to nobody"
            f"{f' ({unmentioned:,} are not mentioned)' if unmentioned else ''}; it also targets "
            f"{faults['new'].count:,} that the taxonomy of faults did not have."
        ),
        (
            f"{told(artifacts['untargeted'])} GitHub and Stack Overflow artifacts and "
            f"{told(interviews['untargeted'])} interview mentions concern a fault that nobody "
            "targets."
        ),
    )


def _sources() -> tuple[str, ...]:
    return tuple(
        source.citation + (f". doi:{source.doi}" if source.doi else "")
        for source in evidence.sources()
        if source.source_id in ("survey", "dl-faults")
    )

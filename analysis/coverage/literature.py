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
from faultatlas.analysis.coverage.numbers import SHARES, result_name, share_labels, share_quantities
from faultatlas.analysis.coverage.published import Comparison, compare
from faultatlas.data import evidence
from faultatlas.data.old.results import Table
from faultatlas.data.results import Chart, Quantity, Result
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
        extra_quantities=tuple(
            Quantity(
                {"measure": "targeted-by", "basis": basis},
                count,
                statement=f"Faults that the papers target, {words}",
            )
            for basis, words, count in (
                ("named", "named by a paper", by_basis["named"]),
                ("category", "only through a category above them", by_basis["category"]),
            )
        ),
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
    rows_query: str | None = None,
    extra_quantities: tuple[Quantity, ...] = (),
) -> Result:
    taxonomy, techniques = library.taxonomy(FAULT_TAXONOMY), library.taxonomy(TECHNIQUES)
    own = beside.counts.alone
    wholes = {whole.key: whole for whole in (*gap(faults), *label_shares(faults, own))}
    matrix = fault_technique_matrix(taxonomy, techniques, corpus)
    parts = compare_components(taxonomy, corpus, faults, own)
    leading = [f"{each.printed.whole}.{each.printed.status}" for each in comparisons]
    statements = {}
    if "labels" in wholes:
        leading.append("labels.untargeted")
        statements["labels", "untargeted"] = (
            "Labels of this study that mean one fault, on one that no technique targets"
        )

    def rows(whole: str, status: str) -> str | None:
        if whole != "labels":
            return rows_query
        return beside.label_rows(status, parameters.get("round", ""))

    return Result(
        name=result_name(parameters),
        title=title,
        quantities=(
            *share_quantities(wholes.values(), comparisons, statements, rows),
            *extra_quantities,
        ),
        leading=tuple(leading),
        labels=share_labels(wholes.values()),
        summary=(*_summary(wholes, known=len(taxonomy.leaves)), *beside.summary),
        tables=(
            SHARES,
            *beside.news,
            tables.published_table(comparisons),
            tables.untargeted_table(most_frequent_untargeted(faults), faults),
            tables.components_table(parts),
            *extra_tables,
            corpus_tables.matrix_table(matrix, taxonomy, techniques, corpus),
            *beside.tables,
        ),
        figures=(
            Chart(
                "shares",
                "Targeted and untargeted faults, and how often practice meets them",
                "shares",
                "whole",
                "status",
                "Stacked bars.",
                only=_SHOWN,
            ),
            figures.components_figure(parts),
            *alignment_figures(taxonomy, techniques, corpus, faults),
            figures.matrix_figure(matrix, taxonomy, techniques),
        ),
        notes=(*notes, *beside.notes),
        sources=_sources(),
        data=beside.document,
    )


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
    faults = wholes["faults"].shares
    unmentioned = faults["not mentioned"].count
    return (
        (
            f"Of {known:,} known faults, debugging research targets {{faults.targeted:count}} and "
            "does not target {faults.untargeted:count}"
            f"{f' ({unmentioned:,} are not mentioned)' if unmentioned else ''}. It also targets "
            f"{faults['new'].count:,} that the taxonomy of faults did not have."
        ),
        (
            "{artifacts.untargeted:share} GitHub and Stack Overflow artifacts and "
            "{interviews.untargeted:share} interview mentions concern a fault that no technique "
            "targets."
        ),
    )


def _sources() -> tuple[str, ...]:
    return tuple(
        source.citation + (f". doi:{source.doi}" if source.doi else "")
        for source in evidence.sources()
        if source.source_id in ("survey", "dl-faults")
    )

"""The faults that debugging research targets, and those that practice meets and it does not."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.errors import StudyError
from report.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

if TYPE_CHECKING:
    from pathlib import Path

    from annotation.ratings import Carry
    from data.results import Result
    from data.store import Reader, Study
    from data.taxonomy_library import TaxonomyLibrary

NAME = "coverage-gap"


class Evidence(StrEnum):
    """What the statuses of faults are taken from."""

    SURVEY = "survey"
    CORPUS = "corpus"
    STUDY = "study"


def run(
    study: Study,
    evidence: Evidence = Evidence.SURVEY,
    *,
    without: tuple[str, ...] = (),
    support: tuple[str, ...] = (),
    round_name: str = "",
) -> Result:
    """Compute the gap; nothing is stored."""
    from analysis.coverage import literature
    from analysis.coverage.corpus import shipped_corpus
    from analysis.coverage.own_labels import study_result
    from data.taxonomy_library import TaxonomyLibrary

    _refuse_strays(evidence, without=without, support=support, round_name=round_name)
    library = TaxonomyLibrary(study.directory, as_shipped=True)  # what the evidence is about
    corpus = shipped_corpus()
    if evidence is Evidence.SURVEY:
        return literature.survey_result(library, corpus)
    if evidence is Evidence.STUDY:
        labels = _final_labels(study, round_name, library)
        return study_result(library, corpus, labels, _given(round=round_name))
    corpus = corpus.without(without)
    if support:
        corpus = corpus.supported_by(support)
    parameters = _given(without=sorted(without), support=sorted(support))
    return literature.corpus_result(library, corpus, parameters)


def command(
    evidence: Annotated[
        Evidence,
        typer.Option(
            help="survey: the survey's own statuses; corpus: what the papers' codes give; "
            "study: this study's final labels."
        ),
    ] = Evidence.SURVEY,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="PAPER", help="Leave a paper out (corpus). Repeatable."),
    ] = None,
    support: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Use only codes with this support (corpus): explicit, theme, group. Repeatable.",
        ),
    ] = None,
    round_name: Annotated[
        str, typer.Option("--round", help="Only the labels of this round (study).")
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the faults that debugging research targets, and those that it leaves to practice.

    Prints the shares with their intervals, the published figures beside ours and the most
    frequent faults that nobody targets, and writes a report with tables and figures to
    `out/` of the study. Other evidence or another choice of papers is another report.

    Examples:

        analysis coverage-gap

        analysis coverage-gap --evidence corpus --without shapetracer

        analysis coverage-gap --evidence study --json
    """
    from data import provenance
    from report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    given = _given(evidence=evidence.value, without=without, support=support, round=round_name)
    begun = provenance.begin(f"analysis {NAME}", given)
    result = run(
        opened,
        evidence,
        without=tuple(without or ()),
        support=tuple(support or ()),
        round_name=round_name,
    )
    page = publish(opened, result, begun)
    show(output, result, page)


def _final_labels(study: Study, round_name: str, library: TaxonomyLibrary) -> dict[str, list[str]]:
    """Taxonomy to the codes of its final labels, in one round or in all."""
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT taxonomy, taxonomy_version, code FROM final_labels WHERE ? IN ('', round) "
            "ORDER BY taxonomy, round, item_id, code",
            [round_name],
        )
        rows = _in_known_versions(reader, study.directory, rows, library)
        rounds = [
            row["round"]
            for row in reader.rows("SELECT DISTINCT round FROM final_labels ORDER BY round")
        ]
        twice = reader.value(
            "SELECT count(*) FROM (SELECT 1 FROM final_labels WHERE ? IN ('', round) "
            "GROUP BY taxonomy, artifact_id HAVING count(DISTINCT round) > 1)",
            [round_name],
        )
    if not rows:
        raise StudyError(
            f"the study has no final labels{f' in round {round_name!r}' if round_name else ''}",
            f"Its rounds: {', '.join(rounds)}."
            if rounds
            else "Bring some in: annotation import ROUND FILE --item COL --final COL --taxonomy T",
        )
    if twice:
        raise StudyError(
            f"{twice:,} artifacts have final labels in several rounds and would count twice",
            f"Choose one with --round: {', '.join(rounds)}.",
        )
    labels: dict[str, list[str]] = {}
    for row in rows:
        labels.setdefault(row["taxonomy"], []).append(row["code"])
    return labels


def _in_known_versions(
    reader: Reader, directory: Path, rows: list[dict[str, Any]], library: TaxonomyLibrary
) -> list[dict[str, Any]]:
    """Labels of other versions of a taxonomy carried to the one that the evidence is about."""
    from annotation.taxonomies.versions import carrier

    carriers: dict[str, Carry] = {}
    carried: list[dict[str, Any]] = []
    for row in rows:
        name, version = row["taxonomy"], row["taxonomy_version"]
        if name not in library.names or library.taxonomy(name).version == version:
            carried.append(row)
            continue
        wanted = library.taxonomy(name).version
        if name not in carriers:
            carriers[name] = carrier(reader, directory, name, wanted)
        codes = carriers[name](version, row["code"])
        if codes is None:
            raise StudyError(
                f"the final label {row['code']} of {name} {version} is not decided in {wanted}",
                f"See what changed: annotation taxonomy diff {name}; then settle such items again: "
                "annotation adjudicate",
            )
        carried += ({**row, "code": code} for code in sorted(codes))
    return carried


def _refuse_strays(
    evidence: Evidence, *, without: tuple[str, ...], support: tuple[str, ...], round_name: str
) -> None:
    if (without or support) and evidence is not Evidence.CORPUS:
        raise StudyError(
            "--without and --support choose among the papers of the corpus",
            "Add --evidence corpus.",
        )
    if round_name and evidence is not Evidence.STUDY:
        raise StudyError("--round chooses among the study's own labels", "Add --evidence study.")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}

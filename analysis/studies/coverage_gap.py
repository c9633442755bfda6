"""The faults that debugging research targets, and those that practice meets and it does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
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

    from data.results import Result
    from data.store import Reader, Study
    from data.taxonomy_library import TaxonomyLibrary

NAME = "coverage-gap"

# A final label that is left out: taxonomy, version, the version that does not decide it, codes.
Undecided = tuple[str, str, str, str]


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
        labels, undecided = _final_labels(study, round_name, library)
        result = study_result(library, corpus, labels, _given(round=round_name))
        return _with_undecided(result, undecided)
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


def _final_labels(
    study: Study, round_name: str, library: TaxonomyLibrary
) -> tuple[dict[str, list[str]], list[Undecided]]:
    """Taxonomy to the codes of its final labels, in one round or in all; those left out."""
    with study.reading() as reader:
        names = [
            row["taxonomy"]
            for row in reader.rows("SELECT DISTINCT taxonomy FROM store.settlement ORDER BY ALL")
        ]
        found: dict[str, list[str]] = {}
        undecided: list[Undecided] = []
        for name in names:
            codes, open_ones = _codes(reader, study.directory, name, round_name, library)
            undecided += open_ones
            if codes:
                found[name] = codes
        rounds = [
            row["round"]
            for row in reader.rows("SELECT DISTINCT round FROM final_labels ORDER BY round")
        ]
        twice = reader.value(
            "SELECT count(*) FROM (SELECT 1 FROM final_labels WHERE ? IN ('', round) "
            "GROUP BY taxonomy, artifact_id HAVING count(DISTINCT round) > 1)",
            [round_name],
        )
    if not found and undecided:
        raise StudyError(
            f"no final label is decided in the version of {undecided[0][0]} that is shipped",
            f"See what changed: annotation taxonomy diff {undecided[0][0]}",
        )
    if not found:
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
    return found, undecided


def _codes(
    reader: Reader, directory: Path, name: str, round_name: str, library: TaxonomyLibrary
) -> tuple[list[str], list[Undecided]]:
    """The final codes in the version that the evidence is about, else as they are."""
    from annotation.taxonomies.outcomes import (
        carried_codes,
        counting_ones,
        current_decisions,
    )
    from annotation.taxonomies.versions import Versions

    if name not in library.names:
        rows = reader.rows(
            "SELECT code FROM final_labels WHERE taxonomy = ? AND ? IN ('', round) "
            "ORDER BY round, item_id, code",
            [name, round_name],
        )
        return [row["code"] for row in rows], []
    wanted = library.taxonomy(name).version
    versions = Versions.known(reader, directory, name)
    codes: list[str] = []
    undecided: list[Undecided] = []
    settled = current_decisions(reader, name, round_name)
    for said in counting_ones(versions, settled, wanted):
        carried = carried_codes(versions, said, wanted)
        if carried is None:
            undecided.append((name, said.version, wanted, ", ".join(said.codes)))
        else:
            codes += sorted(carried)
    return codes, undecided


def _with_undecided(result: Result, undecided: list[Undecided]) -> Result:
    """The result, saying which labels it leaves out."""
    if not undecided:
        return result
    counts = Counter(undecided)
    listed = "; ".join(
        f"{count:,} of {codes} ({name} {version}, not decided in {wanted})"
        for (name, version, wanted, codes), count in sorted(counts.items())
    )
    left_out = [
        {"taxonomy": name, "version": version, "in_version": wanted, "codes": codes, "count": count}
        for (name, version, wanted, codes), count in sorted(counts.items())
    ]
    told = (
        f"{len(undecided):,} final labels are left out: the version of their taxonomy that the "
        "evidence is about does not decide which code they are."
    )
    return replace(
        result,
        summary=(*result.summary, told),
        notes=(*result.notes, f"Final labels that are left out: {listed}."),
        document={**result.document, "undecided": left_out},
    )


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

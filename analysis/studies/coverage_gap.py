"""The faults that debugging research targets, and those that practice meets and it does not."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faultatlas.analysis.coverage import SEED
from faultatlas.data.errors import StudyError
from faultatlas.report.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

if TYPE_CHECKING:
    from faultatlas.data.results import Result
    from faultatlas.data.store import Study

NAME = "coverage-gap"


class Evidence(StrEnum):
    """What the statuses of faults are taken from."""

    SURVEY = "survey"
    CORPUS = "corpus"
    STUDY = "study"


class Papers(StrEnum):
    """Whose papers are the corpus."""

    SHIPPED = "shipped"
    STUDY = "study"
    BOTH = "both"


def run(
    study: Study,
    evidence: Evidence = Evidence.SURVEY,
    *,
    papers: Papers = Papers.BOTH,
    without: tuple[str, ...] = (),
    support: tuple[str, ...] = (),
    round_name: str = "",
    since: str = "",
    seed: int = SEED,
) -> Result:
    """Compute the gap; nothing is stored. `since` is the run of the result to compare with."""
    from faultatlas.analysis.coverage import literature
    from faultatlas.analysis.coverage.corpus import shipped_corpus
    from faultatlas.analysis.coverage.earlier import earlier_result
    from faultatlas.analysis.coverage.gathering import chosen_corpus, gathered
    from faultatlas.analysis.coverage.numbers import result_name
    from faultatlas.analysis.coverage.own_labels import study_result
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    choosing = bool(without or support or papers is not Papers.BOTH)
    _refuse_strays(evidence, choosing=choosing, round_name=round_name)
    library = TaxonomyLibrary(study.directory, as_shipped=True)  # what the evidence is about
    shipped = shipped_corpus()
    live = gathered(
        study,
        library,
        round_name,
        labels_wanted=evidence is Evidence.STUDY or bool(round_name),
        papers_wanted=evidence is Evidence.CORPUS,
    )
    live = replace(live, seed=seed)
    parameters = _choice(papers, without, support, round_name)
    if since:
        name = result_name({"evidence": evidence.value, **parameters})
        with study.reading() as reader:
            live = replace(live, since=earlier_result(reader, name, since))
    if evidence is Evidence.SURVEY:
        result = literature.survey_result(library, shipped, live)
    elif evidence is Evidence.STUDY:
        result = study_result(library, shipped, live, parameters)
    else:
        chosen = (papers is not Papers.STUDY, papers is not Papers.SHIPPED)
        corpus, rows = chosen_corpus(chosen, live.papers.corpus, without, support)
        result = literature.corpus_result(library, corpus, parameters, live, rows)
    return live.labels.told_in(result)


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters."""
    return run(
        study,
        Evidence(parameters["evidence"]),
        papers=Papers(parameters.get("papers", Papers.BOTH)),
        without=tuple(parameters.get("without", ())),
        support=tuple(parameters.get("support", ())),
        round_name=parameters.get("round", ""),
        since=parameters.get("since", ""),
        seed=parameters.get("seed", SEED),
    )


def command(
    evidence: Annotated[
        Evidence,
        typer.Option(
            help="survey: the survey's own statuses; corpus: what the papers' codes give; "
            "study: this study's final labels."
        ),
    ] = Evidence.SURVEY,
    papers: Annotated[
        Papers,
        typer.Option(
            help="Whose papers are the corpus (corpus): the survey's, the study's own, or both."
        ),
    ] = Papers.BOTH,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="PAPER", help="Leave a paper out (corpus). Repeatable."),
    ] = None,
    support: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Use only codes with this support (corpus): explicit, theme, group, or unplaced "
            "(no place is recorded). Repeatable.",
        ),
    ] = None,
    round_name: Annotated[
        str, typer.Option("--round", help="Only the labels of this round (study, corpus).")
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            metavar="DATE|RUN",
            help="Compare with the result of then: the newest before a day, or that of a run. "
            "Without it the newest.",
        ),
    ] = "",
    seed: Annotated[
        int, typer.Option(min=0, help="Of the bootstrap that gives the intervals of ranks.")
    ] = SEED,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the faults that debugging research targets, and those that it leaves to practice.

    Prints the shares with their intervals, the published figures beside ours and the most
    frequent faults that nobody targets, and writes a report with tables and figures to
    `out/` of the study: all faults with the survey, the papers and practice side by side, and
    what changed since the last time. Other evidence or another choice of papers is another report.

    Examples:

        analysis coverage-gap

        analysis coverage-gap --evidence corpus --without shapetracer

        analysis coverage-gap --evidence corpus --papers study --since 2026-01-01

        analysis coverage-gap --evidence study --json
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    choice = _choice(papers, tuple(without or ()), tuple(support or ()), round_name)
    given = {"evidence": evidence.value, **choice, **_given(since=since), "seed": seed}
    begun = provenance.begin(f"analysis {NAME}", given)
    result = run(
        opened,
        evidence,
        papers=papers,
        without=tuple(without or ()),
        support=tuple(support or ()),
        round_name=round_name,
        since=_earlier(opened, {"evidence": evidence.value, **choice}, since),
        seed=seed,
    )
    page = publish(opened, result, begun)
    show(output, result, page)


def _refuse_strays(evidence: Evidence, *, choosing: bool, round_name: str) -> None:
    if choosing and evidence is not Evidence.CORPUS:
        raise StudyError(
            "--papers, --without and --support choose among the papers of the corpus",
            "Add --evidence corpus.",
        )
    if round_name and evidence is Evidence.SURVEY:
        raise StudyError(
            "--round chooses among the study's own labels",
            "Add --evidence study or --evidence corpus.",
        )


def _earlier(study: Study, parameters: dict[str, Any], since: str) -> str:
    """The run to compare with; empty the first time."""
    from faultatlas.analysis.coverage.earlier import earlier_run
    from faultatlas.analysis.coverage.numbers import result_name

    if not study.exists and not since:
        return ""
    with study.reading() as reader:
        return earlier_run(reader, result_name(parameters), since) or ""


def _choice(
    papers: Papers, without: tuple[str, ...], support: tuple[str, ...], round_name: str
) -> dict[str, Any]:
    """The parameters that make a result another one; what is not chosen is left out."""
    return _given(
        papers="" if papers is Papers.BOTH else papers.value,
        without=sorted(without),
        support=sorted(support),
        round=round_name,
    )


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}

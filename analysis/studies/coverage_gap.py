"""The faults that debugging research targets, and those that practice meets and it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from typer import Option

from faultatlas.analysis.coverage import SEED, literature
from faultatlas.analysis.coverage.corpus import shipped_corpus
from faultatlas.analysis.coverage.earlier import earlier_result, earlier_run
from faultatlas.analysis.coverage.gathering import chosen_corpus, gathered
from faultatlas.analysis.coverage.numbers import result_name
from faultatlas.analysis.coverage.own_labels import study_result
from faultatlas.data.results import Result
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary
from faultatlas.report.command import Requires, Resolved, command

Evidence = Literal["survey", "corpus", "study"]
Papers = Literal["shipped", "study", "both"]


def _earlier(study: Study, arguments: Mapping[str, Any]) -> str:
    """The run to compare with; empty the first time."""
    since = str(arguments["since"])
    if not study.exists and not since:
        return ""
    with study.reading() as reader:
        return earlier_run(reader, result_name(_parameters(arguments)), since) or ""


@command("coverage-gap", stores=True)
def coverage_gap(
    study: Study,
    *,
    evidence: Annotated[
        Evidence,
        Option(
            help="Where the status of a fault comes from: the survey's own statuses; the corpus of "
            "papers and what they address; the final labels of this study."
        ),
    ] = "survey",
    papers: Annotated[
        Papers,
        Option(help="Papers of the corpus: those of the survey (shipped), of this study, or both."),
        Requires(evidence="corpus"),
    ] = "both",
    without: Annotated[
        tuple[str, ...],
        Option(metavar="PAPER", help="Exclude a paper from the corpus. Repeatable."),
        Requires(evidence="corpus"),
    ] = (),
    support: Annotated[
        tuple[str, ...],
        Option(
            metavar="KIND",
            help="Use only codes of the corpus with this support: explicit, theme, group, or "
            "unplaced (no place is recorded). Repeatable.",
        ),
        Requires(evidence="corpus"),
    ] = (),
    round: Annotated[  # noqa: A002  (the name of the option)
        str,
        Option(help="Use only the labels of this round."),
        Requires(evidence=("study", "corpus")),
    ] = "",
    since: Annotated[
        str,
        Option(
            metavar="DATE|RUN",
            help="Compare with an earlier result: the newest before a day, or that of a run. "
            "Default: the newest.",
        ),
        Resolved(_earlier),
    ] = "",
    seed: Annotated[
        int, Option(min=0, help="Seed of the bootstrap that gives the intervals of ranks.")
    ] = SEED,
) -> Result:
    """Show which faults debugging research targets, and which it leaves to practice.

    Prints the shares with their intervals, the published figures next to ours and the most frequent
    faults that no technique targets. Writes a report to `out/` of the study: all faults with the
    survey, the papers and practice side by side, and what changed since the last time. Other
    evidence or another choice of papers gives another report.

    Examples:

        analysis coverage-gap

        analysis coverage-gap --evidence corpus --without shapetracer

        analysis coverage-gap --evidence corpus --papers study --since 2026-01-01

        analysis coverage-gap --evidence study --json
    """
    library = TaxonomyLibrary(study.directory, as_shipped=True)  # what the evidence is about
    shipped = shipped_corpus()
    live = gathered(
        study,
        library,
        round,
        labels_wanted=evidence == "study" or bool(round),
        papers_wanted=evidence == "corpus",
    )
    live = replace(live, seed=seed)
    parameters = _parameters(
        {
            "evidence": evidence,
            "papers": papers,
            "without": without,
            "support": support,
            "round": round,
        }
    )
    if since:
        with study.reading() as reader:
            earlier = earlier_result(reader, result_name(parameters), since)
        live = replace(live, since=earlier)
    if evidence == "survey":
        result = literature.survey_result(library, shipped, live)
    elif evidence == "study":
        result = study_result(library, shipped, live, parameters)
    else:
        sources = (papers != "study", papers != "shipped")
        corpus, rows = chosen_corpus(sources, live.papers.corpus, without, support)
        result = literature.corpus_result(library, corpus, parameters, live, rows)
    return live.labels.told_in(result)


def _parameters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that make a result another one."""
    chosen = {
        "papers": "" if arguments["papers"] == "both" else arguments["papers"],
        "without": sorted(arguments["without"]),
        "support": sorted(arguments["support"]),
        "round": arguments["round"],
    }
    return {
        "evidence": arguments["evidence"],
        **{name: value for name, value in chosen.items() if value},
    }

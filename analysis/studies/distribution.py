"""How often each category of a taxonomy occurs: in all, for each project, framework or year."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from faultatlas.data.errors import StudyError
from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

if TYPE_CHECKING:
    from faultatlas.analysis.tallies.distributing import Distribution
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "distribution"


def run(
    study: Study,
    taxonomy: str,
    *,
    by: str = "",
    round_name: str = "",
    level: int | None = None,
    top: int | None = None,
) -> Result:
    """Count the final labels; nothing is stored."""
    from faultatlas.analysis.observations import observe
    from faultatlas.analysis.tallies import distributing, naming
    from faultatlas.analysis.tallies.groups import counting_notes, grouped, sampling_notes
    from faultatlas.data.old.results import Result
    from faultatlas.miner.projects import aliases_of_study

    if top is not None and top < 1:
        raise StudyError(f"--top {top} shows nothing", "Give a number from 1.")
    parameters = naming.given(taxonomy=taxonomy, by=by, round=round_name, level=level, top=top)
    seen = observe(study, taxonomy, round_name=round_name, level=level, by=[by] if by else [])
    expected = aliases_of_study(taxonomy) if by == "framework" else ()
    of = distributing.Distribution(
        grouped(seen, by, expected),
        by,
        naming.result_name(NAME, parameters, bare=("taxonomy",)),
        parameters,
        top,
    )
    notes = [*counting_notes(seen, by), *sampling_notes(study, seen)]
    notes += of.alike.assumptions if of.alike else []
    return Result(
        NAME,
        of.name,
        f"Distribution of {seen.name}{f', level {level}' if level else ''}"
        f"{f', round {round_name}' if round_name else ''}{f' by {by}' if by else ''}",
        parameters,
        summary=_summary(of),
        claims=distributing.claims(of),
        tables=distributing.tables(of),
        figures=(distributing.figure(of),),
        notes=tuple(notes),
        sources=distributing.SOURCES if by else distributing.SOURCES[:1],
        document=distributing.document(of),
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    return run(
        study,
        parameters["taxonomy"],
        by=parameters.get("by", ""),
        round_name=parameters.get("round", ""),
        level=parameters.get("level"),
        top=parameters.get("top"),
    )


@old_command("distribution")
def command(
    taxonomy: Annotated[
        str,
        typer.Argument(metavar="TAXONOMY", help="The taxonomy whose final labels are counted."),
    ],
    by: Annotated[
        str,
        typer.Option(
            help="Set groups side by side: project, framework, source, kind, year, quarter, "
            "month, stratum, round, or an SQL value of candidates."
        ),
    ] = "",
    round_name: Annotated[str, typer.Option("--round", help="Only the labels of this round.")] = "",
    level: Annotated[
        int | None,
        typer.Option(help="Count at this level of the tree: 1 for the roots; leaves without it."),
    ] = None,
    top: Annotated[int | None, typer.Option(help="Only the most frequent categories.")] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show how often each category of a taxonomy occurs among the final labels.

    Counts and shares with intervals (Goodman's for all categories together, Wilson's for one),
    categories without a label too; groups side by side, and a test whether they are alike, with
    Cramer's V. Writes a report with tables and a figure to `out/` of the study.

    Examples:

        analysis distribution hp-defects --by framework

        analysis distribution hp-defects --level 1 --round hp

        analysis distribution dl-bugs --by "year(created_at) < 2020" --top 10
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    result = run(opened, taxonomy, by=by, round_name=round_name, level=level, top=top)
    begun = provenance.begin(f"analysis {NAME}", result.parameters)
    show(output, result, publish(opened, result, begun))


def _summary(of: Distribution) -> tuple[str, ...]:
    from faultatlas.analysis.statistics.shares import GOODMAN_95
    from faultatlas.analysis.tallies.groups import ALL
    from faultatlas.report.formatting import interval, percent

    seen = of.grouped
    most = max(seen.codes, key=lambda code: seen.count(ALL, code))
    share = of.share(ALL, most)
    empty = [code for code in seen.codes if not seen.count(ALL, code)]
    told = [
        (
            f"{seen.total(ALL):,} items in {len(seen.codes) - len(empty)} of {len(seen.codes)} "
            f"categories; the most frequent is {seen.observations.title(most)} with "
            f"{share.count:,} ({percent(share.percent or 0)}, "
            f"95 % {interval(share.low, share.high, '%')})."
        )
    ]
    if missing := [group for group in seen.groups if not seen.total(group)]:
        told.append(f"No data: {', '.join(missing)}.")
    if of.alike:
        told.append(f"Are the groups alike? {of.alike.summary}")
    elif of.by and seen.observations.is_multiple:
        told.append(
            "Whether the groups are alike is not asked of one table, as items have several codes: "
            f"analysis associate {seen.observations.name}=CODE {of.by}"
        )
    elif of.by:
        told.append("There is one group or one category only: nothing to compare.")
    if of.together:
        told.append(f"Intervals in the table: {GOODMAN_95}.")
    return tuple(told)

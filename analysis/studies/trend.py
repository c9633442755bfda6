"""Whether categories become more or less frequent over the years."""

from __future__ import annotations

from enum import StrEnum
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
    from collections.abc import Sequence

    from faultatlas.analysis.observations import Observations
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "trend"


class Unit(StrEnum):
    """The periods."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"


def run(
    study: Study,
    taxonomy: str,
    *,
    by: str = "year",
    codes: Sequence[str] = (),
    round_name: str = "",
    level: int | None = None,
    smallest: int = 10,
) -> Result:
    """Shares of categories over time; nothing is stored."""
    from faultatlas.analysis.observations import observe
    from faultatlas.analysis.tallies import naming, trend_tables, trending
    from faultatlas.analysis.tallies.groups import counting_notes
    from faultatlas.analysis.tallies.periods import timed
    from faultatlas.data.old.results import Result

    if smallest < 1:
        raise StudyError(f"--smallest {smallest} is no number of items", "Give a number from 1.")
    seen = observe(study, taxonomy, round_name=round_name, level=level, by=[by])
    chosen = _chosen(seen, codes)
    parameters = naming.given(
        taxonomy=taxonomy, by=by, code=list(codes), round=round_name, level=level, smallest=smallest
    )
    shown = {name: value for name, value in parameters.items() if (name, value) != ("smallest", 10)}
    of = trending.Trends(
        seen,
        timed(seen, by, smallest),
        chosen,
        by,
        naming.result_name(NAME, shown, bare=("taxonomy",)),
        parameters,
    )
    return Result(
        NAME,
        of.name,
        f"{taxonomy} by {by}",
        parameters,
        summary=trending.summary(of),
        claims=trending.claims(of),
        tables=trend_tables.tables(of),
        figures=trend_tables.figures(of),
        notes=(*counting_notes(seen, by), *trending.notes(of)),
        sources=trending.SOURCES,
        document=trending.document(of),
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    return run(
        study,
        parameters["taxonomy"],
        by=parameters["by"],
        codes=parameters.get("code", ()),
        round_name=parameters.get("round", ""),
        level=parameters.get("level"),
        smallest=parameters["smallest"],
    )


@old_command("trend")
def command(
    taxonomy: Annotated[
        str,
        typer.Argument(metavar="TAXONOMY", help="The taxonomy whose final labels are counted."),
    ],
    by: Annotated[Unit, typer.Option(help="The periods.")] = Unit.YEAR,
    code: Annotated[list[str] | None, typer.Option(help="Only this category. Repeatable.")] = None,
    round_name: Annotated[str, typer.Option("--round", help="Only the labels of this round.")] = "",
    level: Annotated[
        int | None,
        typer.Option(help="Count at this level of the tree: 1 for the roots; leaves without it."),
    ] = None,
    smallest: Annotated[
        int, typer.Option(help="Periods with fewer items are joined with the next.")
    ] = 10,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show whether categories become more or less frequent over time.

    Shares with intervals for each period, the Cochran-Armitage test of a trend for each category
    (Holm over all), and the last period beside the first. Times are those of the artifacts.

    Examples:

        analysis trend hp-defects --level 1

        analysis trend dl-bugs --by quarter --code api --smallest 20
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    result = run(
        opened,
        taxonomy,
        by=by.value,
        codes=code or (),
        round_name=round_name,
        level=level,
        smallest=smallest,
    )
    begun = provenance.begin(f"analysis {NAME}", result.parameters)
    show(output, result, publish(opened, result, begun))


def _chosen(seen: Observations, codes: Sequence[str]) -> tuple[str, ...]:
    if not codes:
        return seen.codes
    found = []
    for code in codes:
        known = seen.taxonomy.find(code) if seen.taxonomy else code
        if known not in seen.codes:
            level = f" at level {seen.level}" if seen.level else ""
            raise StudyError(
                f"{code!r} is no category of {seen.name}{level}",
                f"Its categories: {', '.join(seen.codes)}.",
            )
        found.append(known)
    return tuple(dict.fromkeys(found))

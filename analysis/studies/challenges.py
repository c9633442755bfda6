"""Which challenges people speak of in interviews: themes, mentions, shares of interviews."""

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
    from faultatlas.analysis.tallies.themes import Themes
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "challenges"


def run(
    study: Study,
    taxonomy: str = "challenges",
    *,
    round_name: str = "",
    group: str = "",
    level: int | None = None,
    top: int | None = None,
) -> Result:
    """Count the themes of coded passages; nothing is stored."""
    from faultatlas.analysis.observations import observe
    from faultatlas.analysis.tallies import naming, theme_numbers, theme_tables
    from faultatlas.analysis.tallies.groups import counting_notes
    from faultatlas.analysis.tallies.homogeneity import INDEPENDENT
    from faultatlas.analysis.tallies.themes import themes_of
    from faultatlas.data.old.results import Result

    if top is not None and top < 1:
        raise StudyError(f"--top {top} shows nothing", "Give a number from 1.")
    parameters = naming.given(
        taxonomy=taxonomy, round=round_name, group=group, level=level, top=top
    )
    seen = observe(study, taxonomy, round_name=round_name, level=level, by=[group] if group else [])
    heard = themes_of(study, seen, group)
    of = theme_tables.Counted(
        heard, naming.result_name(NAME, _named(parameters), bare=("taxonomy",)), parameters, top
    )
    return Result(
        NAME,
        of.name,
        f"Themes of interviews: {taxonomy}{f' by {group}' if group else ''}",
        parameters,
        summary=_summary(heard),
        claims=theme_numbers.claims(of),
        tables=theme_tables.tables(of),
        figures=(theme_tables.figure(of),),
        notes=(
            *counting_notes(seen, group),
            (
                "An item is a passage and its artifact the interview. Passages of one interview "
                "hang together: intervals are those of shares of interviews, as of a simple "
                "random sample. Interviews are those with a passage in the round."
            ),
            *([INDEPENDENT] if group else []),
        ),
        sources=(heard.tree.source,) if heard.tree else (),
        document=theme_numbers.document(of),
    )


def _named(parameters: dict[str, Any]) -> dict[str, Any]:
    """What the result is called after: the taxonomy of its own name says nothing."""
    return {key: value for key, value in parameters.items() if value != NAME}


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    return run(
        study,
        parameters["taxonomy"],
        round_name=parameters.get("round", ""),
        group=parameters.get("group", ""),
        level=parameters.get("level"),
        top=parameters.get("top"),
    )


@old_command("challenges")
def command(
    taxonomy: Annotated[
        str,
        typer.Argument(
            metavar="TAXONOMY",
            help="Taxonomy of the themes: challenges, maintenance-themes, any other.",
        ),
    ] = "challenges",
    round_name: Annotated[
        str, typer.Option("--round", help="Only the passages of this round.")
    ] = "",
    group: Annotated[
        str,
        typer.Option(metavar="COL", help="Set groups of interviews side by side, as stratum."),
    ] = "",
    level: Annotated[
        int | None,
        typer.Option(help="Count at this level of the tree: 1 for the roots; leaves without it."),
    ] = None,
    top: Annotated[int | None, typer.Option(help="Only the most frequent themes.")] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show which themes the passages of interviews speak of, and in how many interviews.

    The items of a round are passages, their artifacts the interviews (`interview:pilot/7`), and
    the final labels the themes. Mentions and shares of interviews with intervals, for every theme
    and every group of themes; themes that stand together; what each interview added. Passages
    are named by their ids, never quoted.

    Examples:

        analysis challenges

        analysis challenges maintenance-themes --group stratum

        analysis challenges humbatova --round dl-faults-interviews --level 2
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    result = run(opened, taxonomy, round_name=round_name, group=group, level=level, top=top)
    begun = provenance.begin(f"analysis {NAME}", result.parameters)
    show(output, result, publish(opened, result, begun))


def _summary(of: Themes) -> tuple[str, ...]:
    from faultatlas.report.formatting import counted, interval, percent

    most = of.ranked[0]
    share = of.share(most)
    total = len(of.interviews)
    last = max(at for at, each in enumerate(of.saturation, 1) if each.new)
    chance = of.next_is_new.percent or 0.0
    spoken = (
        f"{counted(of.seen.items, 'passage')} of {counted(total, 'interview')} speak of "
        f"{len(of.ranked)} of {counted(len(of.themes), 'theme')}; most interviews of "
        f"{of.seen.title(most)}: {share.count:,} of {total:,} ({percent(share.percent or 0)}, "
        f"95 % {interval(share.low, share.high, '%')})."
    )
    saturation = (
        f"Saturation: the last new theme came with interview {last} of {total}; "
        f"{counted(of.once, 'theme')} in one interview only, so that about {percent(chance)} of "
        "what one more interview speaks of would be new (Good-Turing)."
    )
    return spoken, saturation

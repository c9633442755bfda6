"""`annotation round` and `status`: parses and calls, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

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


@old_command("round")
def plan_round(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the round.")],
    sample: Annotated[
        str | None, typer.Option(metavar="S", help="Sample that its items are from.")
    ] = None,
    taxonomy: Annotated[
        str | None, typer.Option(metavar="T", help="Taxonomy of the codes.")
    ] = None,
    rater: Annotated[
        list[str] | None, typer.Option(metavar="R", help="A rater; repeated for each of them.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="The next N items of the sample.", show_default="all the rest"
        ),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=2, help="Cut them into rounds NAME-1, NAME-2, ..., one after another."
        ),
    ] = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT", help="Share of the items that all raters label.", show_default="100"
        ),
    ] = None,
    raters_per_item: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            help="Raters of every other item; without --overlap, of all items.",
            show_default="1",
        ),
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(metavar="X", help="Agreement to reach.", show_default="as in study.toml"),
    ] = None,
    statistic: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="krippendorff, fleiss, cohen, gwet, percent or pairwise.",
            show_default="as in study.toml",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="ROUND",
            help="Begin only when the gate of this round is passed; `none`: of no round.",
            show_default="the last of the sample and taxonomy that has a gate",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of assignment and orders.", show_default="1"),
    ] = None,
    suggestions: Annotated[
        bool, typer.Option("--suggestions", help="Show raters what a model proposes.")
    ] = False,
    despite_gate: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Begin although the gate before is not passed."),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Plan a round: which items, which raters, who labels what in which order.

    It takes the next items of the sample that no planned round with this taxonomy has. Statistic
    and gate are fixed here, before the first label, from study.toml unless given; the round after
    it waits for its gate. The same command again changes nothing.

    Examples:

        annotation round pilot --sample main --taxonomy dl-bugs --rater ann --rater ben --size 50

        annotation round rest --sample main --taxonomy dl-bugs --rater ann --rater ben --parts 3

        annotation round late --sample main --taxonomy dl-bugs --rater ann --after pilot

        annotation round rest-1 --despite-gate "two codes were merged after the discussion"
    """
    from faultatlas.annotation.planning.options import Options
    from faultatlas.annotation.planning.planning import run_round
    from faultatlas.annotation.planning.view import planned_table, planned_words
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        name=name,
        sample=sample,
        taxonomy=taxonomy,
        raters=tuple(rater or ()),
        size=size,
        parts=parts,
        overlap=overlap,
        raters_per_item=raters_per_item,
        gate=gate,
        statistic=statistic,
        after=after,
        seed=seed,
        suggestions=suggestions,
    )
    outcome = run_round(open_study(study, output), options, despite_gate)
    output.document(outcome.document())
    output.show(console_table(planned_table(outcome), with_aside=verbose))
    for line in planned_words(outcome):
        output.show(line)


@old_command("status")
def show_status(
    round_name: Annotated[
        str | None, typer.Argument(metavar="[ROUND]", help="A round; without: all of them.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show how far rounds are, and the next command.

    Examples:

        annotation status

        annotation status pilot
    """
    from faultatlas.annotation.planning.progress import status
    from faultatlas.annotation.planning.view import raters_table, status_table
    from faultatlas.annotation.screening.steps import Standing
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    rounds, document = status(open_study(study, output), round_name)
    output.document(document)
    if rounds:
        output.show(console_table(status_table(rounds), with_aside=verbose))
    else:
        output.show("no rounds yet")
    if round_name is not None:
        output.show(console_table(raters_table(rounds[0]), with_aside=verbose))
        if rounds[0].hold.words:
            output.show(rounds[0].hold.words)
    elif document["screening"]:
        output.show(*(Standing(**each).words for each in document["screening"]))
    for line in document["next"]:
        output.show(f"next: {line}")

"""`annotation sample` and `sample-size`: parses and calls, no logic."""

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
from faultatlas.report.rounding import RoundOption

ConfidenceOption = Annotated[
    float | None,
    typer.Option(metavar="PERCENT", help="Confidence of the computed size.", show_default="95"),
]
MarginOption = Annotated[
    float | None,
    typer.Option(metavar="PERCENT", help="Margin of error of it.", show_default="5"),
]


@old_command("sample")
def sample(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the sample; without: list them.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="A condition on the columns of the view candidates."),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="STEP",
            help="Draw from what this step of the funnel left, or `all`.",
            show_default="the last step",
        ),
    ] = None,
    confidence: ConfidenceOption = None,
    margin: MarginOption = None,
    size: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Size, instead of a computed one.")
    ] = None,
    rounding: RoundOption = None,
    stratify: Annotated[
        str | None,
        typer.Option(metavar="COLS", help="Strata: columns of candidates, commas between them."),
    ] = None,
    allocation: Annotated[
        str | None,
        typer.Option(
            metavar="A",
            help="proportional, equal, optimal, or each: the size of every stratum.",
            show_default="proportional",
        ),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(metavar="COL", help="For optimal: the number whose spread counts."),
    ] = None,
    highest: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Not at random: those with the highest value."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Another seed is another sample.", show_default="1"),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(metavar="COLS", help="Compare sample and frame by these columns."),
    ] = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Draw more; what was drawn stays in its place.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Derive the sample again and say whether it is the same."),
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Draw a sample of what the funnel left, or of everything that was mined.

    Its size is what confidence and margin need (Cochran's formula for a finite population), or
    what is given. The order of the draw is a hash of seed, stratum and artifact: the same seed
    gives the same sample on any machine, and a larger one holds the smaller. The frame is stored,
    so that the draw can be derived again. A name alone shows the sample.

    Examples:

        annotation sample main --stratify project --seed 7

        annotation sample pilot --where "kind = 'issue'" --size 50

        annotation sample top --highest score --margin 5

        annotation sample main --extend --margin 3

        annotation sample main --check
    """
    from faultatlas.annotation.samples import command, view
    from faultatlas.data.errors import StudyError
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    options = command.Options(
        where=where,
        step=step,
        confidence=confidence,
        margin=margin,
        size=size,
        rounding=rounding.value if rounding else None,
        stratify=stratify,
        allocation=allocation,
        spread=spread,
        highest=highest,
        seed=seed,
    )
    if name is None:
        command.refuse_without_name(options, extend=extend, check=check)
        found = view.samples(opened)
        output.document(found)
        table = view.samples_table(found)
        output.show(
            console_table(table, with_aside=verbose)
            if table
            else "no samples yet: annotation sample NAME"
        )
        return
    outcome = command.run(opened, name, options, compare, extend=extend, check=check)
    output.document(outcome.document())
    output.show(view.words(outcome))
    for each in outcome.compared:
        output.show(console_table(each.table(), with_aside=verbose))
    if outcome.check and not outcome.check.is_derived:
        raise StudyError(
            f"sample {name!r} is not what its seed and frame give",
            "Rows were changed by other means: put a backup of the study back.",
        )


@old_command("sample-size")
def sample_size(
    populations: Annotated[
        list[int] | None,
        typer.Argument(metavar="[POPULATION]...", help="Sizes of populations; none: without end."),
    ] = None,
    confidence: ConfidenceOption = None,
    margin: MarginOption = None,
    rounding: RoundOption = None,
    study: StudyOption = HERE,  # noqa: ARG001  (every command takes it)
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Say how large a sample must be; no study is needed.

    Examples:

        annotation sample-size 38463 26326 18812 14590

        annotation sample-size --round up
    """
    from faultatlas.annotation.samples.sizes import sizes, sizes_table
    from faultatlas.data.sampling import Precision
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    precision = Precision(
        95 if confidence is None else confidence,
        5 if margin is None else margin,
        rounding.value if rounding else "nearest",
    )
    found = sizes(populations or (), precision)
    output.document(found)
    output.show(console_table(sizes_table(found), with_aside=verbose))

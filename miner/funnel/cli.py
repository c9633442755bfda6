"""`miner filter` and `lexicons`: parses and calls, no logic."""

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


@old_command("filter")
def filter_artifacts(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the step, such as bug-words.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="A condition on the columns of the view candidates."),
    ] = None,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(metavar="L", help="The text has a word of it; repeated: of all of them."),
    ] = None,
    any_lexicon: Annotated[
        bool, typer.Option("--any-lexicon", help="A word of one of the lexicons is enough.")
    ] = False,
    code: Annotated[bool, typer.Option("--code", help="Look into code blocks as well.")] = False,
    quotes: Annotated[bool, typer.Option("--quotes", help="Look into quotations as well.")] = False,
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", help="Only issue, pull, commit, post or paper; all others pass through."
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Draw a sample of that size.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Draw a sample as large as this confidence needs."),
    ] = None,
    margin: Annotated[
        float, typer.Option(metavar="PERCENT", help="Margin of error of such a sample.")
    ] = 5,
    rounding: RoundOption = None,
    by: Annotated[
        str | None, typer.Option(metavar="SQL", help="A sample of each group: project.")
    ] = None,
    highest: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Not at random: those with the highest value: score."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed is another sample.")] = 1,
    before: Annotated[
        str | None, typer.Option(metavar="STEP", help="Put the step before this one.")
    ] = None,
    drop: Annotated[
        str | None, typer.Option(metavar="STEP", help="Take a step out of the funnel.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run all steps on what is in the study now.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Add a step to the funnel that turns what was mined into the population of the study.

    Each step works on what the one before let through. A step of a name that is there takes its
    place, and all that follow are computed again. Words are compared as stems: "fixes" is "fix",
    "prefix" is not; code blocks and quotations are left out unless asked for.

    Examples:

        miner filter bug-words --on commit --lexicon bugfix

        miner filter accepted --on post --where "accepted_answer_id IS NOT NULL"

        miner filter sampled --confidence 95 --margin 5 --by project --seed 7

        miner filter --drop bug-words
    """
    from faultatlas.miner.funnel.command import Options, run_filter
    from faultatlas.miner.funnel.view import funnel_table
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        name=name,
        where=where,
        lexicons=tuple(lexicon or ()),
        any_lexicon=any_lexicon,
        code=code,
        quotes=quotes,
        on=tuple(on or ()),
        size=size,
        confidence=confidence,
        margin=margin,
        rounding=rounding.value if rounding else None,
        by=by,
        highest=highest,
        seed=seed,
        before=before,
        drop=drop,
        again=again,
    )
    found = run_filter(open_study(study, output), options, output)
    output.document(found)
    if table := funnel_table(found):
        output.show(console_table(table, with_aside=verbose))


@old_command("lexicons")
def show_lexicons(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show the words of this one.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the lexicons that `miner filter` and `miner commits` know, or the words of one.

    Your own is a file `lexicons/NAME.txt` in the study, with one word on each line.

    Examples:

        miner lexicons

        miner lexicons bugfix
    """
    from faultatlas.miner.lexicon import lexicon, lexicons, lexicons_table
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    if name is None:
        table = lexicons_table(lexicons(study))
        output.document({"lexicons": table.records()})
        output.show(console_table(table, with_aside=verbose))
        return
    found = lexicon(name, study)
    output.document(found.as_json())
    output.show("\n".join(found.entries))

"""`annotation suggest`: parses and calls, no logic."""

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


@old_command("suggest")
def suggest(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Round to propose codes for.")],
    trained_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROUND",
            help="Learn from this round; repeatable. Default: all rounds of the same taxonomy.",
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Codes to propose for an item.")] = 3,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds.")] = 1,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Train a model on the labels so far: proposals, what to label next, doubtful labels.

    It learns from titles and texts that were mined, and from final labels, else from what most
    raters said. Proposals are stored in the view `suggestions`; raters see them only in rounds
    that were planned with --suggestions, so that the page does not lead them. The model's own
    accuracy is reported for each code, beside that of always saying the most frequent one.

    Examples:

        annotation suggest part-2 --trained-on pilot --trained-on part-1

        annotation suggest part-2 --json
    """
    from faultatlas.annotation.suggesting.command import store
    from faultatlas.annotation.suggesting.command import suggest as train
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    run = provenance.begin(
        "annotation suggest",
        {"round": round_name, "trained_on": trained_on or [], "most": most, "seed": seed},
    )
    found = train(opened, round_name, trained_on or [], most=most, seed=seed)
    with opened.writing() as writer:
        provenance.record(writer, run, "ok")
        store(writer, found, round_name, run)
    page = publish(opened, found.result, run)
    show(output, found.result, page)

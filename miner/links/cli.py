"""`miner link`: parses and calls, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from faultatlas.miner.links import THRESHOLD
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


@old_command("link")
def link_artifacts(
    again: Annotated[
        bool, typer.Option("--again", help="Read every text again, not only what changed.")
    ] = False,
    duplicates: Annotated[
        bool,
        typer.Option("--duplicates/--no-duplicates", help="Suggest texts that are nearly alike."),
    ] = True,
    threshold: Annotated[
        float, typer.Option(metavar="X", help="How alike such texts are at least, from 0.3 to 1.")
    ] = THRESHOLD,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Find what belongs together: issues, pull requests, commits and posts that name each other.

    Each link has its kind and the words that say so. Texts that are nearly the same are
    suggested as duplicates, with a score, and are never merged. Only texts that are new or
    changed are read.

    Examples:

        miner link

        miner link --threshold 0.9
    """
    from faultatlas.miner.links.command import link_table, link_words, run_link
    from faultatlas.report.progress import progress
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    with progress(output, "link") as bar:
        found = run_link(
            open_study(study, output),
            again=again,
            duplicates=duplicates,
            threshold=threshold,
            progress=bar.update,
        )
    output.document(found)
    if found["links"]:
        output.show(console_table(link_table(found)), "")
    output.show(link_words(found))

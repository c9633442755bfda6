"""List, check and export the numbers of reports."""

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

PrefixOption = Annotated[
    str, typer.Option(help="What the names of the LaTeX commands begin with: letters.")
]


@old_command("claims list")
def list_claims(
    published: Annotated[
        bool, typer.Option("--published", help="The figures that the shipped studies printed.")
    ] = False,
    status: Annotated[
        str, typer.Option(help="Only this status: reproduced, near, not reproduced, ...")
    ] = "",
    of_study: Annotated[
        str, typer.Option("--of", metavar="NAME", help="Only this published study.")
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the study's claims, or the published figures and whether they come out.

    Examples:

        report claims list

        report claims list --published --status "not reproduced"
    """
    from faultatlas.report.claims import listing
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    if published or of_study:
        found = listing.published(status=status, study=of_study)
        output.document({"rule": listing.rule(), "figures": [vars(each) for each in found]})
        output.show(console_table(listing.published_counts(found)), "")
        output.show(console_table(listing.published_table(found), with_aside=verbose))
        if verbose:
            output.show("", console_table(listing.notes_table(found)))
        return
    stored = listing.stored(open_study(study, output), status=status)
    output.document({"claims": stored})
    output.show(console_table(listing.stored_table(stored)))

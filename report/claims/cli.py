"""List, check and export the numbers of reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faultatlas.report.claims.naming import PREFIX
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
        figures = [{**vars(each), "status": listing.status_of(each)} for each in found]
        output.document({"rule": listing.rule(), "figures": figures})
        output.show(console_table(listing.published_counts(found)), "")
        output.show(console_table(listing.published_table(found), with_aside=verbose))
        if verbose:
            output.show("", console_table(listing.notes_table(found)))
        return
    stored = listing.stored(open_study(study, output), status=status)
    output.document({"claims": stored})
    output.show(console_table(listing.stored_table(stored)))


@old_command("claims check")
def check_claims(
    results: Annotated[
        list[str] | None, typer.Argument(metavar="RESULT", help="Results; without any, all.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compute all stored results again and fail if a number is not what was stored.

    Nothing is written. What changed is named with the stored and the new number; `report build`
    stores the new ones.

    Examples:

        report claims check

        report claims check coverage-gap agreement-pilot
    """
    from faultatlas.report.claims.checking import check, differences_table, refuse_differences, told
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    found = check(open_study(study, output), results or [])
    output.document(found.to_json())
    if found.differences:
        output.show(console_table(differences_table(found.differences)), "")
    output.show(*told(found))
    refuse_differences(found)


@old_command("claims export")
def export_claims(
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULT", help="Claims of these results; without any, all."),
    ] = None,
    latex: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a LaTeX command for each number.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the exact numbers as CSV.")
    ] = None,
    check: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.tex",
            help="Fail if this manuscript uses a number that the study lacks. Repeatable.",
        ),
    ] = None,
    prefix: PrefixOption = PREFIX,
    siunitx: Annotated[
        bool, typer.Option("--siunitx", help=r"Numbers in LaTeX stand in \num{...}.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    r"""Write the study's numbers for a manuscript, so that it carries no typed figure.

    In LaTeX each claim is a command of letters: \FAcoverageGapFaultsUntargeted for the claim
    coverage-gap.faults.untargeted. Intervals and counts are had with \faNum[low]{ID}.

    Examples:

        report claims export --latex numbers.tex

        report claims export --csv numbers.csv

        report claims export --check paper.tex
    """
    from faultatlas.report.claims.commands import export

    export(
        open_study(study, output := Output(as_json, quiet, verbose)),
        output,
        results or [],
        latex=latex,
        csv=csv,
        manuscripts=check or [],
        prefix=prefix,
        siunitx=siunitx,
    )


@old_command("trace")
def trace_claim(
    claim: Annotated[
        str, typer.Argument(metavar="ID", help="Claim: its id, the start of it, or its command.")
    ],
    rows: Annotated[
        int, typer.Option(min=0, max=10_000, help="So many rows of each kind are shown.")
    ] = 5,
    prefix: PrefixOption = PREFIX,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the way back from a number to its rows, the runs that wrote them and their sources.

    Examples:

        report trace coverage-gap.faults.untargeted

        report trace FAcoverageGapFaultsUntargeted --rows 20 --json
    """
    from faultatlas.report.claims.naming import checked_prefix
    from faultatlas.report.claims.way_back import shown
    from faultatlas.report.tracing import trace

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    found = trace(opened, claim, most=rows, prefix=checked_prefix(prefix))
    output.document(found.to_json())
    output.show(*shown(found))

"""The command `report`: parses and calls, no logic."""

from __future__ import annotations

from typing import Annotated

import typer

from report import console
from report.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

app = console.application("Render what the analyses stored, and check published figures.")
claims_app = console.application("Numbers of reports, and figures that studies printed.")
app.add_typer(claims_app, name="claims")


@app.callback()
def report(version: console.VersionOption = False) -> None:
    """Render what the analyses stored, and check published figures."""


@app.command("build")
def build_reports(
    results: Annotated[
        list[str] | None, typer.Argument(help="Results to render; without any, all.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Write the reports of stored results again; nothing is computed.

    Example:

        report build coverage-gap
    """
    from report.publish import build

    output = Output(as_json, quiet, verbose)
    pages = build(open_study(study, output), results or [])
    output.document({"reports": [str(page) for page in pages]})
    output.show(*(f"Report: {page}" for page in pages))


@claims_app.command("list")
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
    from report import claims
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    if published or of_study:
        found = claims.published(status=status, study=of_study)
        output.document({"rule": claims.rule(), "figures": [vars(each) for each in found]})
        output.show(console_table(claims.published_counts(found)), "")
        output.show(console_table(claims.published_table(found), with_aside=verbose))
        if verbose:
            output.show("", console_table(claims.notes_table(found)))
        return
    stored = claims.stored(open_study(study, output), status=status)
    output.document({"claims": stored})
    output.show(console_table(claims.stored_table(stored)))


def main() -> None:
    """Entry point."""
    console.run(app)

"""`report manuscript`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
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
)


@old_command("manuscript")
def check_manuscript(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Claims files (.toml).")
    ] = None,
    shipped: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A shipped study by its name, or all. Repeatable."),
    ] = None,
    draft: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="A manuscript (.tex, .md, .txt): find its numbers, check them."
        ),
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the drafted claims file (.toml).")
    ] = None,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="List the kinds of checks and their fields.")
    ] = False,
    study: StudyOption = HERE,  # noqa: ARG001  (every command takes it)
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Check the printed numbers of a manuscript against each other.

    Percentages against counts, totals against rows, samples against the formula, p-values
    against statistics, words against scales. Ends with 1 if numbers contradict each other.

    Examples:

        report manuscript numbers.toml

        report manuscript --shipped bug-localization

        report manuscript --draft paper.tex --write numbers.toml
    """
    from faultatlas.report.lists import listed
    from faultatlas.report.manuscript import listing
    from faultatlas.report.manuscript.asking import asked
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    if kinds:
        output.document({"kinds": listing.kinds_document()})
        output.show(console_table(listing.kinds_table()))
        return
    checked = asked(files or [], shipped or [], draft or [], write, output.tell)
    output.document(listing.document(checked))
    for name, found in checked.items():
        if verbose and found:
            output.show(console_table(listing.findings_table(name, found), with_aside=True))
            output.show("", console_table(listing.rules_table(found)), "")
        output.show(*listed(listing.open_findings(found)))
        output.show(listing.summary(name, found), "")
    if not verbose and any(checked.values()):
        output.show("With -v: every claim, and the rules.")
    if any(each.bad for found in checked.values() for each in found):
        raise typer.Exit(1)

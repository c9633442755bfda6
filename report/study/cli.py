"""`report build`."""

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
    open_study,
)


@old_command("build")
def build_reports(
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULT", help="Results to show; without any, all."),
    ] = None,
    as_stored: Annotated[
        bool, typer.Option("--as-stored", help="Compute nothing again; nothing is stored.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the report; else out/report of the study.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compute the results again and write the report of the study: HTML, LaTeX, Markdown, data.

    Examples:

        report build

        report build coverage-gap --as-stored
    """
    from faultatlas.report.study.building import build_report
    from faultatlas.report.study.view import show

    output = Output(as_json, quiet, verbose)
    show(
        output, build_report(open_study(study, output), results or [], as_stored=as_stored, out=out)
    )

"""The command `report`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from faultatlas.report import console
from faultatlas.report.claims.cli import commands as claims
from faultatlas.report.claims.cli import trace_claim
from faultatlas.report.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)
from faultatlas.report.manuscript.cli import check_manuscript
from faultatlas.report.package.cli import package_study
from faultatlas.report.usage import Group


class _InOrderOfWork(Group):
    """Typer lists groups such as `claims` behind all commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """As they are used, one after the other."""
        wanted = ["build", "claims", "trace", "package", "manuscript"]
        return sorted(super().list_commands(ctx), key=wanted.index)


app = console.application(
    "Build the report of a study, check and trace its numbers, publish them as a package.",
    group=_InOrderOfWork,
)
app.add_typer(claims, name="claims")
app.command("trace")(trace_claim)
app.command("package")(package_study)
app.command("manuscript")(check_manuscript)


@app.callback()
def report(version: console.VersionOption = False) -> None:
    """Build the report of a study, check and trace its numbers, publish them as a package."""


@app.command("build")
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


def main() -> None:
    """Entry point."""
    console.run(app)

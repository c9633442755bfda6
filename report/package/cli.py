"""`report package`: parses and calls, no logic."""

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


@old_command("package")
def package_study(
    out: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="The .zip to write; else replication-package.zip in out/."
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compute the claims of this package again instead."),
    ] = None,
    with_texts: Annotated[
        bool, typer.Option("--with-texts", help="With the texts of issues, posts and commits.")
    ] = False,
    double_blind: Annotated[
        bool, typer.Option("--double-blind", help="For review: nothing tells whose it is.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A word that is no name of yours. Repeatable."),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make a replication package of the study, or verify one without the study.

    People are pseudonyms, raters have numbers, texts are left out unless you ask for them; what
    looks like a secret, an address of mail or a path stops it. The study is only read.

    Examples:

        report package

        report package review.zip --double-blind

        report package --verify replication-package.zip
    """
    from faultatlas.report.package.view import show_packed, show_verified

    output = Output(as_json, quiet, verbose)
    if verify is not None:
        from faultatlas.report.package.verifying import verify as verify_package

        show_verified(output, verify_package(verify))
        return
    from faultatlas.report.package.copying import Options
    from faultatlas.report.package.making import pack

    options = Options(with_texts, double_blind, tuple(allow or ()))
    show_packed(output, pack(open_study(study, output), options, out))

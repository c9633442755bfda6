"""`annotation adjudicate`: parses and calls, no logic."""

from __future__ import annotations

from enum import StrEnum
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


class Rule(StrEnum):
    """Which labels settle an item by themselves."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"


class Against(StrEnum):
    """What raters are compared with."""

    FINAL = "final"
    OTHERS = "others"


@old_command("adjudicate")
def adjudicate(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    rule: Annotated[
        Rule | None,
        typer.Option(help="Settle what all raters (unanimous) or more than half of them say."),
    ] = None,
    settle: Annotated[
        bool, typer.Option("--settle", help="Settle what people decided and what all raters say.")
    ] = False,
    single: Annotated[
        bool, typer.Option("--single", help="Settle items that have one rating, too.")
    ] = False,
    third: Annotated[
        str | None,
        typer.Option(metavar="RATER", help="This rater decides: with --from, --push or pulled."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="A sheet (CSV, XLSX) with the final codes."),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Write the open items as a sheet to fill in."),
    ] = None,
    push: Annotated[
        bool, typer.Option("--push", help="Send the open items to a Label Studio project.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(help="Of another Label Studio, with --push.", show_default="the study's own"),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Show so many open items.")] = 20,
    version: Annotated[
        str | None,
        typer.Option(
            metavar="V",
            help="Version of the taxonomy that labels are carried to.",
            show_default="that of the round",
        ),
    ] = None,
    accuracy: Annotated[
        bool, typer.Option("--accuracy", help="Compare each rater with the final labels.")
    ] = False,
    against: Annotated[
        Against,
        typer.Option(help="Of --accuracy: the final labels, or what most of the others say."),
    ] = Against.FINAL,
    parts: Annotated[
        int, typer.Option(min=2, max=50, help="Of --accuracy: over so many parts of the work.")
    ] = 4,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the items that raters disagree about, hardest first and without names, and settle them.

    What all raters say is settled first; then, if asked for, what more than half of them say.
    The rest is settled in a discussion or by a third rater: in a sheet (--to, then --from) or
    in Label Studio (--push, then `annotation pull`, then --settle). Labels stay as they are;
    final labels say how they came about, and a later decision supersedes an earlier one.

    Examples:

        annotation adjudicate pilot

        annotation adjudicate pilot --rule majority

        annotation adjudicate pilot --to open.xlsx

        annotation adjudicate pilot --from open.xlsx

        annotation adjudicate pilot --third zoe --from open.xlsx

        annotation adjudicate pilot --accuracy
    """
    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    if accuracy:
        from faultatlas.annotation.settling.accuracy_command import show_accuracy

        show_accuracy(
            opened, output, round_name, version, with_others=against is Against.OTHERS, parts=parts
        )
        return
    from faultatlas.annotation.settling.command import Asked
    from faultatlas.annotation.settling.command import adjudicate as settle_round

    settle_round(
        opened,
        output,
        Asked(
            round=round_name,
            version=version,
            settle=settle or rule is not None,
            majority=rule is Rule.MAJORITY,
            single=single,
            third=third,
            source=source,
            target=target,
            push=push,
            url=url,
            limit=limit,
        ),
    )

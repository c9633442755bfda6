"""`annotation agreement`: parses and calls, no logic."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from faultatlas.annotation.agreement.choices import KEYS, By, MeasuredStage, Special
from faultatlas.data.settings import SCALES
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
from faultatlas.report.usage import Command

_FIXED = "fixed"
_NUMBER = re.compile(r"[-+]?[0-9.,]+(?:e-?[0-9]+)?%?", re.IGNORECASE)


class _GateCommand(Command):
    """A command whose `--gate` may stand alone: typer knows no option with an optional value."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """What looks like a number right behind it is its value, whatever rounds are called."""
        end = args.index("--") if "--" in args else len(args)
        words: list[str] = []
        for at, word in enumerate(args):
            value = args[at + 1] if at + 1 < end else ""
            alone = word == "--gate" and at < end and not _NUMBER.fullmatch(value)
            words.append(f"--gate={_FIXED}" if alone else word)
        return super().parse_args(ctx, words)


@old_command("agreement")
def agreement(
    rounds: Annotated[
        list[str] | None,
        typer.Argument(metavar="ROUND", help="Rounds; all of them if none is named."),
    ] = None,
    by: Annotated[
        list[By] | None,
        typer.Option(help="Also print agreement for each of these. Repeatable."),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="[X]",
            help="Exit with 0 if agreement reaches the threshold that was fixed beforehand, or X; "
            "with 1 if it does not or cannot be measured. A number behind it is X.",
        ),
    ] = None,
    stage: Annotated[
        MeasuredStage, typer.Option(help="Labels before or after discussion.")
    ] = MeasuredStage.INDEPENDENT,
    version: Annotated[
        str | None,
        typer.Option(metavar="V", help="Version of the taxonomy that labels are carried to."),
    ] = None,
    statistic: Annotated[
        str | None,
        typer.Option(help=f"Lead with this one, not with the fixed one: {', '.join(KEYS)}."),
    ] = None,
    rater: Annotated[
        list[str] | None, typer.Option(help="Only this rater and those named so. Repeatable.")
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Only the first N raters of each item."),
    ] = None,
    special: Annotated[
        Special, typer.Option(help="What answers such as unclear count as.")
    ] = Special.AS_CODE,
    scale: Annotated[
        str | None,
        typer.Option(
            help=f"Words for values: {', '.join(SCALES)}.", show_default="that of study.toml"
        ),
    ] = None,
    printed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE",
            help="What a paper printed, to stand beside ours: 0.80, cohen=0.80 or "
            "ROUND:cohen=0.80. Repeatable.",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, max=1_000_000, help="Of the bootstrap; 0: none.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Measure how far raters agree, for each round and over all of them.

    The statistic that was fixed when the round was made comes first, then all others, each
    with its intervals and the word of a named scale. A report with tables, the confusion of
    codes and the trend over rounds is written to `out/`.

    Examples:

        annotation agreement pilot

        annotation agreement pilot --by category --by pair

        annotation agreement pilot --gate

        annotation agreement --json

        annotation agreement types --statistic cohen --printed 0.80
    """
    from faultatlas.annotation.agreement.choices import Choice
    from faultatlas.annotation.agreement.command import measure_rounds, read_gate
    from faultatlas.annotation.agreement.printed import read_printed
    from faultatlas.data.settings import read_settings

    output = Output(as_json, quiet, verbose)
    option = read_gate(gate)
    choice = Choice(
        rounds=tuple(dict.fromkeys(rounds or ())),
        stage=stage.value,
        version=version,
        statistic=statistic,
        raters=tuple(dict.fromkeys(rater or ())),
        first=first,
        special=special,
        scale=scale or read_settings(study).scale,
        resamples=resamples,
        seed=seed,
    )
    measure_rounds(
        open_study(study, output),
        output,
        choice,
        by=tuple(by or ()),
        printed=tuple(map(read_printed, printed or ())),
        gate=option,
    )

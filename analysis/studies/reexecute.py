"""Which bugs can still be made to happen, and whether their fixes remove them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "reexecute"


class Device(StrEnum):
    """Where bugs run."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


class Isolation(StrEnum):
    """What keeps a bug's program from the rest of the machine."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    NONE = "none"


def run(study: Study, **parameters: Any) -> Result:
    """The estimate from what is judged; nothing is run or stored."""
    from faultatlas.analysis.studies import reproducibility

    return reproducibility.run(study, **parameters)


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    from faultatlas.analysis.studies import reproducibility

    return reproducibility.again(study, parameters)


@old_command("reexecute")
def command(
    bugs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BUG]...",
            help="Bugs by id or name, with `*`: `defect4ml/*`. All of the study without one. With "
            "--validate also folders.",
            show_default=False,
        ),
    ] = None,
    import_from: Annotated[
        Path | None,
        typer.Option(
            "--import", metavar="DIR", help="Bring the bugs of this folder into the study."
        ),
    ] = None,
    importer: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="IMPORTER",
            help="What the folder is, if it is not seen: bugs, bugsinpy, defect4ml, defects4dl or "
            "script-pairs.",
        ),
    ] = "",
    validate: Annotated[
        bool, typer.Option("--validate", help="Only say what is missing or wrong in bugs.")
    ] = False,
    list_bugs: Annotated[bool, typer.Option("--list", help="Only list the bugs.")] = False,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SET", help="Only bugs of this set. Repeatable."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", help="Draw so many of the bugs.")
    ] = None,
    stratify: Annotated[
        str, typer.Option(metavar="COLUMNS", help="Draw in strata of these: framework,symptom.")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of the draw.", show_default="1")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Runs of each side to begin with, 3 to 50; more only where they disagree.",
            show_default="3; 5 where a performance is measured",
        ),
    ] = None,
    judge_again: Annotated[
        bool, typer.Option("--judge-again", help="Judge the stored runs anew; run nothing.")
    ] = False,
    device: Annotated[Device, typer.Option(help="Where bugs run.")] = Device.AUTO,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Runs at once.", show_default="as many as cores and memory allow"
        ),
    ] = None,
    cluster: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster: its scheduler.")
    ] = "",
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Begin no run after this long: 4h, 90m, 1h30m.")
    ] = "",
    cache_gb: Annotated[
        int | None,
        typer.Option(
            "--cache-gb",
            metavar="N",
            help="Room for environments; those used longest ago go first.",
            show_default="20",
        ),
    ] = None,
    isolation: Annotated[
        Isolation, typer.Option(help="What keeps bugs from the rest of the machine.")
    ] = Isolation.AUTO,
    unsafe_network: Annotated[
        bool,
        typer.Option(
            "--unsafe-network",
            help="Run also where there is no sandbox: programs can read files and use the network.",
        ),
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run bugs and their fixes in a sandbox, and decide by evidence whether they can be reproduced.

    Both sides run with the same seeds, without a network and with limits. What they showed is kept
    in the study: a second call goes on where the first one ended, whatever ended it. In a study
    without bugs those that come with the program are taken.

    Examples:

        analysis reexecute --sample 10 --seeds 3

        analysis reexecute --import defects4ml

        analysis reexecute 'defect4ml/*' --budget 4h --workers 8

        analysis reexecute --judge-again
    """
    from faultatlas.analysis.reexecution import calling

    calling.call(
        open_study(study, output := Output(as_json, quiet, verbose)),
        output,
        calling.Call(
            bugs=tuple(bugs or ()),
            import_from=import_from,
            importer=importer,
            validate=validate,
            list_bugs=list_bugs,
            sets=tuple(sets or ()),
            sample=sample,
            stratify=tuple(each for each in stratify.split(",") if each.strip()),
            seed=seed,
            seeds=seeds,
            judge_again=judge_again,
            device=device.value,
            workers=workers,
            cluster=cluster,
            budget=budget,
            cache_gb=cache_gb,
            isolation=isolation.value,
            unsafe_network=unsafe_network,
        ),
        again,
    )

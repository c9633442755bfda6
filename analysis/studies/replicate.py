"""The figures of a published study, computed again from its public package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faultatlas.data.errors import StudyError
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

NAME = "replicate"


def run(study: Study, published: str = "maintenance") -> Result:
    """Compute every figure from the rows that the study has; nothing is stored."""
    from faultatlas.analysis.replication.result import SEED, replicated

    return replicated(study, {"study": published, "seed": SEED})


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters."""
    from faultatlas.analysis.replication.result import replicated

    return replicated(study, parameters)


@old_command("replicate")
def command(
    published: Annotated[
        str, typer.Argument(metavar="[STUDY]", help="Published study: see --list.")
    ] = "",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Folder of its public package. [default: what was imported before]",
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="What each public package can give; nothing is stored.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compute the figures of a published study again, from its public package.

    The files of the package are stored as they are, its labels become rounds of the study, and
    every figure that the files give is computed from them: reproduced, near, not reproduced,
    inconsistent, or no data. A difference is a finding, not a failure. What was imported is
    enough to compute the figures again without the folder.

    Examples:

        analysis replicate --list

        analysis replicate hp-defects --from icse2024

        analysis replicate survey --from dl_faults

        analysis replicate hp-defects --json
    """
    from faultatlas.analysis.replication.listing import show_list
    from faultatlas.analysis.replication.published import published_study

    output = Output(as_json, quiet, verbose)
    if listed or not published:
        if folder is not None:
            raise StudyError("--from is the folder of a study", "Name it: analysis replicate STUDY")
        show_list(output, published)
        return
    _replicate(open_study(study, output), output, published_study(published).name, folder)


def _replicate(study: Study, output: Output, published: str, folder: Path | None) -> None:
    from faultatlas.analysis.replication.brief import show
    from faultatlas.analysis.replication.importing import import_package
    from faultatlas.analysis.replication.published import published_study
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish

    of = published_study(published)
    problems: list[str] = []
    package = published_study(of.data_of) if of.data_of else of
    if folder is not None and not package.files:
        output.tell(f"{of.name} has no public package: {folder} is not looked at")
        folder = None
    if folder is not None:
        done = import_package(study, package, folder)
        problems = done.problems
        for message in done.told():
            output.tell(message)
    begun = provenance.begin(
        f"analysis {NAME}", {"study": of.name, **({"from": str(folder)} if folder else {})}
    )
    result = run(study, of.name)
    show(output, result, publish(study, result, begun))
    if problems:
        raise StudyError(
            f"the figures are computed, but not all rounds could be brought in: {problems[0]}",
            "A round keeps what was settled in it. Take a study of its own for the changed "
            "package: --study DIR",
        )

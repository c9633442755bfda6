"""The options and the output of commands that are not rewritten yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faultatlas.report.console import Console

if TYPE_CHECKING:
    from faultatlas.data.study import Study

StudyOption = Annotated[
    Path,
    typer.Option(
        "--study",
        envvar="STUDY",
        metavar="DIR",
        help="The study's directory.",
        show_default="the current directory",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document; messages go to standard error.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Print more detail.")]

HERE = Path()


class Output(Console):
    """How much a command prints, and how it ends."""

    def end(self, notes: Iterable[str], *, is_whole: bool) -> None:
        """The last words of a command. What is missing is an error: silence does not hide it."""
        speaking = self if is_whole else replace(self, quiet=False)
        for note in notes:
            speaking.tell(note)
        if not is_whole:
            raise typer.Exit(1)


def open_study(directory: Path, output: Output) -> Study:
    """The study of a command; it tells the user when it is made and when it must wait."""
    from faultatlas.data.study import Study

    return Study(directory, tell=output.tell)

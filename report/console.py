"""The command line's manners: shared options, messages, errors, exit codes.

Every command takes `--study`, `--json`, `--quiet` and `--verbose`. Results go to standard
output, everything else to standard error. Imports stay light: `--help` must be instant.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.errors import StudyError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from data.store import Study

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
_INTERRUPTED = 130


@dataclass(frozen=True)
class Output:
    """Where and how much a command prints."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def tell(self, message: str) -> None:
        """A message about what is going on."""
        if not self.quiet:
            _stderr().print(message, soft_wrap=True)

    def detail(self, message: str) -> None:
        """A message for those who asked for more."""
        if self.verbose:
            self.tell(message)

    def document(self, document: Any) -> None:
        """The result as JSON, if that was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
            sys.stdout.flush()  # a closed pipe is noticed here, not when the interpreter ends

    def show(self, *renderables: RenderableType) -> None:
        """The result for a person, unless JSON or silence was asked for."""
        if self.as_json or self.quiet:
            return
        console = stdout()
        for renderable in renderables:
            console.print(renderable)


def stdout() -> Console:
    """A console on standard output."""
    return _console(stderr=False)


def _stderr() -> Console:
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console  # noqa: PLC0415  (light --help)

    # What is typed or mined is printed as it is: rich would see an emoji in `sheet.csv:100:`.
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def open_study(directory: Path, output: Output) -> Study:
    """The study of a command; it tells the user when it is made and when it must wait."""
    from data.store import Study  # noqa: PLC0415  (light --help)

    return Study(directory, tell=output.tell)


def application(help_text: str) -> typer.Typer:
    """A command with our settings."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def run(app: Callable[[], Any]) -> None:
    """Run a command; an error that the user can act on becomes a message and exit code 1.

    A closed pipe (`analysis ... | head`) ends it quietly: typer and rich see to that.
    """
    from data.redaction import redact  # noqa: PLC0415  (light --help)

    try:
        app()
    except StudyError as error:
        console = _stderr()
        console.print(f"error: {redact(error.message)}", soft_wrap=True, style="bold red")
        if error.hint:
            console.print(redact(error.hint), soft_wrap=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # what typer makes of Ctrl-C, without a word
            _stderr().print("interrupted; what was stored is complete")
        raise

"""The command line's manners: shared options, messages, errors, exit codes.

Every command takes `--study`, `--json`, `--quiet` and `--verbose`. Results go to standard
output, everything else to standard error. Imports stay light: `--help` must be instant.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import plain
from faultatlas.report.late_commands import Application
from faultatlas.report.usage import Group

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from faultatlas.data.store import Study

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


def _print_version(wanted: bool) -> None:  # noqa: FBT001  (typer's callback has this form)
    if wanted:
        from faultatlas.data.provenance import program_version

        typer.echo(f"faultatlas {program_version()}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
]

HERE = Path()
_INTERRUPTED = 130
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_live: list[Console] = []  # the console of a progress bar, while one is shown


@dataclass(frozen=True)
class Output:
    """Where and how much a command prints."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def tell(self, message: str) -> None:
        """A message about what is going on."""
        if not self.quiet:
            stderr().print(_printable(message), soft_wrap=True)

    def end(self, notes: Iterable[str], *, is_whole: bool) -> None:
        """The last words of a command. What is missing is an error: silence does not hide it."""
        speaking = self if is_whole else replace(self, quiet=False)
        for note in notes:
            speaking.tell(note)
        if not is_whole:
            raise typer.Exit(1)

    def document(self, document: Any) -> None:
        """The result as JSON, if that was asked for."""
        if self.as_json:
            text = json.dumps(document, ensure_ascii=not _speaks_utf8(), indent=1)
            sys.stdout.write(text + "\n")
            sys.stdout.flush()  # a closed pipe is noticed here, not when the interpreter ends

    def show(self, *renderables: RenderableType) -> None:
        """The result for a person, unless JSON or silence was asked for."""
        if self.as_json or self.quiet:
            return
        from rich.console import Group

        from faultatlas.report.wrapping import Unbroken

        console = stdout()
        for renderable in renderables:
            if isinstance(renderable, str):
                console.print(Group(Unbroken(_printable(renderable))))
            else:
                console.print(renderable)


def stdout() -> Console:
    """A console on standard output."""
    return _console(stderr=False)


def stderr() -> Console:
    """A console on standard error: that of the progress bar, which prints above it, if any."""
    return _live[-1] if _live else _console(stderr=True)


@contextmanager
def telling_on(console: Console) -> Iterator[None]:
    """While this lasts, messages and errors are printed by that console."""
    _live.append(console)
    try:
        yield
    finally:
        _live.remove(console)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    # What is typed or mined is printed as it is: rich would see an emoji in `sheet.csv:100:`.
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def open_study(directory: Path, output: Output) -> Study:
    """The study of a command; it tells the user when it is made and when it must wait."""
    from faultatlas.data.store import Study

    return Study(directory, tell=output.tell)


def application(help_text: str, *, group: type[Group] = Group) -> typer.Typer:
    """A command with our settings."""
    return Application(
        cls=group,
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
    _accept_every_character()
    try:
        app()
    except StudyError as error:
        _fail(error)
    except OSError as error:
        if error.errno is None:  # a library's own kind of error, such as that of requests
            raise
        _give_up_stdout()
        _fail(explained(error, "the output"))
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # what typer makes of Ctrl-C, without a word
            stderr().print("interrupted; what was stored is complete")
        raise


def explained(error: OSError, what: object, then: str = "run this again") -> StudyError:
    """The operating system's error in the user's words; `what` if it does not name the file."""
    if error.errno in _FULL:
        # Who copies a file names both: the one that was read is not to blame.
        name = plain(error.filename2 or error.filename or what)
        return StudyError(f"no room left to write {name}", f"Free disk space, then {then}.")
    name = plain(error.filename or what)
    return StudyError(
        f"{name} cannot be read or written: {error.strerror or error}",
        f"Check the path and its permissions, then {then}.",
    )


def _fail(error: StudyError) -> NoReturn:
    console = stderr()
    with suppress(OSError):  # standard error is full as well: nobody is left to be told
        console.print(_printable(f"error: {error.message}"), soft_wrap=True, style="bold red")
        if error.hint:
            console.print(_printable(error.hint), soft_wrap=True)
    sys.exit(1)


def _give_up_stdout() -> None:
    """Drop what standard output does not take: the interpreter would try it again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _accept_every_character() -> None:
    """Make streams of a narrow encoding escape what they do not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _speaks_utf8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def _printable(text: str) -> str:
    """A message as it may be shown: its lines are kept, secrets and terminal escapes are not."""
    from faultatlas.data.redaction import redact

    return "\n".join(plain(line) for line in redact(text).split("\n"))

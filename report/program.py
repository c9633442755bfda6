"""The four programs: which commands they have, and what happens when one ends badly.

A function marked `@command("name")` in any file of a package is a command of its program. Commands
are found in the text of the files, so that `--help` imports none of them.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from faultatlas.data.errors import StudyError
from faultatlas.report import start
from faultatlas.report.usage import Group, Usage

PROGRAMS = {
    "miner": "Bring evidence into a study: issues, commits, posts, papers; select and link it.",
    "annotation": "Draw samples, plan rounds, label in Label Studio or in sheets, measure "
    "agreement, settle disagreements, change taxonomies.",
    "analysis": "Analyse a study: every number has an interval and names its query.",
    "report": "Build the report of a study, check and trace its numbers, publish a package.",
}
_PACKAGES = Path(__file__).parent.parent
_COMMAND = re.compile(
    r"""
    ^@(old_)?command\(\s*"([\w -]+)"([^)]*)\)\n  # its kind, name and options
    def\ (\w+)\(                                # the name of the function
    .*?^\ {4}r?\"{3}(.+?)(?:\n\n|\"{3})         # the first paragraph of its docstring
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_MODULE = re.compile(r'\Ar?"""(.+?)(?:\n|""")')  # the first line of its docstring
_SKIPPED = {"shipped", "templates"}


@dataclass(frozen=True)
class Entry:
    """A command as it is declared in a file."""

    name: str  # with the program: `analysis coverage-gap`, `report claims check`
    module: str
    function: str
    summary: str
    group: str  # what the module says of itself
    stores: bool
    is_old: bool  # declared with the options of every command, as before the frame

    @property
    def words(self) -> list[str]:
        """The words behind the program."""
        return self.name.split(" ")[1:]


@cache
def entries(program: str) -> tuple[Entry, ...]:
    """The commands of a program, sorted by name."""
    files = _files(str(_PACKAGES / program))
    commands = [entry for path in files for entry in _read(program, path)]
    return tuple(sorted(commands, key=lambda entry: entry.name))


def all_entries() -> list[Entry]:
    """The commands of all programs."""
    return [entry for program in PROGRAMS for entry in entries(program)]


def find(name: str) -> Entry:
    """The command of that name, such as `report claims check`."""
    for entry in entries(name.partition(" ")[0]):
        if entry.name == name:
            return entry
    raise LookupError(name)


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as inside:
        for path in inside:
            if path.name.endswith(".py"):
                yield path.path
            elif path.is_dir() and path.name not in _SKIPPED:
                yield from _files(path.path)


def _read(program: str, path: str) -> Iterator[Entry]:
    """The commands of a file."""
    with open(path, "rb") as file:  # noqa: PTH123  (hundreds of files: Path.open takes twice as long)
        content = file.read()
    if b"command(" not in content:
        return
    text = content.decode()
    about = _MODULE.match(text)
    module = Path(path).relative_to(_PACKAGES).with_suffix("").as_posix().replace("/", ".")
    for old, name, options, function, summary in _COMMAND.findall(text):
        yield Entry(
            name=f"{program} {name}",
            module=f"faultatlas.{module}",
            function=function,
            summary=" ".join(summary.split()),
            group=about[1] if about else "",
            stores="stores=True" in options,
            is_old=bool(old),
        )


# --- the program as Typer runs it --------------------------------------------------------


class _Program(Group):
    """Lists commands with their summaries, and builds only the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, built(listed), rest


@cache
def application(program: str) -> Any:
    """The program as a click group; its commands are names with a summary until one is called."""
    top = _group(PROGRAMS[program])
    groups: dict[str, typer.Typer] = {}
    for entry in entries(program):
        *outer, name = entry.words
        parent = top
        if outer:
            if outer[0] not in groups:
                groups[outer[0]] = _group(entry.group)
                top.add_typer(groups[outer[0]], name=outer[0])
            parent = groups[outer[0]]
        parent.command(name, cls=Usage)(_nameplate(entry))
    top.callback()(_version)
    return typer.main.get_command(top)


def built(listed: Any) -> Any:
    """A listed command with its parameters."""
    entry = getattr(getattr(listed, "callback", None), "entry", None)
    if entry is None:  # a group
        return listed
    from faultatlas.report.command_line import build

    return build(entry)


def complete(program: str) -> Any:
    """The program with all commands built: for the reference, and for checks of every command."""
    return _completed(application(program))


def _completed(group: Any) -> Any:
    for name, listed in group.commands.items():
        is_group = hasattr(listed, "commands")
        group.commands[name] = _completed(listed) if is_group else built(listed)
    return group


def _group(about: str) -> typer.Typer:
    return typer.Typer(
        cls=_Program,
        help=about,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _nameplate(entry: Entry) -> Any:
    """A function that stands for a command in the list of a program."""

    def nameplate() -> None:
        """Never called."""

    nameplate.__doc__ = entry.summary
    vars(nameplate)["entry"] = entry
    return nameplate


def _version(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if version:
        from faultatlas.data.provenance import program_version

        typer.echo(f"faultatlas {program_version()}")
        raise typer.Exit


# --- how it ends -------------------------------------------------------------------------


def run(program: str) -> None:
    """Run a program with the words of the command line."""
    guarded(application(program))


def guarded(action: Callable[[], Any]) -> None:
    """Do it; an error that the user can act on becomes a message and exit code 1.

    A closed pipe (`analysis ... | head`) ends it quietly: typer and rich see to that.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # streams of a narrow encoding
    try:
        action()
    except StudyError as error:
        _fail(error)
    except OSError as error:
        if error.errno is None:  # a library's own kind of error, such as that of requests
            raise
        from faultatlas.report.console import explained

        _give_up_stdout()
        _fail(explained(error, "the output"))
    except SystemExit as end:
        if end.code == start.INTERRUPTED:  # what typer makes of Ctrl-C, without a message
            _tell_interrupted()
        raise
    except BaseException:
        if not start.was_interrupted():
            raise
        _tell_interrupted()
        sys.exit(start.INTERRUPTED)


def _tell_interrupted() -> None:
    from faultatlas.report.console import Console

    Console().tell("interrupted; what was stored is complete")


def _fail(error: StudyError) -> None:
    from faultatlas.report.console import Console

    Console().fail(error)
    sys.exit(1)


def _give_up_stdout() -> None:
    """Drop what standard output does not take: the interpreter would try it again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

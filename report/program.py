"""The four programs as Typer runs them, and what happens when one ends badly."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from faultatlas.data.errors import StudyError
from faultatlas.report.catalogue import PROGRAMS, Entry, entries
from faultatlas.report.usage import Group, Usage


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
    """A placeholder for a command in the list of a program."""

    def nameplate() -> None:
        """Never called."""

    nameplate.__doc__ = entry.summary
    vars(nameplate)["entry"] = entry
    return nameplate


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the value
    if wanted:
        from faultatlas.data.provenance import program_version

        typer.echo(f"faultatlas {program_version()}")
        raise typer.Exit


def _version(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Options of the program itself; `version` has ended it where it was given."""


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

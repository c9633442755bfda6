"""The Typer command of a command: its own options, and those of every command."""

from __future__ import annotations

import importlib
import inspect
from contextlib import redirect_stdout
from copy import copy
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer import Option

from faultatlas.report.catalogue import Entry
from faultatlas.report.command import Parameter
from faultatlas.report.console import Console
from faultatlas.report.invocation import Command, load
from faultatlas.report.start import raise_interrupts
from faultatlas.report.usage import Usage

_STUDY = Parameter(
    "study",
    Path,
    Path(),
    Option(
        "--study",
        envvar="STUDY",
        metavar="DIR",
        help="The study's directory.",
        show_default="the current directory",
    ),
)
_DRY_RUN = Parameter(
    "dry_run",
    bool,
    default=False,
    info=Option("--dry-run", help="Show what would happen; store nothing."),
)
_PRINTING = (
    Parameter(
        "as_json",
        bool,
        default=False,
        info=Option("--json", help="Print one JSON document; messages go to standard error."),
    ),
    Parameter(
        "quiet", bool, default=False, info=Option("--quiet", "-q", help="Print errors only.")
    ),
    Parameter(
        "verbose", bool, default=False, info=Option("--verbose", "-v", help="Print more detail.")
    ),
)


@cache
def build(entry: Entry) -> Any:
    """The Typer command that runs a command."""
    callback = _old(entry) if entry.is_old else _runner(load(entry))
    application = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    names = {"help_option_names": ["-h", "--help"]}
    application.command(entry.words[-1], cls=Usage, context_settings=names)(callback)
    return typer.main.get_command(application)


def _runner(command: Command) -> Any:
    """The function that Typer calls: it has the command's parameters and those of every command."""
    dry_run = (_DRY_RUN,) if command.has_dry_run else ()
    shared = (*dry_run, _STUDY, *_PRINTING)

    def run(**values: Any) -> None:
        raise_interrupts()
        frame = {parameter.name: values.pop(parameter.name) for parameter in shared}
        given = {name: value for name, value in values.items() if value is not None}
        console = Console(frame["as_json"], frame["quiet"], frame["verbose"])
        with redirect_stdout(console.stdout):
            result = command.run(
                frame["study"], given, console, dry_run=frame.get("dry_run", False)
            )
        console.show_result(result)
        if result.missing:
            raise typer.Exit(1)

    parameters = [_typed(parameter) for parameter in (*command.parameters.values(), *shared)]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = command.function.__doc__
    return run


def _old(entry: Entry) -> Any:
    """The function of a command that declares all its options itself."""
    function = getattr(importlib.import_module(entry.module), entry.function)

    def run(**values: Any) -> Any:
        raise_interrupts()
        return function(**values)

    signature = inspect.signature(function, eval_str=True)
    vars(run)["__signature__"] = signature
    run.__annotations__ = {name: part.annotation for name, part in signature.parameters.items()}
    run.__doc__ = function.__doc__
    return run


_choice: Any = partial(StrEnum, "Choice")  # Typer reads the values of an option from an Enum


def _typed(parameter: Parameter) -> inspect.Parameter:
    """A parameter for Typer, which knows lists but neither tuples nor lists of choices."""
    kind, default = parameter.type, parameter.default
    if get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis:
        item: Any = get_args(kind)[0]
        if get_origin(item) is Literal:
            item = _choice({name: name for name in get_args(item)})
        kind = list[item] | None
        default = default or None
    annotation: Any = Annotated[kind, copy(parameter.info)]
    return inspect.Parameter(
        parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )

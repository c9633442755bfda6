"""How a command is declared: one typed function, marked with `@command`.

The frame sets the parameters `study`, `console` and `run`, each where the function has it. Every
other one is an argument or an option, declared as `Annotated[type, Option(help=...), mark, ...]`.
The command line, Python and stored results go through the same validation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, Self, get_args, get_origin

from typer.models import ArgumentInfo, ParameterInfo

from faultatlas.data.errors import StudyError
from faultatlas.data.results import Result

if TYPE_CHECKING:
    from faultatlas.data.study import Study

P = ParamSpec("P")

FRAME = ("study", "console", "run")  # the parameters that the frame sets
REQUIRED = inspect.Parameter.empty  # the default of a parameter without one
_NOTHING = (None, "", (), False)


@dataclass(frozen=True)
class Declaration:
    """What the decorator says of a command.

    The result of a command that `stores` is kept in the study, can be computed again and gets a
    report in `out/`. A command that `writes` changes the study or another place by itself; it asks
    `study.dry_run` whether it should.
    """

    name: str  # without the program: `coverage-gap`, `taxonomy list`
    stores: bool = False
    writes: bool = False


def command(
    name: str, *, stores: bool = False, writes: bool = False
) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Make a function a command of the program whose package its file is in."""

    def mark(function: Callable[P, Result]) -> Callable[P, Result]:
        vars(function)["declaration"] = Declaration(name, stores, writes)
        return function

    return mark


# --- marks of a parameter ----------------------------------------------------------------


class Requires:
    """The option needs one of the named options, and others to have one of the given values."""

    def __init__(self, *names: str, **values: object) -> None:
        self.names = names
        self.values = {
            name: value if isinstance(value, tuple) else (value,) for name, value in values.items()
        }

    def check(self, parameter: Parameter, arguments: Mapping[str, Any], chosen: set[str]) -> None:
        """Raise StudyError if what the option needs is not there."""
        if self.names and chosen.isdisjoint(self.names):
            needed = " or ".join(map(option, self.names))
            raise StudyError(
                f"{parameter.label} needs {needed}", f"Add {needed}, or omit {parameter.label}."
            )
        for name, values in self.values.items():
            if arguments[name] not in values:
                needed = " or ".join(f"{option(name)} {value}" for value in values)
                raise StudyError(
                    f"{parameter.label} needs {needed}", f"Add it, or omit {parameter.label}."
                )


class Excludes:
    """The option cannot be combined with the named ones."""

    def __init__(self, *names: str, reason: str = "") -> None:
        self.names, self.reason = names, reason

    def check(self, parameter: Parameter, _arguments: Mapping[str, Any], chosen: set[str]) -> None:
        """Raise StudyError if one of the others was chosen as well."""
        for name in self.names:
            if name in chosen:
                reason = f": {self.reason}" if self.reason else ""
                raise StudyError(
                    f"{parameter.label} cannot be combined with {option(name)}{reason}",
                    "Omit one of them.",
                )


@dataclass(frozen=True)
class Resolved:
    """The value is looked up before the command runs; what was found is what is recorded.

    `--since 2026-01-01` becomes the run of that day, which stays the same when the result is
    computed again.
    """

    look_up: Callable[[Study, Mapping[str, Any]], Any]


class NotRecorded:
    """The value is not recorded with the run: it means something on this machine only."""


# --- parameters --------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """A parameter that the user sets."""

    name: str
    type: Any
    default: Any
    info: ParameterInfo  # typer.Argument or typer.Option
    marks: tuple[Any, ...] = ()

    @classmethod
    def from_signature(cls, parameter: inspect.Parameter) -> Self:
        """Read the annotation of a parameter."""
        if get_origin(parameter.annotation) is not Annotated:
            raise TypeError(f"{parameter.name} needs Annotated[type, Option(...)]")
        kind, info, *marks = get_args(parameter.annotation)
        return cls(parameter.name, kind, parameter.default, info, tuple(marks))

    @property
    def label(self) -> str:
        """The name in messages: `--any-label` or `PROJECT`."""
        if isinstance(self.info, ArgumentInfo):
            return str(self.info.metavar or self.name.upper())
        return option(self.name)

    def validated(self, value: Any) -> Any:
        """The value as the type of the parameter; raise StudyError for an invalid one."""
        from pydantic import Field, TypeAdapter, ValidationError

        kind: Any = self.type
        if self.info.min is not None or self.info.max is not None:
            kind = Annotated[self.type, Field(ge=self.info.min, le=self.info.max)]
        if get_origin(self.type) is tuple and isinstance(value, str):
            value = (value,)
        try:
            return TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise StudyError(
                f"{self.label}: {reason[0].lower()}{reason[1:]}", "See --help."
            ) from None

    def is_marked(self, mark: type) -> bool:
        """Whether the parameter has a mark of that kind."""
        return any(isinstance(each_mark, mark) for each_mark in self.marks)


def option(name: str) -> str:
    """The option of a parameter: `from_` is `--from`."""
    return f"--{name.strip('_').replace('_', '-')}"


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters that the user sets, by name."""
    signature = inspect.signature(function, eval_str=True)
    return {
        name: Parameter.from_signature(parameter)
        for name, parameter in signature.parameters.items()
        if name not in FRAME
    }


def validated(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments, with defaults for those not given; raise StudyError for an invalid one."""
    if unknown := sorted(given.keys() - parameters.keys()):
        raise StudyError(
            f"unknown argument {', '.join(unknown)}", f"Known: {', '.join(parameters)}."
        )
    arguments = {}
    for name, parameter in parameters.items():
        value = given.get(name, parameter.default)
        if value is REQUIRED:
            raise StudyError(f"{parameter.label} is missing", "See --help.")
        arguments[name] = value if value is parameter.default else parameter.validated(value)
    chosen = {name for name in arguments if arguments[name] != parameters[name].default}
    for kind in (Excludes, Requires):
        for name in parameters:
            for mark in parameters[name].marks if name in chosen else ():
                if isinstance(mark, kind):
                    mark.check(parameters[name], arguments, chosen)
    return arguments


def recorded(parameters: Mapping[str, Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as JSON values, as a run and a result keep them; what is empty is omitted."""
    from pydantic_core import to_jsonable_python

    return {
        name.strip("_"): to_jsonable_python(value)
        for name, value in arguments.items()
        if not parameters[name].is_marked(NotRecorded)
        and (value not in _NOTHING or value != parameters[name].default)
    }

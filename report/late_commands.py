"""Commands whose options are put together when they are called, not when the program starts.

Typer reads the parameters of every command before it looks at the first word of the line. For 25
commands that takes longer than the rest of `--help`, which needs only names and help lines: these
come from the name and the docstring of a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info
from typer.models import CommandFunctionType, CommandInfo

from faultatlas.report.usage import Command


class Application(typer.Typer):
    """A Typer program; a command of it knows its name and help, and reads the rest when asked."""

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Register a command, as typer does."""
        by_typer = super().command

        def register(function: CommandFunctionType) -> CommandFunctionType:
            whole = CommandInfo(name, cls=cls, callback=function, **settings)
            late = type("LateCommand", (_Late, cls or Command), {"whole": whole})
            by_typer(name, cls=late, **settings)(_nameplate(function))
            return function

        return register


class _Late(TyperCommand):
    """Lacks `params` and `callback` until somebody asks for them; every caller of a command does.

    Completion and the generated documentation ask as well, and so get what they always got.
    """

    whole: ClassVar[CommandInfo]

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        del self.params, self.callback

    def __getattr__(self, name: str) -> Any:
        """What is missing: Python calls this for nothing else."""
        if name not in {"params", "callback"}:
            raise AttributeError(name)
        built = get_command_from_info(
            self.whole, pretty_exceptions_short=True, rich_markup_mode=self.rich_markup_mode
        )
        self.params, self.callback = built.params, built.callback
        return getattr(self, name)


def _nameplate(function: Callable[..., Any]) -> Callable[[], None]:
    """A function without parameters that has the other's name and docstring."""

    def nothing() -> None:
        """Never called."""

    nothing.__name__, nothing.__doc__ = function.__name__, function.__doc__
    return nothing

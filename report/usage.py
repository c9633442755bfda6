"""How commands explain themselves: their help, and what is wrong with what was typed.

Typer's own words are a programmer's: it shows a flag as `<bool>`, a repeated option as
`<list[str]>`, and the message of a validator for a number that cannot be read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_EXAMPLES = re.compile(r"(?:^ {4}[^\n]+(?:\n\n?|$))+", re.MULTILINE)
_LIST = re.compile(r"list\[(.*)\]")
_OPTIONAL = re.compile(r"\[(\w+)\](?:\.\.\.)?")
_INVALID = {
    "int_parsing": "is not a whole number",
    "int_from_float": "is not a whole number",
    "float_parsing": "is not a number",
}


class Usage(TyperCommand):
    """A command that is explained in a user's words."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.help = _EXAMPLES.sub(_block, inspect.cleandoc(self.help or ""))

    def get_params(self, ctx: Any) -> Any:
        """The parameters as help shows them."""
        return [_explained(parameter, ctx) for parameter in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with our words for what cannot be read."""
        return _parsed(super().parse_args, ctx, args)


class Group(TyperGroup):
    """The same for a program with commands."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters as help shows them."""
        return [_explained(parameter, ctx) for parameter in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with our words for what cannot be read."""
        return _parsed(super().parse_args, ctx, args)


def _block(examples: re.Match[str]) -> str:
    """Fence indented examples: Typer would join them into one paragraph."""
    lines = [line.removeprefix("    ") for line in examples[0].splitlines() if line]
    return "\n".join(("```", *lines, "```", ""))


def _explained(parameter: Any, ctx: Any) -> Any:
    """Name no value of a flag, and one value of an option that can be repeated."""
    show_type = getattr(parameter, "display_type_rich", None)
    if show_type is None:  # an earlier Typer, which does it better
        return parameter
    shown = show_type(ctx) or ""
    words = "" if getattr(parameter, "is_flag", False) else _LIST.sub(r"\1", shown)
    if parameter.param_type_name == "argument":
        # Typer puts brackets of its own around what is optional.
        parameter.metavar = _OPTIONAL.sub(r"\1", parameter.metavar or "") or None
        parameter.display_type_rich = lambda ctx: words  # noqa: ARG005  (called by name)
    elif parameter.metavar is None:
        parameter.metavar = words
    return parameter


def _parsed(parse: Callable[[Any, list[str]], list[str]], ctx: Any, args: list[str]) -> list[str]:
    try:
        return parse(ctx, args)
    except typer.BadParameter as error:
        errors = getattr(error.__cause__, "errors", None)
        first = errors()[0] if errors else {}
        if reason := _INVALID.get(first.get("type", "")):
            error.message = f"'{first.get('input')}' {reason}."
        error.message = error.message.removeprefix("Value error, ")
        raise

"""How commands explain themselves: their help, and what is wrong with what was typed.

Typer's own words are those of a programmer: a flag is a `<bool>`, a repeated option a
`<list[str]>`, and a number that is none gets the message of a validator. Not for errors of the
work itself.
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
_WRONG = {
    "int_parsing": "is no whole number",
    "int_from_float": "is no whole number",
    "float_parsing": "is no number",
}


class Command(TyperCommand):
    """A command that is explained in a user's words."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.help = _EXAMPLES.sub(_block, inspect.cleandoc(self.help or ""))

    def get_params(self, ctx: Any) -> Any:
        """All of them, as help shows them."""
        return [_explained(param, ctx) for param in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As always; what cannot be read is said in our words."""
        return _parsed(super().parse_args, ctx, args)


def _block(examples: re.Match[str]) -> str:
    """Commands as a block of code, a line each; indented ones typer would take for a paragraph."""
    lines = [line.removeprefix("    ") for line in examples[0].splitlines() if line]
    return "\n".join(("```", *lines, "```", ""))


class Group(TyperGroup):
    """The same for a program with commands."""

    def get_params(self, ctx: Any) -> Any:
        """All of them, as help shows them."""
        return [_explained(param, ctx) for param in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As always; what cannot be read is said in our words."""
        return _parsed(super().parse_args, ctx, args)


def _explained(param: Any, ctx: Any) -> Any:
    """A flag has no value to name, and one value of a list is what is typed."""
    told = getattr(param, "display_type_rich", None)
    if told is None:  # an earlier typer, which says it better
        return param
    is_argument = param.param_type_name == "argument"
    shown = told(ctx) or ""
    said = "" if getattr(param, "is_flag", False) else _LIST.sub(r"\1", shown)
    if is_argument:
        # Typer puts its own brackets around what may be left out.
        param.metavar = _OPTIONAL.sub(r"\1", param.metavar or "") or None
        param.display_type_rich = lambda ctx: said  # noqa: ARG005  (it is called by name)
    elif param.metavar is None:
        param.metavar = said
    return param


def _parsed(parse: Callable[[Any, list[str]], list[str]], ctx: Any, args: list[str]) -> list[str]:
    try:
        return parse(ctx, args)
    except typer.BadParameter as error:
        found = getattr(error.__cause__, "errors", None)
        first = found()[0] if found else {}
        if wrong := _WRONG.get(first.get("type", "")):
            error.message = f"'{first.get('input')}' {wrong}."
        error.message = error.message.removeprefix("Value error, ")
        raise

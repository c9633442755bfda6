"""How commands of packages that are not rewritten yet are declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., None])


def old_command(_name: str) -> Callable[[F], F]:
    """Make a function with Typer's parameters a command of the program."""
    return lambda function: function

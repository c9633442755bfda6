"""The option `--round`: the same wherever the size of a sample is computed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Rounding(StrEnum):
    """How a computed size becomes a whole number."""

    nearest = "nearest"
    up = "up"


RoundOption = Annotated[
    Rounding | None,
    typer.Option("--round", help="Round it to the nearest number or up.", show_default="nearest"),
]

"""Start-up: `--help` of the four programs against that of a bare Typer application."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.measured import Line, Target, child, in_turn

BIN = Path(sys.executable).parent
PROGRAMS = ("miner", "annotation", "analysis", "report")
EMPTY_PROGRAM = """
import typer
app = typer.Typer()
@app.command()
def nothing() -> None: ...
@app.command()
def more() -> None: ...
app()
"""


def measures() -> Iterator[Line]:
    """The four programs and the empty one, in turn."""
    commands = [[BIN / program, "--help"] for program in PROGRAMS]
    commands.append([Path(sys.executable), "-c", EMPTY_PROGRAM, "--help"])
    *ours, empty = in_turn(
        *(partial(child, command) for command in commands), count=9, warm_up=True
    )
    for program, found in zip(PROGRAMS, ours, strict=True):
        yield Line(
            f"`{program} --help`", "a bare Typer application",
            tuple(each.cpu_s for each in found), tuple(each.cpu_s for each in empty),
            target=Target(ratio=1.2),
            why="More of our modules are imported than an empty program has.",
        )  # fmt: skip

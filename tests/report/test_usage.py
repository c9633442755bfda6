"""How commands explain themselves, and what is said of what cannot be read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from faultatlas.report.usage import Group, Usage


class Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


def made() -> typer.Typer:
    app = typer.Typer(
        cls=Group,
        help="A program.",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.command("run", cls=Usage)
    def run(
        bugs: Annotated[list[str] | None, typer.Argument(metavar="[BUG]...", help="Bugs.")] = None,
        sets: Annotated[list[str] | None, typer.Option("--set", help="Sets.")] = None,
        sample: Annotated[int | None, typer.Option(metavar="N", help="How many.")] = None,
        share: Annotated[float | None, typer.Option(metavar="X", help="How much.")] = None,
        device: Annotated[Device, typer.Option(help="Where.")] = Device.CPU,
        everything: Annotated[bool, typer.Option("--all", help="All of it.")] = False,  # noqa: FBT002
    ) -> None:
        """Run it.

        Examples:

            program run --all

            program run 'a/*'
        """
        typer.echo(f"{bugs} {sets} {sample} {share} {device} {everything}")

    @app.command("other", cls=Usage)
    def other() -> None:
        """Do something else."""

    return app


def printed(*words: str) -> str:
    ended = CliRunner().invoke(made(), ["run", *words])
    return ended.output


def test_help_names_no_types_of_a_programmer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = printed("--help")
    assert "[OPTIONS] [BUG]..." in text
    assert "<bool>" not in text
    assert "list[" not in text
    assert "<cpu|cuda>" in text
    (line,) = [line for line in text.splitlines() if "--all" in line and "All" in line]
    assert line.split() == ["│", "--all", "All", "of", "it.", "│"]


def test_examples_are_lines_below_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = [line.strip() for line in printed("--help").splitlines()]
    at = lines.index("program run --all")
    assert lines[at + 1] == "program run 'a/*'"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--sample", "ten"), "Invalid value for '--sample': 'ten' is not a whole number."),
        (("--share", "much"), "Invalid value for '--share': 'much' is not a number."),
        (("--device", "tpu"), "Invalid value for '--device': 'tpu' is not one of 'cpu', 'cuda'."),
    ],
)
def test_what_cannot_be_read_is_said_in_plain_words(
    words: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert told in " ".join(printed(*words).split())


def test_what_can_be_read_arrives() -> None:
    assert printed("a", "b", "--set", "s", "--sample", "3", "--all").split("\n")[0] == (
        "['a', 'b'] ['s'] 3 None cpu True"
    )

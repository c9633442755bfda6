"""Commands are put together when they are called: `--help` of a program needs names only."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperCommand
from typer.main import get_command
from typer.testing import CliRunner

from faultatlas.report import console, late_commands

SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the commands that were put together."""
    names: list[str] = []
    whole = late_commands.get_command_from_info

    def build(information: Any, **settings: Any) -> Any:
        command = whole(information, **settings)
        names.append(str(command.name))
        return command

    monkeypatch.setattr(late_commands, "get_command_from_info", build)
    return names


@pytest.mark.parametrize("program", ["miner", "annotation", "analysis", "report"])
def test_the_help_of_a_program_puts_no_command_together(program: str, built: list[str]) -> None:
    app = importlib.import_module(f"faultatlas.{program}.cli").app
    shown = CliRunner().invoke(app, ["--help"])
    assert (shown.exit_code, shown.stderr, built) == (0, "", [])
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert name in shown.stdout
        assert command.help.split()[0] in shown.stdout


def test_a_call_puts_together_what_it_calls_and_nothing_else(built: list[str]) -> None:
    app = importlib.import_module("faultatlas.annotation.cli").app
    shown = CliRunner().invoke(app, ["taxonomy", "show", "--help"])
    assert (shown.exit_code, built) == (0, ["show"])
    assert "Only this code and what is below it" in shown.stdout


def test_a_command_keeps_its_name_help_class_and_parameters() -> None:
    app = console.application("A program.")
    said: list[tuple[int, str]] = []

    class Own(TyperCommand):
        """A class that the command asked for."""

    @app.callback()
    def program() -> None:
        """A program."""

    @app.command(cls=Own, epilog="the end")
    def count_words(
        number: int, word: Annotated[str, typer.Option("--word", "-w", help="A word.")] = "x"
    ) -> None:
        """Count.

        More of it.
        """
        said.append((number, word))

    command = get_command(app).commands["count-words"]  # type: ignore[attr-defined]
    assert isinstance(command, Own)
    assert (command.help, command.epilog) == ("Count.\n\nMore of it.", "the end")
    assert [each.name for each in command.params] == ["number", "word"]
    assert CliRunner().invoke(app, ["count-words", "3", "-w", "y"]).exit_code == 0
    assert CliRunner().invoke(app, ["count-words", "three"]).exit_code == 2
    count_words(4)  # the function is still one
    assert said == [(3, "y"), (4, "x")]
    assert not hasattr(command, "nonsense")


@pytest.mark.parametrize(
    ("words", "found"),
    [("miner fe", "fetch"), ("miner fetch --lab", "--label"), ("annotation taxonomy sh", "show")],
)
def test_a_shell_completes_commands_and_options(words: str, found: str, tmp_path: Path) -> None:
    program, *rest = words.split()
    ended = subprocess.run(
        [SCRIPTS / program], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
        env={
            f"_{program.upper()}_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(rest)),
        },
    )  # fmt: skip
    assert found in ended.stdout.split()

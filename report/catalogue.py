"""Which commands there are, found in the text of the files, so that `--help` imports none of them.

A function marked `@command("name")` in any file of a package is a command of its program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROGRAMS = {
    "miner": "Bring evidence into a study: issues, commits, posts, papers; select and link it.",
    "annotation": "Draw samples, plan rounds, label in Label Studio or in sheets, measure "
    "agreement, settle disagreements, change taxonomies.",
    "analysis": "Analyse a study: every number has an interval and names its query.",
    "report": "Build the report of a study, check and trace its numbers, publish a package.",
}
_PACKAGES = Path(__file__).parent.parent
_COMMAND = re.compile(
    r"""
    ^@(old_)?command\(\s*"([\w -]+)"([^)]*)\)\n  # its kind, name and options
    def\ (\w+)\(                                # the name of the function
    .*?^\ {4}r?\"{3}(.+?)(?:\n\n|\"{3})         # the first paragraph of its docstring
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_MODULE = re.compile(r'\Ar?"""(.+?)(?:\n|""")')  # the first line of its docstring
_SKIPPED = {"shipped", "templates"}


@dataclass(frozen=True)
class Entry:
    """A command as it is declared in a file."""

    name: str  # with the program: `analysis coverage-gap`, `report claims check`
    module: str
    function: str
    summary: str
    group: str  # of a command of two words: the docstring of its package
    stores: bool
    is_old: bool  # declared with the options of every command, as before the frame

    @property
    def words(self) -> list[str]:
        """The words behind the program."""
        return self.name.split(" ")[1:]


@cache
def entries(program: str) -> tuple[Entry, ...]:
    """The commands of a program, sorted by name."""
    files = _files(str(_PACKAGES / program))
    commands = [entry for path in files for entry in _read(program, path)]
    return tuple(sorted(commands, key=lambda entry: entry.name))


def all_entries() -> list[Entry]:
    """The commands of all programs."""
    return [entry for program in PROGRAMS for entry in entries(program)]


def find(name: str) -> Entry:
    """The command of that name, such as `report claims check`."""
    for entry in entries(name.partition(" ")[0]):
        if entry.name == name:
            return entry
    raise LookupError(name)


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as inside:
        for path in inside:
            if path.name.endswith(".py"):
                yield path.path
            elif path.is_dir() and path.name not in _SKIPPED:
                yield from _files(path.path)


def _read(program: str, path: str) -> Iterator[Entry]:
    """The commands of a file."""
    with open(path, "rb") as file:  # noqa: PTH123  (hundreds of files: Path.open takes twice as long)
        content = file.read()
    if b"command(" not in content:
        return
    text = content.decode()
    about = _MODULE.match(text)
    commands = _COMMAND.findall(text)
    if any(" " in name and not old for old, name, *_rest in commands):  # such as claims check
        about = _MODULE.match(Path(path).with_name("__init__.py").read_text(encoding="utf-8"))
    module = Path(path).relative_to(_PACKAGES).with_suffix("").as_posix().replace("/", ".")
    for old, name, options, function, summary in commands:
        yield Entry(
            name=f"{program} {name}",
            module=f"faultatlas.{module}",
            function=function,
            summary=" ".join(summary.split()),
            group=about[1] if about else "",
            stores="stores=True" in options,
            is_old=bool(old),
        )

"""What a workspace will hold, and whether the commands find there what they name."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from faultatlas.analysis.reexecution.artifacts.content import check_files
from faultatlas.analysis.reexecution.artifacts.problems import Problem, quoted
from faultatlas.analysis.reexecution.artifacts.reading import FILE
from faultatlas.analysis.reexecution.bugs import Bug

CHECK = "[oracle] check"
_SHELLS = ("bash", "sh")
_TAKES_A_VALUE = ("-W", "-X", "-Q")  # of python


@dataclass(frozen=True)
class Workspace:
    """Paths of files inside it, and of the folders above them."""

    files: frozenset[str]
    folders: frozenset[str]


def planned(bug: Bug, side: str, shipped: Iterable[str], data: Iterable[str]) -> Workspace:
    """The workspace of a side: its files at its place, the data at theirs."""
    files = {posixpath.normpath(f"{bug.runs[side].place}/{path}") for path in shipped}
    files |= {posixpath.normpath(f"{bug.data_place}/{path}") for path in data}
    folders = {"."}
    for path in files:
        while path := posixpath.dirname(path):
            folders.add(path)
    return Workspace(frozenset(files), frozenset(folders))


def is_cleaned(path: str, globs: Iterable[str]) -> bool:
    """Whether a file of a side is taken away before a run: by itself, or a folder that it is in.

    A glob without `/` means names at any depth, one with `/` paths from the top.
    """
    plain = [glob.rstrip("/") for glob in globs]
    while path:
        name = posixpath.basename(path)
        for glob in plain:
            if fnmatchcase(path, glob) or ("/" not in glob and fnmatchcase(name, glob)):
                return True
        path = posixpath.dirname(path)
    return False


def twice(ours: Iterable[str], data: Iterable[str]) -> str:
    """A path of the workspace that a side and the data both have; '' where there is none.

    Neither may stand for the other: a program of the data would be run on both sides.
    """
    return min({*ours} & {*data}, default="")


def clash_problems(
    bug: Bug, side: str, shipped: Iterable[str], data: Iterable[str]
) -> Iterator[Problem]:
    """A file of the side and one of the data that would be one file of the workspace."""
    files = (posixpath.normpath(f"{bug.runs[side].place}/{path}") for path in shipped)
    ours = [path for path in files if not is_cleaned(path, bug.clean)]
    theirs = [posixpath.normpath(f"{bug.data_place}/{path}") for path in data]
    if path := twice(ours, theirs):
        yield Problem(
            side,
            f"{quoted(path)} would be in the workspace twice: from {side} and from data",
            f"Take one of them out, or give the side a place of its own ([run.{side}] place).",
        )


def command_problems(bug: Bug, side: str, workspace: Workspace) -> Iterator[Problem]:
    """A working directory or a script that is not there."""
    how, where = bug.runs[side], f"{FILE}: [run.{side}]"
    directory = posixpath.normpath(how.directory)
    if directory not in workspace.folders:
        yield Problem(
            where,
            f"directory {quoted(how.directory)} is no folder of the workspace",
            "Name a folder that the side or the data have.",
        )
        return
    commands = {f"command {number}": words for number, words in enumerate(how.commands, 1)}
    for called, command in {**commands, CHECK: bug.oracle.check}.items():
        named = _script(command)
        if named is None or (called == CHECK and named in check_files(bug)):
            continue
        path = posixpath.normpath(posixpath.join(directory, named))
        if path not in workspace.files and f"{path}/__main__.py" not in workspace.files:
            yield Problem(
                where,
                f"{called} names {quoted(named)}, which this side does not have",
                "Correct the command, or add the file.",
            )


def _script(command: tuple[str, ...]) -> str | None:
    """The file that a command runs; None where it names none, or one of the environment."""
    if not command:
        return None
    program, words = command[0], list(command[1:])
    if program.startswith("python"):
        return _of_python(words)
    if program in _SHELLS:
        script = next((word for word in words if not word.startswith("-")), None)
        return None if "-c" in words else script
    return program if "/" in program and not program.startswith("/") else None


def _of_python(words: list[str]) -> str | None:
    while words:
        word = words.pop(0)
        if word in {"-c", "-m", "-"}:
            return None
        if word in _TAKES_A_VALUE:
            del words[:1]
        elif not word.startswith("-"):
            return word
    return None

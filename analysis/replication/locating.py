"""Finds the files of a package in a folder: its own layout, or any that has the same files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from faultatlas.analysis.replication.figures import Wanted
from faultatlas.data.errors import StudyError

MOST_FILES = 20_000  # of a folder that is looked through
_LEFT_OUT = {"__MACOSX", ".git", "__pycache__"}


def located(folder: Path, wanted: Iterable[Wanted]) -> dict[str, tuple[Path, Wanted]]:
    """The files that are there, by the names that the study gives them."""
    if not folder.is_dir():
        raise StudyError(f"{folder} is no folder", "Name the folder of the package: --from DIR")
    paths = _files(folder)
    found: dict[str, tuple[Path, Wanted]] = {}
    for each in wanted:
        for name, path in _matching(paths, each).items():
            found.setdefault(name, (folder / path, each))
    return found


def _matching(paths: Sequence[PurePosixPath], wanted: Wanted) -> dict[str, PurePosixPath]:
    """By the first pattern that matches anything; of several copies the one nearest the top."""
    for place in wanted.places:
        pattern = PurePosixPath(place.lower())
        found: dict[str, PurePosixPath] = {}
        for path in paths:
            if _fits(path, pattern):
                found.setdefault(_name(path, pattern, wanted.name), path)
        if found:
            return found
    return {}


def _fits(path: PurePosixPath, pattern: PurePosixPath) -> bool:
    parts = [part.lower() for part in path.parts[-len(pattern.parts) :]]
    return len(parts) == len(pattern.parts) and all(map(fnmatchcase, parts, pattern.parts))


def _name(path: PurePosixPath, pattern: PurePosixPath, name: str) -> str:
    if "*" not in name:
        return name
    before, _star, after = pattern.name.partition("*")
    own = path.name[len(before) : len(path.name) - len(after)]
    return name.replace("*", own.lower())


def _files(folder: Path) -> list[PurePosixPath]:
    """Paths below the folder, those near the top first; links that lead out are not followed."""
    found: list[PurePosixPath] = []
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in _LEFT_OUT)
        here = Path(top).relative_to(folder)
        found += [
            PurePosixPath(here.as_posix(), name) for name in names if not name.startswith(".")
        ]
        if len(found) > MOST_FILES:
            raise StudyError(
                f"{folder} has more than {MOST_FILES:,} files",
                "Name the folder of the package itself.",
            )
    return sorted(found, key=lambda path: (len(path.parts), str(path)))

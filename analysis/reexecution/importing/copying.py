"""Copies a bug's files out of a set: no link is followed, nothing outside is read, sizes end."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.places import MOST_MB, PlaceError, leaves, walk
from faultatlas.analysis.reexecution.artifacts.problems import printable

__all__ = ["MOST_MB", "TooLargeError", "check_size", "copy", "megabytes"]


class TooLargeError(Exception):
    """A bug that is not imported; the text says its size."""


def megabytes(places: Iterable[Path]) -> float:
    """How large files and folders are together, links not counted."""
    total = 0
    for place in places:
        if place.is_symlink():
            continue
        if place.is_file():
            total += place.stat().st_size
        elif place.is_dir():
            total += sum(found.st_size for _, found in walk(place) if stat.S_ISREG(found.st_mode))
    return total / 1024 / 1024


def check_size(places: Iterable[Path]) -> None:
    """Raise TooLargeError for a bug that is over the limit."""
    size = megabytes(places)
    if size > MOST_MB:
        raise TooLargeError(f"has {size:,.0f} MB, more than {MOST_MB}: it was left out")


def copy(source: Path, target: Path) -> list[str]:
    """Copy a file or a folder; what was left out is said, a line each."""
    if source.is_symlink():
        return [f"{printable(source.name)} is a link: it was left out"]
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target, follow_symlinks=False)
        return []
    left_out: list[str] = []
    target.mkdir(parents=True, exist_ok=True)
    try:
        for path, found in walk(source):
            left_out += _one(source, path, found.st_mode, target / path)
    except PlaceError as error:
        left_out.append(f"{printable(source.name)}: {error}")
    return left_out


def _one(root: Path, path: str, mode: int, target: Path) -> list[str]:
    source = root / path
    name = f"{printable(root.name)}/{printable(path)}"
    if stat.S_ISLNK(mode):
        where = source.readlink()
        if where.is_absolute() or leaves(source, root):
            return [f"{name} is a link that leaves the folder: it was left out"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(where)
        return []
    if not stat.S_ISREG(mode):
        return [f"{name} is no plain file: it was left out"]
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target, follow_symlinks=False)
    if mode & stat.S_IXUSR:
        target.chmod(0o755)
    return []

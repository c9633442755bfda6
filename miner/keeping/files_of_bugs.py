"""The files of bugs and of their finished runs, for a backup: rows alone could not be run again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_BUGS, _RUNS = "bugs", "reexecution"  # folders of a study
_RECORD = "run.json"  # the last file of a run: without it the run goes on, or never ended
_LOCK, _WORKSPACE = "lock", "workspace"  # while it goes on


def files(directory: Path, most_bytes: int) -> tuple[dict[str, Path], list[str]]:
    """By their path in the study the files of bugs and runs; and what cannot be in a backup.

    That is what is no plain file, or larger than so many bytes, or has a name that is no text.
    """
    kept: dict[str, Path] = {}
    left_out: list[str] = []
    for path in (*_of_bugs(directory / _BUGS), *_of_runs(directory / _RUNS)):
        name = path.relative_to(directory).as_posix()
        try:
            name.encode()
            is_kept = not path.is_symlink() and path.is_file() and path.stat().st_size <= most_bytes
        except (OSError, UnicodeError):
            is_kept = False
        if is_kept:
            kept[name] = path
        else:
            left_out.append(name.encode(errors="backslashreplace").decode())
    return kept, left_out


def _of_bugs(home: Path) -> Iterator[Path]:
    """Not what an import is just making: its folder begins with a dot."""
    if home.is_symlink() or not home.is_dir():
        return
    for each in sorted(home.iterdir()):
        if not each.name.startswith("."):
            yield from _below(each)


def _of_runs(home: Path) -> Iterator[Path]:
    """Those that have ended: nothing of them changes any more."""
    if home.is_symlink():
        return
    for folder, names, found in os.walk(home):
        names.sort()
        if _RECORD in found:
            for path in _below(Path(folder)):
                if path.relative_to(folder).parts[0] not in {_LOCK, _WORKSPACE}:
                    yield path
            names.clear()


def _below(place: Path) -> Iterator[Path]:
    """Every file and link, in the order of names; links are not followed."""
    if place.is_symlink() or not place.is_dir():
        yield place
        return
    for folder, names, found in os.walk(place):
        names.sort()
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        yield from (Path(folder) / name for name in sorted([*found, *links]))

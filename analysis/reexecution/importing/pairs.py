"""Finds buggy and fixed versions that stand beside each other, at any depth."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OWN_FORMAT = "bug.toml"
_DEEPEST = 6
_MOST_FOLDERS = 20_000
_WHAT = r"(?:[-_ ](?:code|model|version))?"
_BUGGY = re.compile(rf"(?:(?P<stem>.*?)[-_ .])?(?:buggy|bug|faulty){_WHAT}", re.IGNORECASE)
_FIXED = re.compile(
    rf"(?:(?P<stem>.*?)[-_ .])?(?:fix|fixed|correct|corrected){_WHAT}", re.IGNORECASE
)


@dataclass(frozen=True)
class Pair:
    """Two versions: folders, or single scripts; `path` says where, below the set's folder."""

    path: str
    buggy: Path
    fixed: Path
    stem: str = ""


def find_pairs(root: Path) -> list[Pair]:
    """All pairs below a folder, sorted by path; without bugs of our own format, or links."""
    found: list[Pair] = []
    waiting = [(root, 0)]
    seen = 0
    while waiting:
        folder, depth = waiting.pop()
        seen += 1
        if seen > _MOST_FOLDERS:
            break
        entries = _entries(folder)
        if folder / OWN_FORMAT in entries:  # it says itself how it is run
            continue
        here = list(_of_folder(root, folder, entries))
        found += here
        taken = {path for pair in here for path in (pair.buggy, pair.fixed)}
        if depth < _DEEPEST:
            waiting += [
                (entry, depth + 1)
                for entry in entries
                if entry.is_dir()
                and not entry.name.startswith(".")
                and not any(_is_in(pair_side, entry) for pair_side in taken)
            ]
    return sorted(found, key=lambda pair: (pair.path, pair.stem))


def _is_in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if not entry.is_symlink())
    except OSError:
        return []


def _of_folder(root: Path, folder: Path, entries: list[Path]) -> Iterator[Pair]:
    buggy, fixed = {}, {}
    for entry in entries:
        if entry.is_file() and entry.suffix != ".py":
            continue
        name = entry.stem if entry.is_file() else entry.name
        kind = entry.suffix if entry.is_file() else "/"
        if match := _BUGGY.fullmatch(name):
            buggy[(match["stem"] or "").lower(), kind] = entry
        elif match := _FIXED.fullmatch(name):
            fixed[(match["stem"] or "").lower(), kind] = entry
    where = folder.relative_to(root).as_posix()
    for key in sorted({*buggy} & {*fixed}):
        pair = Pair("" if where == "." else where, buggy[key], fixed[key], key[0])
        yield from _collections(root, pair)


def _collections(root: Path, pair: Pair) -> Iterator[Pair]:
    """The pair itself; or, where both hold folders of the same names only, a pair for each."""
    if not pair.buggy.is_dir():
        yield pair
        return
    buggy, fixed = _entries(pair.buggy), {entry.name: entry for entry in _entries(pair.fixed)}
    scripts = [entry for entry in buggy if entry.is_file() and entry.suffix in {".py", ".ipynb"}]
    folders = [entry for entry in buggy if entry.is_dir() and not entry.name.startswith(".")]
    both = [entry for entry in folders if entry.name in fixed]
    if scripts or len(both) < 3 or len(both) < len(folders) / 2 or _is_a_project(pair.buggy):
        yield pair
        return
    for entry in both:
        where = pair.buggy.parent.relative_to(root).as_posix()
        yield Pair("" if where == "." else where, entry, fixed[entry.name], entry.name.lower())


def _is_a_project(folder: Path) -> bool:
    names = {entry.name.lower() for entry in _entries(folder)}
    return bool(names & {"setup.py", "readme.md", "readme.rst", "license", ".git", "__init__.py"})

"""Writes an imported bug to its folder, whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.content import DATA
from faultatlas.analysis.reexecution.artifacts.places import (
    PlaceError,
    digest,
    is_behind_link,
    walk,
)
from faultatlas.analysis.reexecution.artifacts.problems import printable
from faultatlas.analysis.reexecution.artifacts.reading import FILE, read
from faultatlas.analysis.reexecution.artifacts.writing import write
from faultatlas.analysis.reexecution.bugs import Bug, DataFile
from faultatlas.analysis.reexecution.importing.copying import TooLargeError, check_size, copy
from faultatlas.analysis.reexecution.importing.imported import Imported
from faultatlas.data.errors import StudyError

_MOST_DECLARED = 400  # files of data, so that bug.toml stays readable


def store(
    bug: Bug, into: Path, parts: Sequence[tuple[Path, str]], imported: Imported
) -> Bug | None:
    """Copy the parts (what, and where in the folder) and write the two files; None if it failed.

    A folder that is there already is left alone: a person may have mended it.
    """
    name = bug.bug_id.partition("/")[2]
    target, making = into / name, into / f".{name}.importing"
    if any(each.bug_id == bug.bug_id for each in imported.bugs):
        where = next((printable(source.parent.name) for source, _ in parts), "")
        imported.problems.append(
            f"a second {name}{f' (in {where})' if where else ''}: two of the set would have this "
            "name; rename its folder"
        )
        return None
    if (target / FILE).exists():
        imported.problems.append(f"{name}: is there already and was left as it is")
        found = read(target)
        imported.bugs.append(found)
        return found
    try:
        check_size(source for source, _ in parts)
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        for source, place in parts:
            imported.problems += [f"{name}: {each}" for each in copy(source, making / place)]
        whole = replace(bug, folder=making, data=_declared(bug, making / DATA))
        write(whole, making)
        read(making)
        if target.exists():
            shutil.rmtree(target)  # what an import left that was cut off
        making.rename(target)
    except (StudyError, TooLargeError, PlaceError, OSError) as error:
        shutil.rmtree(making, ignore_errors=True)
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        imported.problems.append(f"{name}: {printable(first)}")
        return None
    found = replace(whole, folder=target)
    imported.bugs.append(found)
    return found


def _declared(bug: Bug, data: Path) -> tuple[DataFile, ...]:
    """The files of `data/` with their digests, then those that are missing."""
    known = {file.path: file for file in bug.data}
    found: list[DataFile] = []
    for path, _ in walk(data) if data.is_dir() else ():
        if len(found) >= _MOST_DECLARED or not path.isprintable() or "\\" in path:
            continue
        if (data / path).is_symlink():
            continue
        said = known.pop(path, DataFile(path))
        found.append(replace(said, digest=digest(data / path)))
    return (*sorted(found, key=lambda file: file.path), *known.values())


def each_bug(
    root: Path, folders: Sequence[Path], import_one: Callable[[Path, Imported], None]
) -> Imported:
    """Import one after the other; a broken one is named, and the next one follows.

    What is a link below the set's root, or lies behind one, is left out and named.
    """
    imported = Imported()
    for folder in folders:
        if is_behind_link(folder, root):
            where = printable(folder.relative_to(root).as_posix())
            imported.problems.append(f"{where}: is a link, or behind one: it was left out")
            continue
        try:
            import_one(folder, imported)
        except (
            StudyError,
            PlaceError,
            TooLargeError,
            OSError,
            ValueError,
            RecursionError,
        ) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            imported.problems.append(f"{printable(folder.name)}: {printable(first)}")
    return imported

"""The hash of all that decides what is run: two bugs with one hash have the same runs.

What only decides how runs are judged is not in it: patterns and thresholds of the oracle, labels,
title. They may be mended, and what was run stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from faultatlas.analysis.reexecution.artifacts.places import (
    MOST_MB,
    PlaceError,
    UnreadableError,
    bounded,
    digest,
    leaves,
    refused,
    too_large,
    wrong_path,
)
from faultatlas.analysis.reexecution.bugs import SIDES, Bug

DATA = "data"
# Lines that may lead to files: -r more.txt, --find-links wheels, ./name-1.0.whl, name @ file:...
_NAMING = re.compile(r"^-|file:|\.(?:whl|zip|gz)\b")
_FORM = 1  # raised when the same content shall have another hash


def content_hash(bug: Bug) -> str:
    """SHA-256, in hexadecimal, of files, environment, commands and limits."""
    said: dict[str, Any] = {
        "form": _FORM,
        "python": bug.environment.python,
        "requirements": bug.environment.requirements,
        "repairs": bug.environment.repairs,
        "runs": {side: asdict(bug.runs[side]) for side in SIDES if side in bug.runs},
        "data_place": bug.data_place,
        "clean": bug.clean,
        "outputs": bug.outputs,
        "check": bug.oracle.check,
        "limits": asdict(bug.limits),
        "files": {place: files_of(bug.folder, place) for place in (*SIDES, DATA)},
    }
    if bug.data:
        said["data"] = sorted((each.path, each.digest) for each in bug.data)
    if named := _named_by_requirements(bug):
        said["named"] = named
    if checking := {word: _checking(bug.folder, word) for word in check_files(bug)}:
        said["checking"] = checking
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _named_by_requirements(bug: Bug) -> dict[str, str]:
    """Files of the bug's folder that its requirements name, with their digests."""
    if not any(_NAMING.search(line) for line in bug.environment.requirements):
        return {}
    from faultatlas.analysis.reexecution.environments.requirements import local_files

    home = bug.folder.resolve()
    names = [
        file.relative_to(home).as_posix()
        for file in local_files(bug.environment.requirements, bug.folder)
    ]
    return {_text(name): _checking(home, name) for name in names}


def check_files(bug: Bug) -> list[str]:
    """Words of the oracle's check command that name plain files of the bug's own folder.

    The command is given these, and not what a run left under their names.
    """
    words = dict.fromkeys(bug.oracle.check)
    inside = [word for word in words if not word.startswith("-") and not wrong_path(word)]
    return [word for word in inside if _is_plain(bug.folder, PurePosixPath(word))]


def _checking(folder: Path, word: str) -> str:
    found = (folder / word).lstat()
    if found.st_size > MOST_MB << 20:
        raise refused(folder, ".", too_large(word, found.st_size, found.st_size))
    return _known(folder / word, found)


def _is_plain(folder: Path, path: PurePosixPath) -> bool:
    """Whether it is a file, and no part of its path a link."""
    try:
        links = any((folder / above).is_symlink() for above in path.parents[:-1])
        return not links and stat.S_ISREG((folder / path).lstat().st_mode)
    except OSError:
        return False


def files_of(folder: Path, place: str) -> list[tuple[str, str, str]]:
    """Path, kind (file, link) and digest of what a side or `data` holds, sorted."""
    root = folder / place
    if root.is_symlink():
        raise refused(folder, place, PlaceError("is a link, not a folder"))
    if not root.is_dir():
        return []
    try:
        return sorted(_entry(root, path, found) for path, found in bounded(root))
    except UnreadableError as error:  # the host's fault is no property of the bug
        raise error.error from None
    except PlaceError as error:
        raise refused(folder, place, error) from None


def _entry(root: Path, path: str, found: os.stat_result) -> tuple[str, str, str]:
    file = root / path
    if stat.S_ISLNK(found.st_mode):
        if leaves(file, root):
            raise PlaceError(f"{path!r} is a link that leaves the folder")
        target = os.fsencode(file.readlink())
        return _text(path), "link", hashlib.sha256(target).hexdigest()
    if not stat.S_ISREG(found.st_mode):
        raise PlaceError(f"{path!r} is no plain file")
    return _text(path), "file", _known(file, found)


def _text(path: str) -> str:
    """Names of files need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _known(file: Path, found: os.stat_result) -> str:
    return _remembered(str(file), found.st_size, found.st_mtime_ns, found.st_ino)


@lru_cache(maxsize=100_000)
def _remembered(path: str, size: int, changed: int, number: int) -> str:
    """The digest of a file, computed again only when it changed."""
    del size, changed, number
    return digest(Path(path))

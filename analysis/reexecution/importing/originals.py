"""How a bug was when it was imported: whether a person has changed it since.

Beside the bugs of a study, `.imported/<set>/<name>` holds the digest of all files of a bug's
folder. Without it, or with another, the folder is somebody's work.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.places import PlaceError, bounded, digest

FOLDER = ".imported"
_LENGTH = 64


def fingerprint(folder: Path) -> str:
    """SHA-256 over paths and contents of all files; '' where one of them cannot be read."""
    hashing = hashlib.sha256()
    try:
        for path, found in bounded(folder):
            file = folder / path
            is_link = stat.S_ISLNK(found.st_mode)
            content = os.fsencode(file.readlink()).hex() if is_link else digest(file)
            hashing.update(f"{os.fsencode(path).hex()} {is_link} {content}\n".encode())
    except (OSError, PlaceError):
        return ""
    return hashing.hexdigest()


def remember(home: Path, bug_id: str, print_of: str) -> None:
    """A bug's folder is now as it came; written whole or not at all."""
    file = home / FOLDER / bug_id
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}")
    draft.write_text(print_of, encoding="ascii")
    draft.replace(file)


def remembered(home: Path, bug_id: str) -> str:
    """How it came; '' where nobody knows."""
    try:
        with (home / FOLDER / bug_id).open(encoding="ascii", errors="replace") as file:
            return file.read(_LENGTH)
    except OSError:
        return ""


def forget(home: Path, bug_id: str) -> None:
    """Nothing of it is known any more."""
    (home / FOLDER / bug_id).unlink(missing_ok=True)

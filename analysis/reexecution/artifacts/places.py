"""Files of a folder that a stranger filled: nothing outside of it is read, nothing waits."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from faultatlas.analysis.reexecution.artifacts.problems import printable, quoted
from faultatlas.data.errors import StudyError

IGNORED = frozenset({"__pycache__", ".git", ".DS_Store", ".ipynb_checkpoints"})
_LONGEST_PATH = 400
_DEEPEST = 40
_MOST_FILES = 200_000
_BLOCK = 1 << 20
MOST_MB = 500  # of the files of a bug: they are hashed, and copied for every run


class PlaceError(Exception):
    """A file that is not to be read; the text says why."""


class UnreadableError(PlaceError):
    """A folder that this host cannot read now; whether it is the folder's fault nobody knows."""

    def __init__(self, text: str, error: OSError) -> None:
        super().__init__(text)
        self.error = error


def wrong_path(text: str) -> str:
    """Why this is no path inside a folder; '' if it is one. Paths are written with `/`."""
    path = PurePosixPath(text)
    reasons = {
        "is empty": not text,
        f"has more than {_LONGEST_PATH} characters": len(text) > _LONGEST_PATH,
        "holds control characters": not text.isprintable(),
        "is written with \\; write /": "\\" in text,
        "is not relative to the folder": path.is_absolute() or text[1:2] == ":",
        "leaves the folder": ".." in path.parts,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def small_bytes(path: Path, most: int) -> bytes:
    """The bytes of a small plain file; nothing that waits, and nothing behind a link."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise PlaceError("is a link, not a file") from None
        raise PlaceError(f"cannot be read: {error.strerror}") from None
    with os.fdopen(number, "rb") as file:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise PlaceError("is no plain file")
        if found.st_size > most:
            raise PlaceError(f"has {found.st_size:,} bytes; {most:,} are accepted")
        content = file.read(most + 1)
    if len(content) > most:
        raise PlaceError(f"has more than {most:,} bytes")
    return content


def leaves(link: Path, root: Path) -> bool:
    """Whether a link leads out of the folder, or round in a circle."""
    try:
        target = link.resolve()
        home = root.resolve()
    except (OSError, RuntimeError):
        return True
    return not target.is_relative_to(home)


def is_behind_link(path: Path, root: Path) -> bool:
    """Whether a path below a folder is a link, or one of the folders on the way to it is."""
    below = path.relative_to(root)
    return any((root / each).is_symlink() for each in (below, *below.parents) if each.parts)


def walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Files and links below a folder, by path and sorted, with their `lstat`; follows no link.

    Caches of Python and of version control are passed over. Folders count only by what they hold.
    """
    count = 0
    waiting = [(root, "", 0)]
    while waiting:
        folder, prefix, depth = waiting.pop()
        if depth > _DEEPEST:
            raise PlaceError(f"{printable(prefix)} lies more than {_DEEPEST} folders deep")
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            text = f"{printable(prefix) or '.'}: {error.strerror}"
            if error.errno == errno.ENAMETOOLONG:  # on every host
                raise PlaceError(text) from None
            raise UnreadableError(text, error) from error
        below = []
        for entry in entries:
            if entry.name in IGNORED:
                continue
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                below.append((Path(entry.path), f"{path}/", depth + 1))
                continue
            count += 1
            if count > _MOST_FILES:
                raise PlaceError(f"there are more than {_MOST_FILES:,} files")
            yield path, entry.stat(follow_symlinks=False)
        waiting.extend(reversed(below))


def bounded(root: Path) -> list[tuple[str, os.stat_result]]:
    """The same of files that are not too large: whoever goes on to read them does not wait."""
    found = list(walk(root))
    sizes = {path: each.st_size for path, each in found if stat.S_ISREG(each.st_mode)}
    if sum(sizes.values()) > MOST_MB << 20:
        largest = max(sizes, key=lambda path: sizes[path])
        raise too_large(largest, sizes[largest], sum(sizes.values()))
    return found


def too_large(path: str, size: int, total: int) -> PlaceError:
    """Which file is to go, or to be made smaller."""
    more = f" ({total >> 20:,} MB with the others)" if total >> 20 > size >> 20 else ""
    return PlaceError(f"{quoted(path)} has {size >> 20:,} MB{more}; {MOST_MB} are accepted")


def digest(path: Path) -> str:
    """SHA-256 of a plain file's bytes, in hexadecimal."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise PlaceError("is no plain file")
    hashing = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hashing.update(block)
    return hashing.hexdigest()


def refused(folder: Path, where: str, error: PlaceError) -> StudyError:
    """The error that a user is shown."""
    return StudyError(
        f"{printable(str(folder / where))} {error}",
        "Bring the files into the bug's folder; `analysis reexecute --validate` names all of them.",
    )

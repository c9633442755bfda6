"""A folder of output that is replaced as a whole, so that it is never half old, half new.

Knows nothing of what is in it but the names that the earlier run wrote. What a user
put beside them is kept, and a folder that is not ours is not touched. Processes that
replace the same folder take turns, and what a killed one left is put right by the next.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def replacing(folder: Path, earlier: Callable[[Path], set[str]]) -> Iterator[Path]:
    """A new folder to write into; it takes the place of `folder` when all went well.

    `earlier` finds the files of the earlier run: they vanish, everything else stays.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _turn(folder):
        # A sibling, because a rename is atomic only within one file system.
        workshop = folder.with_name(f".{folder.name}.workshop")
        _put_right(workshop, folder)
        vanishing = earlier(folder)
        workshop.mkdir()
        try:
            new = workshop / "new"
            new.mkdir()
            yield new
            if folder.exists():
                _carry_over(folder, new, vanishing)
            _swap(folder, new, workshop / "old")
        finally:
            shutil.rmtree(workshop, ignore_errors=True)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Wait until no other process replaces the folder; a killed one holds no lock any more."""
    path = folder.with_name(f".{folder.name}.lock")
    while True:
        with path.open("ab") as file:
            _lock(file.fileno())
            if not _is_at(path, file.fileno()):
                continue  # whoever had it before has removed it: this is a lock on no file
            try:
                yield
            finally:
                with suppress(PermissionError):  # Windows keeps what is open, for the next one
                    path.unlink()
            return


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _put_right(workshop: Path, folder: Path) -> None:
    """Clear the workshop of a killed run; if it had just moved the folder away, put it back."""
    old = workshop / "old"
    if old.exists() and not folder.exists():
        old.rename(folder)
    if workshop.exists():
        shutil.rmtree(workshop)


def _carry_over(folder: Path, new: Path, vanishing: set[str]) -> None:
    for entry in folder.iterdir():
        target = new / entry.name
        if entry.name in vanishing or target.exists():
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target, symlinks=True)
        else:
            shutil.copy2(entry, target, follow_symlinks=False)


def _swap(folder: Path, new: Path, old: Path) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    folder.rename(old)
    try:
        new.rename(folder)
    except BaseException:
        old.rename(folder)
        raise

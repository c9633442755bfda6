"""A folder of output that is replaced as a whole, so that it is never half old, half new.

Knows nothing of what is in it but the names that the earlier run wrote. What a user
put beside them is kept, and a folder that is not ours is not touched.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(folder: Path, earlier: set[str]) -> Iterator[Path]:
    """A new folder to write into; it takes the place of `folder` when all went well.

    `earlier` are the files of the earlier run: they vanish, everything else stays.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A sibling, because a rename is atomic only within one file system.
    workshop = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        new = workshop / "new"
        new.mkdir()
        yield new
        if folder.exists():
            _carry_over(folder, new, earlier)
        _swap(folder, new, workshop / "old")
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _carry_over(folder: Path, new: Path, earlier: set[str]) -> None:
    for entry in folder.iterdir():
        target = new / entry.name
        if entry.name in earlier or target.exists():
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

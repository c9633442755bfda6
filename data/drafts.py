"""Drafts: files that get their name when they are whole, named after the process that writes them.

A process that is killed leaves its draft behind; the next one that looks removes it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def put(target: Path, make: Callable[[Path], object]) -> bool:
    """Whether the file was made. It appears whole or, on a full disk, not at all; one that is
    there already, perhaps since a moment ago from another process, stays.
    """
    draft = target.with_name(f"{target.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)  # of a process that had this number and was killed
    try:
        make(draft)
        return _named(draft, target)
    finally:
        draft.unlink(missing_ok=True)
        draft.with_name(f"{draft.name}.wal").unlink(missing_ok=True)


def drop_abandoned(folder: Path, name: str) -> None:
    """Remove the drafts `name.PROCESS.new`, and their logs, of processes that have ended."""
    for end in (".new", ".new.wal"):
        for draft in folder.glob(f"{glob.escape(name)}.*{end}"):
            process = draft.name.removesuffix(end).rpartition(".")[2]
            if not is_running(process):
                with suppress(OSError):  # somebody else's: it harms nobody
                    draft.unlink()


def is_running(process: str) -> bool:
    """Also where that cannot be known: what is no draft of ours is left alone."""
    if not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _named(draft: Path, target: Path) -> bool:
    """Whether the draft got its name; unlike a renamed one, a link replaces nothing."""
    try:
        os.link(draft, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links, such as exFAT
        if target.exists():
            return False
        draft.rename(target)
    return True

"""Drafts: files that get their name when they are whole, named after the process that writes them.

A process that is killed leaves its draft behind; the next one that looks removes it.
"""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path


def drop_abandoned(folder: Path, name: str) -> None:
    """Remove the drafts `name.PROCESS.new`, and their logs, of processes that have ended."""
    for end in (".new", ".new.wal"):
        for draft in folder.glob(f"{glob.escape(name)}.*{end}"):
            process = draft.name.removesuffix(end).rpartition(".")[2]
            if not _is_running(process):
                with suppress(OSError):  # somebody else's: it harms nobody
                    draft.unlink()


def _is_running(process: str) -> bool:
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

"""The files of bugs that are about something forgotten: what was imported, and what runs left."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_FOLDERS = ("bugs", "reexecution")  # of a study: <set>/<name> in both
# A study that somebody sent may call a bug anything.
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*")


def bugs_about(reader: Reader) -> set[str]:
    """The bugs that are about an artifact."""
    rows = reader.rows("SELECT bug_id FROM store.bug WHERE artifact_id IS NOT NULL")
    return {row["bug_id"] for row in rows}


def remove_folders(directory: Path, bug_ids: Iterable[str]) -> None:
    """Remove the folders of these bugs from a study."""
    for bug_id in sorted(bug_ids):
        if not _ID.fullmatch(bug_id):
            continue
        for each in _FOLDERS:
            folder = directory / each / bug_id
            if folder.parent.is_symlink() or folder.is_symlink() or not folder.is_dir():
                continue
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise StudyError(
                    f"{folder} cannot be removed: {error.strerror}",
                    "Remove it, then run this again. Nothing was forgotten yet.",
                ) from error

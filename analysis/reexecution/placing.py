"""The folder of a bug gets its place: whole under <study>/bugs/<set>/<name>, or not at all.

It is made beside, and renamed. What a person changed there since is never overwritten.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.analysis.reexecution import storing
from faultatlas.analysis.reexecution.artifacts import places
from faultatlas.analysis.reexecution.artifacts.problems import printable
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.importing import originals
from faultatlas.report.console import explained

if TYPE_CHECKING:
    from faultatlas.data.study import Study

_DRAFTS = ".importing-"


@contextmanager
def drafts_of(study: Study) -> Iterator[Path]:
    """A folder beside the bugs, where they are made; what killed imports left is removed."""
    home = study.directory / storing.FOLDER
    try:
        with study.writing():  # the study is there before anything lies in it
            pass
        home.mkdir(parents=True, exist_ok=True)
        for old in home.glob(f"{_DRAFTS}*"):
            _remove_if_dead(old)
        drafts, lock = _new_drafts(home)
        try:
            yield drafts
        finally:
            shutil.rmtree(drafts, ignore_errors=True)
            os.close(lock)
    except OSError as error:
        raise explained(error, home) from error


def _new_drafts(home: Path) -> tuple[Path, int]:
    """A folder and the lock on it, which says that somebody is at work there."""
    while True:
        drafts = Path(tempfile.mkdtemp(prefix=_DRAFTS, dir=home))
        lock = os.open(drafts, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if drafts.is_dir():
            return drafts, lock
        os.close(lock)  # another import swept it before it was locked


def _remove_if_dead(drafts: Path) -> None:
    """Remove what a killed import left: a process number says nothing, the next may have it."""
    try:
        lock = os.open(drafts, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(drafts, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(lock)


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """While this lasts no other import gives folders their place."""
    lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def placed(bug: Bug, home: Path, drafts: Path) -> str:
    """Give a bug's folder its place; what became of it: new, changed, unchanged, kept."""
    draft, target = bug.folder, home / bug.bug_id
    coming = originals.fingerprint(draft)
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.rename(target)
        originals.remember(home, bug.bug_id, coming)
        return "new"
    there, came = originals.fingerprint(target), originals.remembered(home, bug.bug_id)
    if there == coming:
        originals.remember(home, bug.bug_id, coming)
        return "unchanged"
    if there != came:  # a person changed it, or put it there
        return "kept"
    target.rename(drafts / f"old-{bug.set_name}-{target.name}")
    draft.rename(target)
    originals.remember(home, bug.bug_id, coming)
    return "changed"


def copy(source: Path, draft: Path) -> Iterator[str]:
    """Plain files, and links that stay inside; what is left out is told."""
    draft.mkdir()
    for path, found in places.walk(source):
        origin, target = source / path, draft / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISREG(found.st_mode):
            shutil.copy2(origin, target, follow_symlinks=False)
            continue
        if stat.S_ISLNK(found.st_mode) and not origin.readlink().is_absolute():
            target.symlink_to(origin.readlink())
            if not places.leaves(target, draft):
                continue
            target.unlink()
        yield f"{printable(path)} was left out: it is no plain file of the folder"

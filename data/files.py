"""Files that appear complete or not at all, folders that are replaced as a whole, and locks.

A draft is named after the process that writes it: `NAME.PROCESS.new`. A process that is killed
leaves its draft behind, and the next one that looks removes it.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from faultatlas.data.database_errors import pauses

PRIVATE = 0o600
_NOT_NOW = {errno.EMFILE, errno.ENFILE, errno.EINTR}


# --- files -------------------------------------------------------------------------------


def create_once(target: Path, make: Callable[[Path], object]) -> bool:
    """Make a file that only its user can read; return False if it was there already.

    It appears complete or, on a full disk, not at all. One that is there, perhaps since a moment
    ago from another process, stays.
    """
    draft = target.with_name(f"{target.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)  # of a process that had this number and was killed
    try:
        make(draft)
        draft.chmod(PRIVATE)
        return _named(draft, target)
    finally:
        draft.unlink(missing_ok=True)
        draft.with_name(f"{draft.name}.wal").unlink(missing_ok=True)


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


def drop_abandoned(folder: Path, name: str) -> None:
    """Remove drafts of a file, and their logs, of processes that have ended."""
    for end in (".new", ".new.wal"):
        for draft in folder.glob(f"{glob.escape(name)}.*{end}"):
            process = draft.name.removesuffix(end).rpartition(".")[2]
            if not is_running(process):
                with suppress(OSError):  # somebody else's: it harms nobody
                    draft.unlink()


def is_running(process: str) -> bool:
    """Whether a process runs, or may run: a file that is no draft of ours is left alone."""
    if not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def take_place(draft: Path, target: Path) -> None:
    """Give a finished draft the name and the permissions of a file, at once and for good."""
    shutil.copymode(target, draft)
    draft.replace(target)
    with suppress(OSError):  # where a directory cannot be opened, the system sees to it
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


# --- locks -------------------------------------------------------------------------------


class Lock:
    """A lock of the kernel: it ends with the process, however that ends.

    It is on a directory, or on a file that is there as long as somebody has the lock or wants it.
    Where nothing can be locked, it holds nobody up.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self, *, shared: bool = False) -> bool:
        """Take the lock if it is free."""
        try:
            import fcntl
        except ImportError:  # Windows, where nobody can write to an opened file
            return True
        is_folder = self._path.is_dir()
        flags = os.O_RDONLY if is_folder else os.O_RDWR | os.O_CREAT
        while True:
            try:
                handle = os.open(self._path, flags | os.O_CLOEXEC, PRIVATE)
            except OSError as error:
                # Nothing can be written here, so nothing will be; but a lock that another user
                # has made is one.
                return error.errno not in _NOT_NOW and not (
                    error.errno == errno.EACCES and self._path.exists() and not is_folder
                )
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return False
            except OSError:  # a disk without locks
                os.close(handle)
                return True
            if is_folder or _is_at(self._path, handle):
                self._handle = handle
                return True
            os.close(handle)  # whoever had it before has removed it: this is a lock on no file

    def owner(self) -> int:
        """The process that has it; 0 if the system does not say."""
        with suppress(OSError, ValueError):
            inode = str(self._path.stat().st_ino)
            for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
                _number, kind, _advisory, _mode, process, place, *_range = line.split()
                if kind == "FLOCK" and place.rpartition(":")[2] == inode:
                    return int(process)
        return 0

    def release(self) -> None:
        """Give it up, if it was taken."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        with suppress(OSError):
            import fcntl

            if not self._path.is_dir():
                self._path.unlink()
            fcntl.flock(handle, fcntl.LOCK_UN)  # also of a child that was forked meanwhile
        os.close(handle)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def hashed(name: str) -> str:
    """A short file name for any text."""
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:16]


# --- folders -----------------------------------------------------------------------------


@contextmanager
def replace_folder(folder: Path, earlier: Callable[[Path], set[str]]) -> Iterator[Path]:
    """Yield a new folder to write into; it takes the place of `folder` if all goes well.

    `earlier` finds the files of the earlier run: they go, everything else stays. The folder is
    never half old and half new. Processes that replace the same folder take turns, and what a
    killed one left is put right by the next.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder.with_name(f".{folder.name}.lock"))
    for pause in pauses():
        if lock.acquire():
            break
        time.sleep(pause)
    try:
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
            _put_right(workshop, folder)  # also after Ctrl-C between the two renames
    finally:
        lock.release()


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

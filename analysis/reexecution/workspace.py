"""A private copy of what one run needs, and afterwards what became of it.

The bug's own folder is never given to a run: files are copied (or cloned, where the file system
shares blocks until one is written), so that no run can change what the next one starts from.
What a run leaves is looked at without following links, and removed whatever it looks like.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import posixpath
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from faultatlas.analysis.reexecution.artifacts.content import files_of
from faultatlas.analysis.reexecution.artifacts.places import (
    PlaceError,
    UnreadableError,
    leaves,
    walk,
    wrong_path,
)
from faultatlas.analysis.reexecution.artifacts.problems import printable
from faultatlas.analysis.reexecution.artifacts.workspaces import is_cleaned, twice
from faultatlas.analysis.reexecution.bugs import Bug, Commands
from faultatlas.data.errors import StudyError

FRESH, STALE, MISSING = "fresh", "stale", "missing"
_BLOCK = 1 << 20
_SCRIPTS = (".py", ".ipynb", ".sh")
_HELD = 32  # folders that are open at once while one is removed
_ROOM = 32 << 20  # bytes that a host must have left beside the copy
_DATED = 946_684_800 * 10**9  # 2000-01-01 UTC: all files begin with it, so any write is seen
_HINT = "`analysis reexecute --validate` names all that is wrong with a bug's folder."
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FILE = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV})  # a link, a socket, a device
_NOT_HERE = frozenset({errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM})


class DataError(Exception):
    """A declared file is missing, or has another checksum; the text names it."""


@dataclass(frozen=True)
class Workspace:
    """Where a run works; inside the sandbox it is /bug."""

    folder: Path
    before: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # of watched files
    source_bytes: int = 0  # of the side's program


@dataclass(frozen=True)
class _Wanted:
    """A file of the artifact, and where in the workspace it goes."""

    source: Path
    path: str
    found: os.stat_result


def make(bug: Bug, side: str, folder: Path) -> Workspace:
    """Copy one side and the data into a folder that is not there yet.

    Raises StudyError for what is wrong with the artifact, OSError for the host.
    """
    commands = bug.runs[side]
    ours = _side_files(bug, side, commands)
    data = _files(bug, "data", bug.data_place)
    if path := twice((each.path for each in ours), (each.path for each in data)):
        raise StudyError(
            f"{bug.bug_id}: {printable(path)} would be in the workspace twice: from {side} and "
            "from data",
            _HINT,
        )
    _room_for([*ours, *data], folder.parent)
    folder.mkdir()
    folder.chmod(0o755)
    made = {"."}
    links = []
    for each in [*ours, *data]:
        if stat.S_ISLNK(each.found.st_mode):
            links.append(each)
        else:
            _copy(bug, each, folder, made)
    # Last, so that nothing is ever written through one.
    for each in links:
        _link(bug, each, folder, made)
    for each in links:
        if leaves(folder / each.path, folder):
            raise _refused(bug, each.source, "is a link that leaves the bug's files")
    if not (folder / _checked(bug, commands.directory)).is_dir():
        _folder(bug, folder, commands.directory, made)
    before = {path: _state(folder, path) for path in watched(bug)}
    there = {path: found for path, found in before.items() if found}
    return Workspace(folder, there, _program_bytes(ours, commands))


def _program_bytes(ours: list[_Wanted], commands: Commands) -> int:
    """How large the side's program is: its scripts and what its commands name, else all its files.

    A README beside an empty script makes no program of it, nor do blank lines in it.
    """
    files = [each for each in ours if stat.S_ISREG(each.found.st_mode)]
    named = {
        posixpath.normpath(posixpath.join(commands.directory, word))
        for command in commands.commands
        for word in command
    }
    programs = [each for each in files if each.path.endswith(_SCRIPTS) or each.path in named]
    return sum(_bytes_of(each) for each in programs or files)


def _bytes_of(file: _Wanted) -> int:
    size = file.found.st_size
    return 0 if size <= _BLOCK and not file.source.read_bytes().strip() else size


def watched(bug: Bug) -> tuple[str, ...]:
    """The files that a run shall write: the declared ones, and the one that the oracle reads."""
    return tuple(dict.fromkeys([*bug.outputs, *([bug.oracle.file] if bug.oracle.file else [])]))


def check_data(bug: Bug) -> None:
    """Whether every declared file is there with its checksum."""
    if not bug.data:
        return
    there = {path: digest for path, kind, digest in files_of(bug.folder, "data") if kind == "file"}
    for each in bug.data:
        name = f"data/{printable(each.path)}"
        found = there.get(posixpath.normpath(each.path))
        if found is None:
            source = f"; it comes from {printable(each.source)}" if each.source else ""
            raise DataError(f"{name} is missing{source}")
        if each.digest and each.digest != found:
            raise DataError(f"{name} has another checksum than declared")


def states(workspace: Workspace, bug: Bug) -> dict[str, str]:
    """What became of each watched file: fresh (written by the run), stale, missing."""
    found = {}
    for path in watched(bug):
        with reading(workspace.folder, path) as file:
            if file is None:
                found[path] = MISSING
            else:
                before = workspace.before.get(path)
                found[path] = STALE if before and _is_as_it_was(file, before) else FRESH
    return found


def _is_as_it_was(file: BinaryIO, before: tuple[str, int, int]) -> bool:
    """Read only where nothing else tells: a run may leave giants."""
    found = os.fstat(file.fileno())
    return (found.st_mtime_ns, found.st_ino) == before[1:] and _hashed(file.fileno()) == before[0]


@contextlib.contextmanager
def reading(folder: Path, path: str) -> Iterator[BinaryIO | None]:
    """A plain file that a run left, or None: nothing behind a link, nothing that waits."""
    try:
        number = _opened(folder, path)
    except OSError:
        number = None
    if number is None:
        yield None
        return
    with os.fdopen(number, "rb") as file:
        yield file


def remove(folder: Path) -> None:
    """Delete a folder whatever a run made of it: modes, names, depth; follows no link.

    What lies very deep is first moved to the top, so that neither paths nor descriptors run out.
    """
    try:
        root = _open_folder(str(folder), None)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        folder.unlink()
        return
    try:
        os.fchmod(root, 0o700)
        numbers = count(1)
        while names := _emptied(root):
            for name in names:
                _remove_below(name, root, root, numbers, 1)
    finally:
        os.close(root)
    folder.rmdir()


def _remove_below(name: str, parent: int, root: int, numbers: Iterator[int], depth: int) -> None:
    below = _open_folder(name, parent)
    try:
        for deeper in _emptied(below):
            if depth < _HELD:
                _remove_below(deeper, below, root, numbers, depth + 1)
            else:
                os.chmod(deeper, 0o700, dir_fd=below)
                _move(deeper, below, root, numbers)
    finally:
        os.close(below)
    os.rmdir(name, dir_fd=parent)


def _emptied(folder: int) -> list[str]:
    """The folders in a folder; all else in it is deleted."""
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
    return [name for name, is_folder in found if is_folder]


def _move(name: str, source: int, root: int, numbers: Iterator[int]) -> None:
    """To the top, under a number that is free there."""
    for number in numbers:
        try:
            os.mkdir(str(number), 0o700, dir_fd=root)
        except FileExistsError:
            continue
        os.rename(name, str(number), src_dir_fd=source, dst_dir_fd=root)
        return


def _open_folder(name: str, parent: int | None) -> int:
    try:
        number = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        number = os.open(name, _DIRECTORY, dir_fd=parent)
    os.fchmod(number, 0o700)
    return number


def _side_files(bug: Bug, side: str, commands: Commands) -> list[_Wanted]:
    if not (bug.folder / side).is_dir():
        raise _refused(bug, bug.folder / side, "is missing")
    return [
        each for each in _files(bug, side, commands.place) if not is_cleaned(each.path, bug.clean)
    ]


def _above(path: str) -> list[PurePosixPath]:
    """The path and the folders it lies in, without the workspace itself."""
    whole = PurePosixPath(path)
    return [each for each in (whole, *whole.parents) if each.parts]


def _files(bug: Bug, part: str, place: str) -> list[_Wanted]:
    root = bug.folder / part
    if root.is_symlink():
        raise _refused(bug, root, "is a link, not a folder")
    if not root.is_dir():
        return []
    at = PurePosixPath(_checked(bug, place))
    try:
        return [_Wanted(root / path, str(at / path), found) for path, found in walk(root)]
    except UnreadableError as error:
        raise error.error from None
    except PlaceError as error:
        raise _refused(bug, root, str(error)) from None


def _checked(bug: Bug, place: str) -> str:
    if why := wrong_path(place):
        raise StudyError(f"{bug.bug_id}: the place {printable(place)!r} {why}", _HINT)
    return place


def _refused(bug: Bug, path: Path, why: str) -> StudyError:
    """Names the file within the bug's folder: no path of the host is recorded."""
    name = path.relative_to(bug.folder).as_posix()
    return StudyError(f"{bug.bug_id}: {printable(name)} {why}", _HINT)


def _room_for(files: list[_Wanted], where: Path) -> None:
    """Sparse files may say any size: the disk is not filled to learn that they do not fit."""
    size = sum(each.found.st_size for each in files)
    left = shutil.disk_usage(where).free
    if size + _ROOM > left:
        raise OSError(
            errno.ENOSPC,
            f"a copy of {size / 1e6:,.0f} MB is needed and {left / 1e6:,.0f} MB are left",
        )


def _folder(bug: Bug, root: Path, path: str, made: set[str]) -> None:
    """Make a folder of the workspace and those above it."""
    if path in made:
        return
    for each in reversed(_above(path)):
        name = str(each)
        if name not in made:
            try:
                (root / name).mkdir(exist_ok=True)
            except FileExistsError:
                raise _in_the_way(bug, name) from None
            (root / name).chmod(0o755)
            made.add(name)


def _in_the_way(bug: Bug, path: str) -> StudyError:
    return StudyError(
        f"{bug.bug_id}: {printable(path)} would be a file and a folder of the workspace", _HINT
    )


def _copy(bug: Bug, wanted: _Wanted, folder: Path, made: set[str]) -> None:
    _folder(bug, folder, str(PurePosixPath(wanted.path).parent), made)
    to = folder / wanted.path
    if wanted.path in made:
        raise _in_the_way(bug, wanted.path)
    try:
        source = os.open(wanted.source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        raise _refused(bug, wanted.source, "is no plain file") from None
    try:
        found = os.fstat(source)
        if not stat.S_ISREG(found.st_mode):
            raise _refused(bug, wanted.source, "is no plain file")
        mode = 0o755 if found.st_mode & 0o111 else 0o644
        target = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _bytes(source, target, found.st_size)
            os.fchmod(target, mode)
            os.utime(target, ns=(_DATED, _DATED))
        finally:
            os.close(target)
    finally:
        os.close(source)


def _bytes(source: int, target: int, size: int) -> None:
    """Let the kernel copy, which clones where the file system can; else read and write."""
    while size > 0 and hasattr(os, "copy_file_range"):
        try:
            done = os.copy_file_range(source, target, size)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
            break
        if not done:
            break
        size -= done
    while block := os.read(source, _BLOCK):  # both stand where the kernel stopped
        with memoryview(block) as view:
            written = 0
            while written < len(view):
                written += os.write(target, view[written:])


def _link(bug: Bug, wanted: _Wanted, folder: Path, made: set[str]) -> None:
    _folder(bug, folder, str(PurePosixPath(wanted.path).parent), made)
    if not os.path.lexists(folder / wanted.path):
        (folder / wanted.path).symlink_to(wanted.source.readlink())


def _opened(folder: Path, path: str) -> int | None:
    """A descriptor of a plain file below a folder, or None; no part of the path may be a link."""
    parts = PurePosixPath(path).parts
    if not parts or wrong_path(path):
        return None
    here = os.open(folder, _DIRECTORY)
    try:
        for part in parts[:-1]:
            below = _open_part(part, here, _DIRECTORY)
            if below is None:
                return None
            os.close(here)
            here = below
        found = _open_part(
            parts[-1], here, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
    finally:
        os.close(here)
    if found is not None and not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        return None
    return found


def _open_part(name: str, parent: int, flags: int) -> int | None:
    try:
        return os.open(name, flags, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise


def _state(folder: Path, path: str) -> tuple[str, int, int] | None:
    """Digest, time of the last write and number of a file; None where there is none."""
    with reading(folder, path) as file:
        if file is None:
            return None
        found = os.fstat(file.fileno())
        return _hashed(file.fileno()), found.st_mtime_ns, found.st_ino


def _hashed(number: int) -> str:
    hashing = hashlib.sha256()
    while block := os.read(number, _BLOCK):
        hashing.update(block)
    return hashing.hexdigest()

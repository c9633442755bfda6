"""Runs on disk: a folder for each, and `run.json` as the last thing written into it.

    <root>/<set>/<name>/<content, 16 digits>-<cpu or cuda>/<side>-<seed>-<attempt>/
        run.json     the Run, written atomically: where it is, the run has finished
        stdout, stderr, outputs/     what the program wrote
        check-stdout, check-stderr   what the oracle's check command wrote
        environment.log              why the environment could not be built
        preparing                    what is done for the environment, while it is done
        lock         held (flock) by the process that runs it; workspace/ while it does

A folder without `run.json` whose lock nobody holds is what a killed process left: it is swept.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any

from faultatlas.analysis.reexecution import workspace
from faultatlas.analysis.reexecution.bugs import SIDES
from faultatlas.analysis.reexecution.runs import Device, Evidence, Isolation, Outcome, Run
from faultatlas.data.errors import StudyError

RUN, LOCK, WORKSPACE, OUTPUTS = "run.json", "lock", "workspace", "outputs"
STDOUT, STDERR = "stdout", "stderr"
PREPARING = "preparing"
CHECK_STDOUT, CHECK_STDERR = "check-stdout", "check-stderr"
LARGEST_OUTPUT = 1 << 20  # bytes of a declared output that is kept
TAIL = 4 << 20  # bytes of a log that an oracle sees: the last ones
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_TAKEN = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT})  # by the next, in this moment
_LARGEST_RECORD = 4 << 20
_LONGEST_NOTE = 80
_DEVICES = ("cpu", "cuda")
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*")
_CONTENT = re.compile(r"[0-9a-f]{16,128}")
_FOLDER = re.compile(rf"({'|'.join(SIDES)})-(\d+)-(\d+)")
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "int | None": (int, NoneType),
    "float": (int, float),
    "float | None": (int, float, NoneType),
    "bool": (bool,),
    "Outcome": (str,),
    "tuple[str, ...]": (list,),
    "dict[str, str]": (dict,),
    "dict[str, Any]": (dict,),
    "Isolation": (dict,),
    "Device": (dict,),
}


@dataclass(frozen=True)
class Swept:
    """What was found of runs that never finished."""

    removed: tuple[Path, ...] = ()  # their process is dead
    set_aside: tuple[Path, ...] = ()  # with a run.json that cannot be read: renamed, and kept


def run_folder(
    root: Path, bug_id: str, content: str, device: str, *, side: str, seed: int, attempt: int
) -> Path:
    """Where a run is kept, whether it is there or not."""
    if side not in SIDES or seed < 0 or attempt < 1:
        raise ValueError(f"no run: side {side!r}, seed {seed}, attempt {attempt}")
    return _runs_folder(root, bug_id, content, device) / f"{side}-{seed}-{attempt}"


def stored(root: Path, bug_id: str, content: str, device: str) -> list[Path]:
    """The folders of finished runs of a bug, by side, seed and attempt."""
    folders = _numbered(_runs_folder(root, bug_id, content, device))
    return [folder for folder in folders if read_run(folder) is not None]


def devices_of(root: Path, bug_id: str) -> set[str]:
    """The kinds of devices that a bug was run on, whatever its content was then."""
    found = _folders(root / bug_id)
    return {each.name.rpartition("-")[2] for each in found if _numbered(each)}


def read_run(folder: Path) -> Run | None:
    """The record of a finished run; None where it is not there, cut or corrupt.

    A disk that does not answer, or too many open files, do not undo a run: that is a StudyError.
    """
    try:
        with (folder / RUN).open("rb") as file:
            text = file.read(_LARGEST_RECORD + 1)
        return decoded(text.decode()) if len(text) <= _LARGEST_RECORD else None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except (ValueError, RecursionError):
        return None
    except OSError as error:
        raise StudyError(
            f"{folder / RUN} cannot be read: {error.strerror}",
            "Look at the disk, its rights and the limit of open files (ulimit -n), then run this "
            "again: finished runs are kept.",
        ) from error


def prepares(folder: Path, text: str) -> None:
    """Say what is done for a run's environment, to whoever shows it; '' when it is there."""
    if text:
        (folder / PREPARING).write_text(text, encoding="utf-8", errors="replace")
    else:
        (folder / PREPARING).unlink(missing_ok=True)


def preparing(folder: Path) -> str:
    """What is done for it just now; '' where nobody says."""
    with contextlib.suppress(OSError), (folder / PREPARING).open("rb") as file:
        return _text(file.read(_LONGEST_NOTE))
    return ""


def write_run(folder: Path, run: Run) -> None:
    """Finish a run: after this it counts, before it nothing of it does.

    Raises OSError where the disk is full, StudyError for anything else that does not let it.
    """
    draft = folder / f"{RUN}.draft"
    try:
        _to_disk(folder)
        with draft.open("w", encoding="ascii") as file:
            file.write(encoded(run))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / RUN)
        _sync(folder)
        _sync(folder.parent)
    except OSError as error:
        for each in (draft, folder / RUN):
            with contextlib.suppress(OSError):
                each.unlink()
        what = f"the result of {run.bug_id} could not be written: {error.strerror}"
        if error.errno in FULL:  # for all runs that follow too
            raise OSError(error.errno, what) from error
        raise StudyError(
            what, "Make the directory of the study writable; finished runs are kept."
        ) from error


def evidence(folder: Path) -> Evidence:
    """A finished run with the end of its logs and its declared outputs, as text."""
    run = read_run(folder)
    if run is None:
        raise StudyError(
            f"{folder.name} of {folder.parents[2].name}/{folder.parents[1].name} "
            "has no readable run.json",
            "Run `analysis reexecute` again: it repeats the run.",
        )
    kept = folder / OUTPUTS
    outputs = {}
    for path in sorted(run.files):
        with workspace.reading(kept, path) as file:
            if file is not None:
                outputs[path] = _text(file.read(LARGEST_OUTPUT))
    return Evidence(
        run,
        _tail(folder / STDOUT),
        _tail(folder / STDERR),
        outputs,
        _tail(folder / CHECK_STDOUT) + _tail(folder / CHECK_STDERR),
    )


def keep_outputs(folder: Path, made: Path, paths: list[str]) -> None:
    """Copy outputs out of the workspace: those that are text and not large."""
    for path in paths:
        with workspace.reading(made, path) as file:
            content = file.read(LARGEST_OUTPUT + 1) if file is not None else b"\0"
        if len(content) > LARGEST_OUTPUT or b"\0" in content:
            continue
        to = folder / OUTPUTS / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(content)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Hold a run's folder while it is run; waits for another process that does.

    True: it is empty, and ours to run. False: it has finished meanwhile. A folder that has no
    run.json at the end is removed.
    """
    lock = _locked(folder)
    try:
        if read_run(folder) is not None:
            yield False
            return
        if (folder / RUN).exists():
            _set_aside(folder)
            os.close(lock)
            lock = _locked(folder)
        _clear(folder, keep=(LOCK,))
        yield True
    finally:
        try:
            _close(folder)
        finally:
            os.close(lock)


def sweep(root: Path) -> Swept:
    """Remove what dead processes left; a run in progress anywhere keeps its folder."""
    removed, aside = [], []
    for folder in _all_runs(root):
        is_finished = read_run(folder) is not None
        if is_finished and not any((folder / name).exists() for name in (LOCK, WORKSPACE)):
            continue
        try:
            lock = _try_lock(folder)
            if lock is None:
                continue
            try:
                if read_run(folder) is not None:
                    _close(folder)
                elif (folder / RUN).exists():
                    aside.append(_set_aside(folder))
                else:
                    _remove(folder)
                    removed.append(folder)
            finally:
                os.close(lock)
        except OSError as error:
            raise StudyError(
                f"{folder} cannot be cleaned up: {error.strerror}",
                "Make the folder writable, or remove it.",
            ) from None
    return Swept(tuple(removed), tuple(aside))


def encoded(run: Run) -> str:
    """The record as JSON in ASCII."""
    return json.dumps(asdict(run), indent=1, allow_nan=False) + "\n"


def decoded(text: str) -> Run:
    """The record again; fields that a newer version added are passed over. Raises ValueError."""
    plain = _known(Run, json.loads(text))
    plain["outcome"] = Outcome(plain["outcome"])
    for name, kind in (("isolation", Isolation), ("device", Device)):
        if name in plain:
            plain[name] = kind(**_known(kind, plain[name]))
    for name in ("repairs", "fidelity"):
        if name in plain:
            plain[name] = tuple(plain[name])
    run = Run(**plain)
    if run.side not in SIDES:
        raise ValueError(f"no side: {run.side!r}")
    return run


def _known(kind: type[Any], plain: object) -> dict[str, Any]:
    """The fields of a record, each of its type."""
    if not isinstance(plain, dict):
        raise ValueError(f"no {kind.__name__}")  # noqa: TRY004  (all that is wrong is a ValueError)
    known = {each.name: plain[each.name] for each in fields(kind) if each.name in plain}
    for each in fields(kind):
        expected = _TYPES[str(each.type)]
        if each.name in known and not _is_of(known[each.name], expected):
            raise ValueError(f"{each.name} is no {each.type}")
    try:
        kind(**known)  # whether one is missing
    except TypeError as error:
        raise ValueError(str(error)) from None
    return known


def _is_of(value: object, expected: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in expected
    if expected == (list,):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, expected)


def _runs_folder(root: Path, bug_id: str, content: str, device: str) -> Path:
    if not _ID.fullmatch(bug_id) or not _CONTENT.fullmatch(content) or device not in _DEVICES:
        raise ValueError(f"no run: bug {bug_id!r}, content {content!r}, device {device!r}")
    set_name, name = bug_id.split("/")
    return root / set_name / name / f"{content[:16]}-{device}"


def _numbered(folder: Path) -> list[Path]:
    """Folders named as runs, in order; links are none."""
    found = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for each in os.scandir(folder):
            match = _FOLDER.fullmatch(each.name)
            if match and each.is_dir(follow_symlinks=False):
                side, seed, attempt = match.groups()
                found.append((side, int(seed), int(attempt), Path(each.path)))
    return [path for *_, path in sorted(found)]


def _all_runs(root: Path) -> Iterator[Path]:
    for set_folder in _folders(root):
        for bug_folder in _folders(set_folder):
            for runs in _folders(bug_folder):
                yield from _numbered(runs)


def _folders(folder: Path) -> list[Path]:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        return [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)]
    return []


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder; waits. Who closes it, or dies, gives it free."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            number = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # swept in this moment
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            if _is_still(number, folder / LOCK):
                return number
        except BaseException:
            os.close(number)
            raise
        os.close(number)


def _try_lock(folder: Path) -> int | None:
    """The same without waiting; None where somebody holds it."""
    try:
        number = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(number)
        return None
    if not _is_still(number, folder / LOCK):
        os.close(number)
        return None
    return number


def _is_still(number: int, path: Path) -> bool:
    """Whether a name still means an open file."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except FileNotFoundError:
        return False


def _close(folder: Path) -> None:
    """Leave a finished run as it stays, and nothing of an unfinished one; the lock is ours."""
    if not (folder / RUN).exists():
        _remove(folder)
        return
    with contextlib.suppress(OSError):  # the next sweep tries again
        workspace.remove(folder / WORKSPACE)
    (folder / LOCK).unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """All of a run whose lock is ours. The lock goes last: who comes next finds nothing else."""
    _clear(folder, keep=(LOCK,))
    (folder / LOCK).unlink(missing_ok=True)
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in _TAKEN:
            raise


def _clear(folder: Path, keep: tuple[str, ...]) -> None:
    for each in list(os.scandir(folder)):
        if each.name in keep:
            continue
        if each.is_dir(follow_symlinks=False):
            workspace.remove(Path(each.path))
        else:
            Path(each.path).unlink()


def _set_aside(folder: Path) -> Path:
    """Rename a run whose record cannot be read: it is run again, and can be looked at."""
    number = 1
    while (aside := folder.with_name(f"{folder.name}.unreadable-{number}")).exists():
        number += 1
    folder.rename(aside)
    (aside / LOCK).unlink(missing_ok=True)
    return aside


def _to_disk(folder: Path) -> None:
    """Logs and outputs first: no record may stand for a log that a crash of the host lost."""
    kept = [path for path in folder.iterdir() if path.name not in {LOCK, WORKSPACE, OUTPUTS}]
    for path in [*kept, *(folder / OUTPUTS).rglob("*")]:
        if path.is_file() and not path.is_symlink():
            _sync(path)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            return _text(file.read(TAIL))
    except FileNotFoundError:
        return ""


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")

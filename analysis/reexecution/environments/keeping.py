"""The cache of environments: locks, records, and room made by removing what was used least.

envs/<key>/venv, environment.json (written last: without it there is no environment), log.txt
requests/<request>.json   which environment a bug's requirements led to, or why to none
locks/<key>               shared while an environment is used, exclusive while it is changed
bytecode/                 compiled modules, shared by hard links too
uv/                       what uv downloaded; environments share its files by hard links;
                          .tmp* in it is what a build unpacks, or has left when it failed
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem
from faultatlas.analysis.reexecution.runs import Outcome

BUDGET_MB = 20_000
_RECORD = "environment.json"
_FAILURE_LASTS_S = 3600.0  # a failure is not tried again within this time


class Lock:
    """A file lock that is given back when it is released, collected, or its process dies."""

    _descriptor: int | None = None

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, *, shared: bool, seconds: float | None = None) -> bool:
        """Take it, or turn one kind into the other; False when another holds it for so long."""
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        until = None if seconds is None else time.monotonic() + seconds
        while self._descriptor is not None:
            try:
                fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if until is not None and time.monotonic() >= until:
                    return False
                time.sleep(0.05)
            else:
                return True
        return False

    def release(self) -> None:
        """Give it back; nothing happens the second time."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.release()

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        # It stays in its process: a copy that is sent elsewhere holds nothing.
        return _nothing, ()


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Cache:
    """The folder of all environments."""

    folder: Path

    @property
    def downloads(self) -> Path:
        """What uv downloaded, apart from the user's own: it counts and goes with the rest."""
        return self.folder / "uv"

    def place(self, key: str) -> Path:
        """The folder of one environment."""
        return self.folder / "envs" / key

    def lock(self, name: str) -> Lock:
        """The lock of an environment or a request."""
        return Lock(self.folder / "locks" / name)

    @contextmanager
    def alone(self, name: str, seconds: float) -> Iterator[None]:
        """While this lasts, nobody else builds the same."""
        lock = self.lock(name)
        try:
            if not lock.take(shared=False, seconds=seconds):
                raise EnvironmentProblem(
                    Outcome.NOT_STARTED,
                    f"another process has been building this environment for {seconds:.0f} s",
                )
            yield
        finally:
            lock.release()

    def record(self, key: str) -> dict[str, Any] | None:
        """What is known of a finished environment; None where there is none."""
        found = _read(self.place(key) / _RECORD)
        whole = found is not None and (self.place(key) / "venv" / "bin" / "python").exists()
        return found if whole else None

    def finish(self, key: str, record: dict[str, Any]) -> None:
        """From here on the environment counts."""
        _write(self.place(key) / _RECORD, record)

    def touch(self, key: str) -> None:
        """It was used just now."""
        with suppress(OSError):
            os.utime(self.place(key) / _RECORD)

    def request(self, request: str) -> dict[str, Any] | None:
        """What an earlier request of the same kind led to."""
        found = _read(self.folder / "requests" / f"{request}.json")
        if found is None or "key" in found:
            return found
        age = time.time() - float(found.get("at", 0.0))
        return found if 0 <= age < _FAILURE_LASTS_S else None

    def answer(self, request: str, what: dict[str, Any]) -> None:
        """Remember it."""
        _write(self.folder / "requests" / f"{request}.json", {**what, "at": time.time()})

    def keys(self) -> list[str]:
        """All environments, the one that was used longest ago first; unfinished ones too."""
        places = [place for place in _folders(self.folder / "envs") if place.name[0] != "."]
        return [place.name for place in sorted(places, key=_used)]

    def size_mb(self) -> float:
        """What all of it takes on the disk; files that share their content count once."""
        seen: set[tuple[int, int]] = set()
        return _bytes(self.folder, seen) / 1e6

    def remove(self, key: str, *, unfinished: bool = False) -> bool:
        """Remove an environment that nobody uses or builds; whether it is gone."""
        lock = self.lock(key)
        try:
            if not lock.take(shared=False, seconds=0):
                return False
            if unfinished and (self.place(key) / _RECORD).exists():
                return False  # it was finished in this moment
            gone = self.folder / "envs" / f".gone-{key}-{os.getpid()}"
            with suppress(FileNotFoundError):
                self.place(key).rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
            return not gone.exists()
        finally:
            lock.release()

    def make_room(self, budget_mb: float, keep: str = "", *, has_failed: bool = False) -> list[str]:
        """Remove what was used longest ago until all fits; the environments that went.

        A build that failed or was killed leaves downloads that no record tells of: then all is
        measured.
        """
        has_failed |= self._remove_leftovers()
        removed: list[str] = []
        if not has_failed and self._at_most_mb(keep) <= budget_mb:
            return removed
        if self._measured_mb() <= budget_mb:
            return removed
        self._drop_unused()
        for key in self.keys():
            if self.size_mb() <= budget_mb:
                break
            if key != keep and self.remove(key):
                removed.append(key)
                self._drop_unused()
        self._measured_mb()
        return removed

    def _remove_leftovers(self) -> bool:
        """Remove what killed processes left; whether one of them was building."""
        was_killed = False
        for left in _folders(self.folder / "envs"):
            if left.name.startswith(".gone-"):  # whoever removed it was killed
                shutil.rmtree(left, ignore_errors=True)
            elif not (left / _RECORD).exists():  # whoever builds it holds its lock
                was_killed |= self.remove(left.name, unfinished=True)
        with self._no_downloading() as is_alone:
            if is_alone:
                for left in [*self.downloads.glob(".tmp*"), *self.downloads.glob("*/.tmp*")]:
                    _removed(left)
        return was_killed

    def _at_most_mb(self, key: str) -> float:
        """A bound without looking at every file: the last measure, and all that came since."""
        came = self.record(key) or {}
        with self._sizing():
            known = _read(self.folder / "size.json") or {}
            bound = float(known.get("mb", "inf")) + float(came.get("size_mb", 0.0))
            if known:
                _write(self.folder / "size.json", {"mb": bound})
        return bound

    def _measured_mb(self) -> float:
        with self._sizing():
            size = self.size_mb()
            _write(self.folder / "size.json", {"mb": size})
        return size

    @contextmanager
    def _sizing(self) -> Iterator[None]:
        """While this lasts, nobody else says how large all of it is."""
        lock = self.lock("size")
        lock.take(shared=False)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def downloading(self) -> Iterator[None]:
        """While this lasts, nothing is removed from uv's cache."""
        lock = self.lock("downloads")
        lock.take(shared=True)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _no_downloading(self) -> Iterator[bool]:
        """Whether nobody builds, and while this lasts, nobody does."""
        lock = self.lock("downloads")
        try:
            yield lock.take(shared=False, seconds=0)
        finally:
            lock.release()

    def _drop_unused(self) -> None:
        """Remove unpacked packages that no environment has links to; uv gets them again."""
        with self._no_downloading() as is_alone:
            if not is_alone:
                return  # somebody builds: what they have just unpacked has no links yet
            for bucket in self.downloads.glob("archive-v*"):
                for package in _folders(bucket):
                    if not _is_linked(package):
                        shutil.rmtree(package, ignore_errors=True)
            for root, _, names in os.walk(self.folder / "bytecode"):
                for name in names:
                    with suppress(OSError):
                        file = os.path.join(root, name)  # noqa: PTH118 - ten thousands of them
                        if os.lstat(file).st_nlink == 1:
                            os.unlink(file)  # noqa: PTH108


def _removed(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):
            place.unlink()


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(place for place in folder.iterdir() if place.is_dir())
    except OSError:
        return []


def _used(place: Path) -> float:
    for name in (_RECORD, "."):
        with suppress(OSError):
            return (place / name).stat().st_mtime
    return 0.0


def _bytes(folder: Path, seen: set[tuple[int, int]]) -> int:
    total = 0
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return 0
    for entry in entries:
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                total += _bytes(Path(entry.path), seen)
                continue
            state = entry.stat(follow_symlinks=False)
            if state.st_nlink > 1:
                if (state.st_dev, state.st_ino) in seen:
                    continue
                seen.add((state.st_dev, state.st_ino))
            total += state.st_blocks * 512
    return total


def tree_mb(folder: Path) -> tuple[float, float]:
    """Size of a folder, and how much of it is its own (shared with nothing else)."""
    whole = own = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                state = os.lstat(os.path.join(root, name))  # noqa: PTH118 - ten thousands of them
                whole += state.st_blocks * 512
                own += state.st_blocks * 512 if state.st_nlink == 1 else 0
    return whole / 1e6, own / 1e6


def _is_linked(package: Path) -> bool:
    for root, _, names in os.walk(package):
        for name in names:
            with suppress(OSError):
                state = os.lstat(os.path.join(root, name))  # noqa: PTH118
                if state.st_nlink > 1:
                    return True
    return False


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(file: Path, what: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # Threads of one process write too: each has a draft of its own.
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        with draft.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(what, indent=1, sort_keys=True) + "\n")
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise

"""Control groups: how much memory and how many processes a run may have, and what it used."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from faultatlas.analysis.reexecution.sandbox.trying import tried_once

MARK = "faultatlas"
CONTROLLERS = ("memory", "pids", "cpuacct")
V1, V2 = "cgroup v1", "cgroup v2"


@dataclass(frozen=True)
class Parent:
    """A folder in which groups for one controller, or for both, can be made."""

    folder: Path
    version: str


@dataclass
class Group:
    """The groups of one run; for a controller that is not there, there is none."""

    folders: dict[str, tuple[Path, str]]

    @property
    def memory(self) -> str:
        """What limits memory: 'cgroup v2', 'cgroup v1', ''."""
        return self.folders["memory"][1] if "memory" in self.folders else ""

    @property
    def processes(self) -> str:
        """What limits processes."""
        return self.folders["pids"][1] if "pids" in self.folders else ""

    def entrances(self) -> list[str]:
        """The files into which a process writes itself to be in it."""
        return sorted({str(folder / "cgroup.procs") for folder, _ in self.folders.values()})

    def members(self) -> set[int]:
        """The processes that are in it now, by their numbers outside."""
        found: set[int] = set()
        for folder, _ in self.folders.values():
            with contextlib.suppress(OSError):
                found |= set(map(int, (folder / "cgroup.procs").read_text().split()))
        return found - {0}

    def memory_kills(self) -> int:
        """How often the kernel killed for want of memory."""
        return self._counter("memory", {V1: "memory.oom_control", V2: "memory.events"}, "oom_kill")

    def refused_processes(self) -> int:
        """How often a process could not be made."""
        return self._counter("pids", {V1: "pids.events", V2: "pids.events"}, "max")

    def memory_mb(self) -> float:
        """What all of them have in memory, without what the kernel only keeps of files."""
        names = ("total_rss", "total_shmem") if self.memory == V1 else ("anon", "shmem")
        stat = self._read("memory", "memory.stat")
        return sum(_value(stat, name) for name in names) / 2**20

    def cpu_s(self) -> float:
        """The time that all of them have computed, killed ones included."""
        if self.memory == V2:
            return _value(self._read("memory", "cpu.stat"), "usage_usec") / 1e6
        used = self._read("cpuacct", "cpuacct.usage").strip()
        return int(used) / 1e9 if used.isdigit() else 0.0

    def kill(self) -> None:
        """Everything that is in it."""
        for folder, version in self.folders.values():
            if version == V2:
                with contextlib.suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")
        for member in self.members():
            with contextlib.suppress(OSError):
                os.kill(member, signal.SIGKILL)

    def remove(self, patience_s: float = 5.0) -> bool:
        """Gone, with all that is in it; False where the kernel keeps it."""
        end = time.monotonic() + patience_s
        wait_s = 0.001
        while left := [folder for folder, _ in self.folders.values() if not _removed(folder)]:
            if time.monotonic() > end:
                return False
            self.kill()
            time.sleep(wait_s)  # the kernel takes its time to bury the dead
            wait_s = min(0.05, wait_s * 2)
        return not left

    def _counter(self, controller: str, files: dict[str, str], name: str) -> int:
        if controller not in self.folders:
            return 0
        return _value(self._read(controller, files[self.folders[controller][1]]), name)

    def _read(self, controller: str, file: str) -> str:
        if controller not in self.folders:
            return ""
        with contextlib.suppress(OSError):
            return (self.folders[controller][0] / file).read_text()
        return ""


def make(memory_mb: int, processes: int) -> Group:
    """The groups of one run, as far as this host lets us; the caller removes them."""
    group = Group({})
    name = new_name()
    try:
        for controller, parent in parents().items():
            folder = parent.folder / name
            folder.mkdir(exist_ok=True)
            group.folders[controller] = (folder, parent.version)
            if controller == "memory":
                _limit_memory(folder, parent.version, memory_mb << 20)
            elif controller == "pids":
                (folder / "pids.max").write_text(str(processes))
    except OSError:
        group.remove()
        return Group({})
    return group


@tried_once
def parents() -> dict[str, Parent]:
    """Where groups can be made and entered: tried for real, once for each process."""
    found: dict[str, Parent] = {}
    for controller in CONTROLLERS:
        for candidate in candidates(controller, Path("/proc/self")):
            if candidate.version == V2 and controller == "cpuacct":
                continue  # every group of version 2 counts it
            memory = found.get("memory", candidate)
            if candidate.version == memory.version == V2 and candidate != memory:
                continue  # a process is in one group of version 2 only
            if _works(candidate, controller):
                found[controller] = candidate
                break
    sweep(found)
    return found


def candidates(controller: str, process: Path) -> list[Parent]:
    """The group that this process is in, then those above it (v2: it must hold no process)."""
    try:
        own = (process / "cgroup").read_text().splitlines()
        mounts = (process / "mountinfo").read_text().splitlines()
    except OSError:
        return []
    paths: dict[str, str] = {}
    for line in own:
        number, names, path = line.split(":", 2)
        if controller in names.split(","):
            paths["cgroup"] = path
        elif number == "0":
            paths["cgroup2"] = path
    for line in mounts:
        before, _, after = line.partition(" - ")
        kind, _, options = [*after.split(), "", "", ""][:3]
        root, place = [*before.split(), *[""] * 5][3:5]
        if kind == "cgroup" and kind in paths and controller in options.split(","):
            return [Parent(_inside(place, root, paths[kind]), V1)]
        if kind == "cgroup2" and kind in paths and "cgroup" not in paths:
            top = Path(place)
            lowest = _inside(place, root, paths[kind])
            ways = [lowest, *(way for way in lowest.parents if way.is_relative_to(top))]
            return [Parent(way, V2) for way in ways]
    return []


def sweep(places: dict[str, Parent]) -> int:
    """Removes the groups of samplers that are no more, and whatever still runs in them.

    They lie where this process makes its own, or beside it: each session is a group.
    """
    gone = 0
    for parent in places.values():
        with contextlib.suppress(OSError):
            beside = parent.folder.parent.glob(f"*/{MARK}-*")
            for folder in {*parent.folder.glob(f"{MARK}-*"), *beside}:
                if _is_ours(folder) and is_orphan(folder.name):
                    gone += Group({"pids": (folder, parent.version)}).remove()
    return gone


def new_name() -> str:
    """Of a group or a folder: it says whose it is (see `is_orphan`), and no two are the same."""
    own = os.getpid()
    return f"{MARK}-{_pid_namespace()}-{own}-{_started(own)}-{uuid.uuid4().hex[:8]}"


def _is_ours(folder: Path) -> bool:
    return os.geteuid() in {0, folder.stat().st_uid}


def is_orphan(name: str) -> bool:
    """Whether the process that gave something this name is no more."""
    words = name.split("-")
    if len(words) != 5 or words[1] != _pid_namespace():  # another container's
        return False
    return not words[2].isdigit() or _started(int(words[2])) != words[3]


def _inside(place: str, root: str, path: str) -> Path:
    """A group's folder, when only the part of the tree below `root` is mounted."""
    below = path.removeprefix(root) if root != "/" else path
    return Path(place, below.lstrip("/"))


def _works(parent: Parent, controller: str) -> bool:
    folder = parent.folder / new_name()
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    try:
        if controller == "memory":
            _limit_memory(folder, parent.version, 64 << 20)
        elif controller == "pids":
            (folder / "pids.max").write_text("8")
        entering = ["/bin/sh", "-c", 'echo 0 > "$1"', "sh", str(folder / "cgroup.procs")]
        return subprocess.run(entering, check=False, capture_output=True).returncode == 0
    except OSError:
        return False
    finally:
        Group({controller: (folder, parent.version)}).remove()


def _limit_memory(folder: Path, version: str, size: int) -> None:
    """Memory, and no swap besides."""
    if version == V2:
        (folder / "memory.max").write_text(str(size))
        with contextlib.suppress(OSError):
            (folder / "memory.swap.max").write_text("0")
        return
    (folder / "memory.limit_in_bytes").write_text(str(size))
    with contextlib.suppress(OSError):
        (folder / "memory.swappiness").write_text("0")
    with contextlib.suppress(OSError):
        (folder / "memory.memsw.limit_in_bytes").write_text(str(size))


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _value(text: str, name: str) -> int:
    """A value of a file such as memory.events: a name and a number a line."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == name:
            return int(words[1])
    return 0


def _pid_namespace() -> str:
    """So that two containers that share a tree of groups do not take each other for dead."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return "0"


def _started(pid: int) -> str:
    """When a process was started, in the kernel's ticks; '' when there is none."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""

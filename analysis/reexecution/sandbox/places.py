"""What a sandboxed program sees of the file system, and where it comes from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from faultatlas.analysis.reexecution.bugs import Limits
from faultatlas.analysis.reexecution.environments.folders import cache_folder
from faultatlas.analysis.reexecution.inside import ETC, HARNESS, HOME, WORKSPACE
from faultatlas.data.errors import StudyError

# Programs and libraries of the system. What is a link there is the same link inside.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# Files of /etc that programs need: where libraries are. The others are made up.
CONFIGURATION = ("/etc/ld.so.cache", "/etc/alternatives")
IN_MEMORY = ("/tmp", HOME, "/dev/shm")  # noqa: S108  (inside, where they are private)
# Whoever binds one of these binds what must stay out.
TOO_WIDE = frozenset({"/", "/home", "/root", "/etc", "/proc", "/sys", "/dev", "/run", "/var"})
# Folders of a home that many programs use; one below, such as .pyenv/versions/3.8, is its own.
_SHARED = (".local", ".local/share", ".local/state", ".cache", ".config")


@dataclass(frozen=True)
class Place:
    """One step of building the file system, in order."""

    kind: str  # readonly, writable, device, memory, link, processes, devices
    target: str
    source: str = ""
    size: int = 0  # bytes, of what is in memory


def places(
    workspace: Path, readonly: Iterable[Path], devices: Iterable[Path], limits: Limits
) -> list[Place]:
    """The file system of one run: the system, its interpreter and environment, its workspace."""
    made: list[Place] = []
    for folder in SYSTEM:
        if Path(folder).is_symlink():
            made.append(Place("link", folder, str(Path(folder).readlink())))
        elif Path(folder).is_dir():
            made.append(Place("readonly", folder, folder))
    made.append(Place("link", "/etc/localtime", "/usr/share/zoneinfo/UTC"))
    made += [
        Place("readonly", name, os.path.realpath(name))
        for name in CONFIGURATION
        if Path(name).exists()
    ]
    made += [Place("readonly", f"/etc/{one.name}", str(one)) for one in sorted(ETC.iterdir())]
    made += [Place("processes", "/proc"), Place("devices", "/dev")]
    size = memory_size(limits)
    made += [Place("memory", folder, size=size) for folder in IN_MEMORY]
    made += [Place("device", str(one), str(one)) for one in devices]
    made += _prefixes(workspace, readonly)
    made.append(Place("readonly", "/harness", str(HARNESS)))
    made.append(Place("writable", WORKSPACE, os.path.realpath(workspace)))
    return made


def memory_size(limits: Limits) -> int:
    """How much fits into /tmp, and into each other folder in memory: it counts as memory too."""
    return max(1, min(limits.disk_mb, limits.memory_mb // 2)) << 20


def check_prefix(prefix: Path, *hidden: Path) -> None:
    """Refuse what holds more than an interpreter or an environment; StudyError.

    `hidden` must not be seen through it, nor the home and the cache of environments.
    """
    source = os.path.realpath(prefix)
    home = os.path.realpath(Path.home())
    kept = set(map(os.path.realpath, hidden))
    if not _is_systems(source):  # that is seen anyway, whoever has a home in it
        kept |= {home, os.path.realpath(cache_folder())}
    if (
        source in TOO_WIDE | {os.path.join(home, name) for name in _SHARED}  # noqa: PTH118
        or any(f"{each}/".startswith(f"{source}/") for each in kept)
    ):
        raise StudyError(
            f"{prefix} holds more than an interpreter or an environment, and would be seen by "
            "the bug's program",
            "Install the interpreter into a folder of its own, such as ~/.pyenv/versions/3.8.",
        )


def _prefixes(workspace: Path, readonly: Iterable[Path]) -> list[Place]:
    """Interpreter and environment, under the path they are called by and under their real one."""
    wanted: dict[str, str] = {}
    for one in readonly:
        check_prefix(one, workspace)
        source = os.path.realpath(one)
        for target in {str(one.absolute()), source}:
            if not _is_systems(target):
                wanted[target] = source
    return [Place("readonly", target, wanted[target]) for target in sorted(wanted)]


def _is_systems(place: str) -> bool:
    return any(place == kept or place.startswith(f"{kept}/") for kept in SYSTEM)

"""The arguments of bubblewrap for one run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from faultatlas.analysis.reexecution.sandbox.places import Place

USER = 61000  # nobody's number: between those of people, of services and of containers
# In the sandbox root may only become that user, and then nothing more.
STEP_DOWN = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


def arguments(
    program: str,
    argv: Iterable[str],
    places: Iterable[Place],
    directory: str,
    *,
    setpriv: str,
    closed: bool,
) -> list[str]:
    """In a user namespace of its own; or, as root, where `setpriv` then steps down to USER.

    `closed`: the program can make no further one (as root the launcher sees to that).
    """
    words = [program, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "bug", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL"]
    if setpriv:
        for capability in STEP_DOWN:
            words += ["--cap-add", capability]
    else:
        words += ["--unshare-user", "--uid", str(USER), "--gid", str(USER)]
        words += ["--disable-userns"] if closed else []  # since 0.8
    made = {"/"}
    for place in places:
        for parent in reversed(PurePosixPath(place.target).parents):
            if str(parent) not in made:  # bubblewrap would close them to another user
                words += ["--perms", "0755", "--dir", str(parent)]
                made.add(str(parent))
        made.add(place.target)
        words += _step(place)
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", directory, "--"]
    if setpriv:
        words += [setpriv, "--reuid", str(USER), "--regid", str(USER), "--clear-groups"]
        words += ["--inh-caps", "-all", "--bounding-set", "-all", "--no-new-privs", "--"]
    return [*words, *argv]


def _step(place: Place) -> list[str]:
    """One step of building the file system."""
    steps = {
        "readonly": ["--ro-bind", place.source, place.target],
        "writable": ["--bind", place.source, place.target],
        "device": ["--dev-bind", place.source, place.target],
        "link": ["--symlink", place.source, place.target],
        "processes": ["--proc", place.target],
        "devices": ["--dev", place.target],
        "memory": ["--perms", "1777", "--size", str(place.size), "--tmpfs", place.target],
    }
    return steps[place.kind]

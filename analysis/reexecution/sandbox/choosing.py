"""Which isolation this host offers, found out by running it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from faultatlas.analysis.reexecution.bugs import Limits
from faultatlas.analysis.reexecution.sandbox.trying import tried_once
from faultatlas.data.errors import StudyError

BUBBLEWRAP, NAMESPACES, NONE = "bubblewrap", "namespaces", "none"
KINDS = ("auto", BUBBLEWRAP, NAMESPACES, NONE)


@dataclass(frozen=True)
class Offer:
    """One kind of isolation on this host, and why it is not there."""

    kind: str
    works: bool
    separate_user: bool = False  # as root: another user runs the program
    closed: bool = False  # the program can make no user namespace of its own
    problem: str = ""


def choose(isolation: str = "auto", *, unsafe_network: bool = False) -> str:
    """The kind that is used: the best there is, or a refusal that says what to do.

    Without a sandbox nothing is run, unless `unsafe_network` (the command's --unsafe-network)
    says so: then a bug's program can read the user's files and reach the network.
    """
    if isolation not in KINDS:
        raise StudyError(
            f"there is no isolation called {isolation!r}", f"Known: {', '.join(KINDS)}."
        )
    if isolation == NONE:
        if unsafe_network:
            return NONE
        raise StudyError(
            "without isolation a bug's program can read your files and reach the network",
            "Say --unsafe-network as well if that is what you want, on a machine of no value.",
        )
    wanted = (BUBBLEWRAP, NAMESPACES) if isolation == "auto" else (isolation,)
    offers = [offer(kind) for kind in wanted]
    for one in offers:
        if one.works:
            return one.kind
    if isolation == "auto" and unsafe_network:
        return NONE
    problems = "; ".join(f"{one.kind}: {one.problem}" for one in offers)
    raise StudyError(f"this host offers no sandbox for a bug's program ({problems})", _next_step())


@tried_once
def offer(kind: str) -> Offer:
    """Whether a kind works, tried once for each process; as root, as another user first."""
    if not sys.platform.startswith("linux"):
        return Offer(kind, works=False, problem="this system has none")
    if kind == BUBBLEWRAP and shutil.which("bwrap") is None:
        return Offer(kind, works=False, problem="bwrap is not installed")
    problem = ""
    ways = [False]
    if os.geteuid() == 0 and (kind == NAMESPACES or shutil.which("setpriv")):
        ways = [True, False]
    for separate, closed in product(ways, (True, False)):
        problem = _tried(kind, separate_user=separate, closed=closed)
        if not problem:
            return Offer(kind, works=True, separate_user=separate, closed=closed)
    return Offer(kind, works=False, problem=problem)


@tried_once
def is_closed(kind: str, *, separate_user: bool) -> bool:
    """Whether a kind works so that a program can make no user namespace of its own."""
    offered = offer(kind)
    if offered.separate_user == separate_user:
        return offered.closed
    return not _tried(kind, separate_user=separate_user, closed=True)


def _tried(kind: str, *, separate_user: bool, closed: bool) -> str:
    """Runs a program that must write into its folder; the problem, or ''."""
    from faultatlas.analysis.reexecution.runs import Outcome
    from faultatlas.analysis.reexecution.sandbox.running import Request, run_as

    with tempfile.TemporaryDirectory(prefix="faultatlas-probe-") as name:
        folder = Path(name)
        (folder / "workspace").mkdir()
        request = Request(
            argv=("/bin/sh", "-c", "echo here > written"),
            workspace=folder / "workspace",
            stdout=folder / "stdout",
            stderr=folder / "stderr",
            limits=Limits(seconds=20, memory_mb=256, processes=32, disk_mb=16, output_mb=1),
        )
        ended = run_as(request, kind, separate_user=separate_user, closed=closed)
        if ended.problem:
            return ended.problem
        if ended.outcome is not Outcome.EXITED or ended.exit_code != 0:
            said = (folder / "stderr").read_text(errors="replace").strip().splitlines()
            return said[-1][:200] if said else f"a trial ended: {ended.outcome}"
        return "" if (folder / "workspace" / "written").is_file() else "a trial wrote nothing"


def _next_step() -> str:
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    try:
        blocked = restricted.read_text().strip() == "1"
    except OSError:
        blocked = False
    if blocked and os.geteuid() != 0:
        return (
            "AppArmor forbids user namespaces here: as an administrator, allow them for bwrap "
            "(a profile for /usr/bin/bwrap with 'userns,'), or set "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )
    if shutil.which("bwrap") is None:
        return (
            "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap); in a container "
            "allow namespaces (--security-opt seccomp=unconfined, or --privileged)."
        )
    return (
        "Allow user namespaces (sysctl user.max_user_namespaces; in a container "
        "--security-opt seccomp=unconfined), or run on another host with --cluster."
    )

"""What one run left behind: the record in its `run.json`. Judging reads this and the logs only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a run ended. What it means is for the oracles to say."""

    EXITED = "exited"  # by itself, with `exit_code`
    SIGNALLED = "signalled"  # by a signal that was not ours
    TIMED_OUT = "timed out"  # cut at the limit of time
    OUT_OF_MEMORY = "out of memory"  # the kernel's counter says so
    DISK_FULL = "disk full"  # its own limit of disk
    TOO_MANY_PROCESSES = "too many processes"
    OUTPUT_LIMIT = "output limit"
    NO_ENVIRONMENT = "no environment"  # it could not be built: `problem` says the line
    NO_INTERPRETER = "no interpreter"
    NO_DATA = "no data"  # a declared file is missing or has another checksum
    BAD_ARTIFACT = "bad artifact"  # its files cannot be put together: a link that leaves, ...
    NOT_STARTED = "not started"  # the host's fault: sandbox, disk, device
    LOST = "lost"  # the worker died; it is run again


# These say something about the bug's own program.
RAN = frozenset(
    {
        Outcome.EXITED,
        Outcome.SIGNALLED,
        Outcome.TIMED_OUT,
        Outcome.OUT_OF_MEMORY,
        Outcome.DISK_FULL,
        Outcome.TOO_MANY_PROCESSES,
        Outcome.OUTPUT_LIMIT,
    }
)


@dataclass(frozen=True)
class Isolation:
    """What kept the run from the rest of the machine."""

    kind: str = ""  # bubblewrap, namespaces, none; '': nothing was started
    network: bool = False  # whether the run could reach one
    memory: str = ""  # cgroup v2, cgroup v1, address space, ''
    processes: str = ""  # cgroup v2, cgroup v1, watched, ''


@dataclass(frozen=True)
class Device:
    """Where it ran."""

    kind: str = "cpu"  # cpu, cuda
    name: str = ""  # what nvidia-smi calls it
    uuid: str = ""
    memory_mb: int = 0  # of the device
    peak_memory_mb: int = 0  # used, as sampled
    mean_utilisation: float | None = None  # percent, as sampled


@dataclass(frozen=True)
class Run:
    """One run of one side. Paths are relative to the run's folder; no path of the host is in it."""

    bug_id: str
    content: str  # hash of all that decides what is run (artifacts/content.py)
    side: str
    seed: int
    attempt: int  # from 1; more only where an earlier one was the host's fault
    outcome: Outcome
    exit_code: int | None = None
    signal: int | None = None
    command: int = 0  # which of the side's commands was the last that started
    duration_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_mb: float = 0.0
    memory_kills: int = 0  # the cgroup's counter
    last_output_s: float = 0.0  # when the last byte was written, from the start
    output_bytes: int = 0
    output_cut: bool = False
    written_mb: float = 0.0
    files: dict[str, str] = field(default_factory=dict)  # declared outputs: fresh, stale, missing
    checked: int | None = None  # exit code of the oracle's own check command
    environment: str = ""  # key of the environment
    versions: dict[str, str] = field(default_factory=dict)  # what is really installed
    repairs: tuple[str, ...] = ()  # those that were needed to build it
    fidelity: tuple[str, ...] = ()
    isolation: Isolation = field(default_factory=Isolation)
    device: Device = field(default_factory=Device)
    problem: str = ""  # one line: why it could not be run
    started_at: str = ""  # UTC, ISO 8601
    host: dict[str, Any] = field(default_factory=dict)  # system, processor count; no names
    source_bytes: int | None = None  # of the side's program; 0: there is none
    repairs_edition: str = ""  # of the known repairs, where no environment could be built with them


@dataclass(frozen=True)
class Evidence:
    """A run with what it wrote: all that an oracle sees."""

    run: Run
    stdout: str
    stderr: str
    outputs: dict[str, str] = field(default_factory=dict)  # declared files that were text
    checked: str = ""  # what the oracle's check command wrote
    killed: int = 0  # how many attempts of it, this one included, somebody may have killed

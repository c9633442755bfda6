"""What the sandbox is asked for, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from faultatlas.analysis.reexecution.bugs import Limits
from faultatlas.analysis.reexecution.runs import Isolation, Outcome


@dataclass(frozen=True)
class Request:
    """One command to run. The workspace is /bug inside; `directory` is relative to it.

    `stdout` and `stderr` are appended to. `readonly` are the prefixes of interpreter and
    environment, seen under the same paths. `variables` is the whole environment.
    """

    argv: tuple[str, ...]
    workspace: Path
    stdout: Path
    stderr: Path
    directory: str = "."
    readonly: tuple[Path, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    devices: tuple[Path, ...] = ()
    isolation: str = "auto"  # auto, bubblewrap, namespaces, none
    unsafe_network: bool = False


@dataclass(frozen=True)
class Ended:
    """How it ended: the measured fields of a Run."""

    outcome: Outcome
    isolation: Isolation
    exit_code: int | None = None
    signal: int | None = None
    duration_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_mb: float = 0.0
    memory_kills: int = 0
    last_output_s: float = 0.0
    output_bytes: int = 0
    output_cut: bool = False
    written_mb: float = 0.0
    problem: str = ""

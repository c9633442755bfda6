"""Runs: which command wrote, when, with which version and arguments.

Every command that writes begins a `Run` and records it in the same transaction as its
rows, so that a row never names a run that is not there. Secrets do not reach it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

from faultatlas.data.clock import utc_now
from faultatlas.data.redaction import redact_arguments

if TYPE_CHECKING:
    from faultatlas.data.study import Writer

Outcome = Literal["running", "ok", "partial", "failed", "interrupted"]


@dataclass(frozen=True)
class Run:
    """A command that is about to write."""

    run_id: str
    command: str
    arguments: dict[str, Any]
    version: str
    started_at: datetime


@cache
def program_version() -> str:
    """The installed version of faultatlas."""
    try:
        return version("faultatlas")
    except PackageNotFoundError:  # a source tree on the path, not installed
        return "unknown"


def begin(command: str, arguments: Mapping[str, Any], now: datetime | None = None) -> Run:
    """Note a command before it does its work; nothing is stored yet."""
    started = now or utc_now()
    return Run(
        # Microseconds, so that ids sort by time also within one script.
        run_id=f"{started:%Y%m%dT%H%M%S%fZ}-{secrets.token_hex(3)}",
        command=command,
        arguments=redact_arguments(arguments),
        version=program_version(),
        started_at=started,
    )


def record(writer: Writer, run: Run, outcome: Outcome) -> None:
    """Store the run, or how it ended if it is stored already, in the writer's transaction."""
    writer.put(
        "store.run",
        {"run_id": run.run_id},
        {"ended_at": None if outcome == "running" else utc_now(), "outcome": outcome},
        first={
            "command": run.command,
            "arguments": json.dumps(run.arguments, sort_keys=True, ensure_ascii=False),
            "version": run.version,
            "started_at": run.started_at,
        },
    )

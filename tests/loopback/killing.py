"""Fetches in processes of their own, and SIGKILL for them at a moment that a test names."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, Literal

from loopback.exchange import Request
from loopback.stackexchange import StackExchange
from loopback.world import World

Moment = Literal["before", "mid", "after", "written"]
Due = Callable[[Request], bool]

_PATIENCE_S = 60.0  # before a test fails instead of hanging


class Launcher:
    """Starts `miner` as a process that leads a session and a process group."""

    def __init__(self, program: Popen[str]) -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        self._to: IO[str] = program.stdin
        self._from: IO[str] = program.stdout
        self._pid: int | None = None
        self._is_known = threading.Event()
        self._is_over = threading.Event()

    def run(self, log: Path, environment: Mapping[str, str], *arguments: str) -> int:
        """The exit code; minus the signal where one ended it."""
        self._is_known.clear()
        self._is_over.clear()
        wanted = {"arguments": arguments, "environment": dict(environment), "log": str(log)}
        print(json.dumps(wanted), file=self._to, flush=True)
        self._pid = int(self._from.readline())
        self._is_known.set()
        end = threading.Timer(_PATIENCE_S * 2, os.killpg, (self._pid, signal.SIGABRT))
        end.start()
        code = int(self._from.readline())
        end.cancel()
        self._is_over.set()
        return code

    def kill(self) -> None:
        """SIGKILL for the whole group of what runs now; back when it is dead."""
        assert self._is_known.wait(_PATIENCE_S)
        assert self._pid is not None
        os.killpg(self._pid, signal.SIGKILL)
        assert self._is_over.wait(_PATIENCE_S)


@contextmanager
def launching() -> Iterator[Launcher]:
    """A launcher that is ready as soon as its imports are done."""
    words = [sys.executable, "-P", str(Path(__file__).with_name("launcher.py"))]
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"STUDY", "GITHUB_TOKEN", "GITEE_TOKEN", "STACKEXCHANGE_KEY"}
    }
    with Popen(words, stdin=PIPE, stdout=PIPE, text=True, env=kept) as program:
        try:
            yield Launcher(program)
        finally:
            assert program.stdin is not None
            program.stdin.close()


@contextmanager
def kill_on(
    world: World | StackExchange, launcher: Launcher, moment: Moment, due: Due, study: Path
) -> Iterator[None]:
    """Kill the fetch that runs at the first request for which `due` holds.

    `before` its answer, and so surely behind the page before it; in `mid` body; `after` the
    last byte was sent; or when something of that page has reached the disk (`written`).
    """
    hit: list[int] = []
    files: list[object] = []

    def before(number: int, request: Request) -> None:
        if hit or not due(request):
            return
        hit.append(number)
        files.append(_files(study))
        if moment == "before":
            launcher.kill()

    def mid(number: int, _request: Request) -> None:
        if hit == [number]:
            launcher.kill()

    def after(number: int, _request: Request) -> None:
        if hit == [number]:
            if moment == "written":
                _wait_for_change(study, files[0])
            launcher.kill()

    world.before_response = before
    world.mid_body = mid if moment == "mid" else None
    world.after_response = after if moment in {"after", "written"} else None
    try:
        yield
    finally:
        world.before_response = world.mid_body = world.after_response = None


def _files(study: Path) -> object:
    found = []
    for name in ("study.duckdb", "study.duckdb.wal"):
        try:
            about = (study / name).stat()
        except FileNotFoundError:
            continue
        found.append((name, about.st_size, about.st_mtime_ns))
    return found


def _wait_for_change(study: Path, before: object) -> None:
    """Without a pause in between: a commit is short."""
    end = time.monotonic() + _PATIENCE_S
    while _files(study) == before:
        assert time.monotonic() < end, "nothing was written after that page"

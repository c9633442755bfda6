"""Commands of a study that run in processes of their own, and what they said."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from faults.whole_study import Step, words
from loopback import Running
from loopback.quota import ANONYMOUS
from loopback.studies import opened

PATIENCE_S = 300.0  # before a test fails instead of hanging, also on a machine with much to do
_NOT_OURS = {"STUDY", "GITHUB_TOKEN", "GITEE_TOKEN", "STACKEXCHANGE_KEY", "OPENALEX_API_KEY"}


@dataclass(frozen=True)
class Ended:
    """How a command ended: minus a signal, where one ended it."""

    code: int
    steps: int
    cpu_s: float
    said: str
    pid: int

    @property
    def was_killed(self) -> bool:
        return self.code == -signal.SIGKILL


@dataclass
class Program:
    """The process that runs commands."""

    process: Popen[str]
    folder: Path  # of what commands say
    cpu_s: float = 0.0
    _logs: list[Path] = field(default_factory=list)
    _pids: list[int] = field(default_factory=list)
    _number: int = 0

    def start(self, *wanted: dict[str, Any]) -> list[int]:
        """Begin commands; their processes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._logs = []
        asked = []
        for each in wanted:
            self._number += 1
            self._logs.append(self.folder / f"log-{self._number}")
            usual = {
                "environment": {}, "folder": str(self.folder), "room": None, "wait_s": None,
                "clock_s": 0, "kill_at": None, "watched": str(Path(each["study"]).parent),
                "log": str(self._logs[-1]),
            }  # fmt: skip
            asked.append({**usual, **each})
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        self._pids = json.loads(self.process.stdout.readline())
        return self._pids

    def draw(self, study: Path) -> None:
        """Have the figures of a study drawn once, for all commands that will draw them again."""
        assert self.process.stdin is not None
        results = [str(path) for path in sorted(study.glob("out/*/result.json"))]
        print(json.dumps({"draw": results}), file=self.process.stdin, flush=True)

    def end(self) -> list[Ended]:
        """Wait for what was started."""
        assert self.process.stdout is not None
        patience = [threading.Timer(PATIENCE_S, _abort, (pid,)) for pid in self._pids]
        for timer in patience:
            timer.start()
        answers = json.loads(self.process.stdout.readline())
        for timer in patience:
            timer.cancel()
        self.cpu_s += sum(cpu for _code, _steps, cpu in answers)
        return [
            Ended(code, steps, cpu, _text(log), pid)
            for (code, steps, cpu), log, pid in zip(answers, self._logs, self._pids, strict=True)
        ]

    def said(self, number: int = 0) -> str:
        """What a command that runs has said so far."""
        return _text(self._logs[number])

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Until something is so, while a command runs."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"{what}: {self.said()}"
            time.sleep(0.005)


def _abort(group: int) -> None:
    os.killpg(group, signal.SIGABRT)


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


@contextmanager
def program(folder: Path) -> Iterator[Program]:
    """It is ready as soon as its imports are done."""
    script = [sys.executable, "-P", str(Path(__file__).with_name("command_program.py"))]
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
    with Popen(script, stdin=PIPE, stdout=PIPE, text=True, env=kept) as process:
        try:
            yield Program(process, folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()


@dataclass
class World:
    """Where studies get their data from, and the process that makes them."""

    program: Program
    inputs: Path
    github: Running
    stackexchange: Running

    def server(self, step: Step) -> Any:
        """Whom a step asks."""
        return {"github": self.github, "stackexchange": self.stackexchange}[step.asks].world

    def at_peace(self) -> None:
        """Nothing is ordered to go wrong any more."""
        for running in (self.github, self.stackexchange):
            running.world.faults.clear()
            running.world.before_response = None
            running.world.mid_body = running.world.after_response = None
        self.github.world.quota().remaining = ANONYMOUS


@dataclass
class Trial:
    """A study that is made step by step."""

    world: World
    study: Path

    def places(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        usual = {
            "study": self.study, "inputs": self.world.inputs,
            "github": self.world.github.url, "stackexchange": self.world.stackexchange.url,
        }  # fmt: skip
        return {**usual, **(more or {})}

    def wanted(self, step: Step, *more: str, places: Mapping[str, Any] | None = None,
               quiet: bool = True, **breaking: Any) -> dict[str, Any]:  # fmt: skip
        """What the program is asked for, to run a step of this study."""
        arguments = [*words(step, self.places(places)), "--study", str(self.study), *more]
        return {
            "program": step.program, "study": str(self.study), "only_reads": step.only_reads,
            "arguments": [*arguments, *(["--quiet"] if quiet else [])], **breaking,
        }  # fmt: skip

    def run(self, step: Step, *more: str, **breaking: Any) -> Ended:
        """One step, with something that breaks."""
        self.world.program.start(self.wanted(step, *more, **breaking))
        [ended] = self.world.program.end()
        return ended

    def finish(self, step: Step) -> Ended:
        """The step with nothing that breaks: it ends well, and what must hold does."""
        ended = self.run(step)
        assert ended.code == 0, f"{step.name}: {ended}"
        self.check(step)
        return ended

    def runs_done(self, step: Step) -> int:
        """How many runs of the study say that they have done all of it."""
        if not step.ends_with_run or not (self.study / "study.duckdb").exists():
            return 0
        with opened(self.study) as connection:
            asked = "SELECT count(*) FROM runs WHERE outcome = 'ok'"
            return int(connection.execute(asked).fetchall()[0][0])

    def check(self, step: Step) -> None:
        with opened(self.study) as connection:
            for query in step.holds:
                assert connection.execute(query).fetchall() == [(True,)], (step.name, query)

"""One run, from its start to the end of its last process."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.runs import Isolation, Outcome
from faultatlas.analysis.reexecution.sandbox import disk
from faultatlas.analysis.reexecution.sandbox.groups import Group
from faultatlas.analysis.reexecution.sandbox.output import Pump
from faultatlas.analysis.reexecution.sandbox.places import IN_MEMORY, memory_size
from faultatlas.analysis.reexecution.sandbox.processes import descendants, resident_mb
from faultatlas.analysis.reexecution.sandbox.requests import Ended, Request
from faultatlas.analysis.reexecution.sandbox.tasks import report_to

LAUNCHER = Path(__file__).with_name("launcher.py")
SAMPLE_S = 0.05  # how often counters are read: a disk is filled fast
GRACE_S = 1.0  # between SIGTERM and SIGKILL
START_S = 60.0  # a busy kernel takes its time to make namespaces
PATIENCE_S = 10.0  # for the kernel to bury what was killed
FAR_BEYOND = 16  # times the limit of output: then it is stopped
REFUSALS = 1000  # of new processes: then it is stopped
RISING = 3  # or when, at so many looks in a row, more were refused
FATAL = frozenset(  # signals that end a process: what bubblewrap's exit codes above 128 mean
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 31}
)


class Watched:
    """A run that was started: it is followed to its end, and then it says what it was."""

    def __init__(
        self, request: Request, group: Group, told: dict[str, Any], stack: contextlib.ExitStack
    ) -> None:
        self.request = request
        self.limits = request.limits
        self.group = group
        self.bare = told["kind"] == "none"
        self.said: dict[str, Any] = {}  # by launcher and bubblewrap
        self.stopped: Outcome | None = None  # by us, and why
        self._stopped_at = 0.0
        self._peak_mb = 0.0
        self._refused: list[int] = []
        self._last_output = 0.0
        self._held: dict[str, int] = {}  # folders in memory, as descriptors
        self._heard = b""
        self._stack = stack
        self._disk = disk.Watch(request.workspace)
        self._device = request.workspace.stat().st_dev
        # Of what was there already a file may be as long as it is, and grow.
        longest = told["limits"]["FSIZE"] + self._disk.before.largest
        self._start(told | {"limits": told["limits"] | {"FSIZE": longest}})

    def _start(self, told: dict[str, Any]) -> None:
        ends: list[int] = []
        self._pumps: list[Pump] = []
        try:
            for path in (self.request.stdout, self.request.stderr):
                reading, writing = os.pipe()
                ends.append(writing)
                pump = Pump(reading, path, self.limits.output_mb << 20)
                self._stack.callback(pump.close)
                self._pumps.append(pump)
            self._status, writing = os.pipe()
            ends.append(writing)
            self._stack.callback(os.close, self._status)
            os.set_blocking(self._status, False)
            self._started = time.monotonic()
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LAUNCHER)],
                stdin=subprocess.PIPE,
                stdout=ends[0],
                stderr=ends[1],
                pass_fds=(writing,),
                env={},
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the sampler, which then ends the run
            )
            self._stack.callback(self._bury)
        finally:
            for end in ends:
                os.close(end)
        words = self._keeper.stdin
        if words is not None:
            with contextlib.suppress(BrokenPipeError), words:
                words.write(json.dumps(report_to(told, writing)).encode())

    def follow(self) -> None:
        """Until nothing of it runs any more."""
        gone = os.pidfd_open(self._keeper.pid)
        self._stack.callback(os.close, gone)
        poll = select.poll()
        for descriptor in (gone, self._status, *(pump.descriptor for pump in self._pumps)):
            poll.register(descriptor, select.POLLIN)
        next_sample = time.monotonic() + SAMPLE_S / 4
        ready: list[int] = []
        while gone not in ready:
            wait_s = max(0.0, next_sample - time.monotonic())
            ready = [descriptor for descriptor, _ in poll.poll(wait_s * 1000)]
            for descriptor in ready:
                if descriptor != gone and self._has_ended(descriptor):
                    poll.unregister(descriptor)
            if time.monotonic() >= next_sample:
                self._sample()
                next_sample = time.monotonic() + SAMPLE_S
        self._keeper.wait()
        self._listen()
        self._finished = self.said.get("at", time.monotonic())
        self.group.kill()
        for pump in self._pumps:
            self._drain(pump)

    def _has_ended(self, descriptor: int) -> bool:
        """Takes what a descriptor has; True when nothing more will come."""
        if descriptor == self._status:
            return not self._listen()
        pump = next(one for one in self._pumps if one.descriptor == descriptor)
        if pump.pump() and self.stopped is None:  # what it says once it is told to end is no work
            self._last_output = time.monotonic()
        if sum(one.bytes for one in self._pumps) > FAR_BEYOND * self.limits.output_mb << 20:
            self._stop(Outcome.OUTPUT_LIMIT)
        return pump.ended

    def _drain(self, pump: Pump) -> None:
        """What is still in the pipe; not for ever, without a sandbox somebody may write on."""
        for _ in range(64):
            if pump.ended or not pump.pump():
                return
            if self.stopped is None:
                self._last_output = self._finished

    def _listen(self) -> bool:
        """What launcher and bubblewrap say; False when they will say no more."""
        while True:
            try:
                chunk = os.read(self._status, 1 << 16)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            *lines, self._heard = (self._heard + chunk).split(b"\n")
            for line in lines:
                with contextlib.suppress(ValueError):
                    said = json.loads(line)
                    if "child-pid" in said:
                        self._started = time.monotonic()
                    if "wait-status" in said or "exit-code" in said:
                        self.said["at"] = time.monotonic()
                    self.said |= said

    def _sample(self) -> None:
        """Reads the counters, and stops what is beyond its limits."""
        now = time.monotonic()
        if self.stopped is not None:
            self._stop_further(now)
            return
        self._peak_mb = max(self._peak_mb, self._memory_mb())
        self._refused.append(self.group.refused_processes())
        self._hold()
        if "child-pid" not in self.said:
            if now - self._started > START_S:
                self._stop(Outcome.NOT_STARTED)
        elif now - self._started > self.limits.seconds:
            self._stop(Outcome.TIMED_OUT)
        elif self._is_beyond_disk() or self._is_folder_full():
            self._stop(Outcome.DISK_FULL)
        elif self._forks_without_end():
            self._stop(Outcome.TOO_MANY_PROCESSES)
        elif not self.group.memory and self._peak_mb > self.limits.memory_mb:
            self._stop(Outcome.OUT_OF_MEMORY)

    def _memory_mb(self) -> float:
        """Without a group: what is mapped, and what is only written into memory without a name."""
        if self.group.memory:
            return self.group.memory_mb()
        members = self._members()
        unlinked = disk.unlinked(members)
        kept = sum(size for device, size in unlinked.items() if device != self._device)
        return resident_mb(members) + kept / 2**20

    def _members(self) -> set[int]:
        """Processes of the run, by their numbers outside; without launcher and bubblewrap."""
        first = self.said.get("child-pid")
        if first is None:
            return set()
        return descendants(first) | ({first} if self.bare else set())

    def _forks_without_end(self) -> bool:
        if not self.group.processes:
            return len(self._members()) > self.limits.processes
        last = self._refused[-RISING - 1 :]
        rising = len(last) > RISING and all(before < after for before, after in pairwise(last))
        return rising or last[-1] > REFUSALS

    def _is_beyond_disk(self) -> bool:
        """Files that were removed while they are open count too."""
        if not self._disk.look():
            return False
        unlinked = disk.unlinked(self._members()).get(self._device, 0)
        most = self.limits.disk_mb << 20
        return self._disk.now.is_too_deep or self._disk.written + unlinked > most

    def _hold(self) -> None:
        """Keeps hold of the folders in memory: what is in them is known even after the end."""
        missing = set() if self.bare else set(IN_MEMORY) - set(self._held)
        for folder in missing:
            for pid in sorted(self._members())[:4]:
                with contextlib.suppress(OSError):
                    held = os.open(f"/proc/{pid}/root{folder}", os.O_PATH | os.O_DIRECTORY)
                    found = os.fstatvfs(held)
                    if found.f_blocks * found.f_frsize == memory_size(self.limits):
                        self._held[folder] = held
                        self._stack.callback(os.close, held)
                        break
                    os.close(held)  # the sandbox is not built yet

    def _is_folder_full(self) -> bool:
        found = [os.fstatvfs(held) for held in self._held.values()]
        most = memory_size(self.limits)
        return any(
            one.f_bavail == 0 or (one.f_files - one.f_ffree) * disk.ENTRY > most for one in found
        )

    def _stop(self, outcome: Outcome) -> None:
        """At the limit of time it may still end by itself; else it is killed at once."""
        if self.stopped is not None:
            return
        self.stopped = outcome
        self._stopped_at = time.monotonic()
        if outcome is not Outcome.TIMED_OUT:
            self._kill()
            return
        for pid in self._members():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)

    def _stop_further(self, now: float) -> None:
        """It was told to end: then it is killed, then whoever started it."""
        if now - self._stopped_at >= GRACE_S:
            self._kill()
        if now - self._stopped_at >= PATIENCE_S:
            self._keeper.kill()

    def _kill(self) -> None:
        """The first process of the sandbox: the kernel ends all others with it."""
        first = self.said.get("child-pid")
        if first is None:
            self._keeper.kill()
        elif self._keeper.poll() is None:  # else the number may be another's
            with contextlib.suppress(OSError):
                os.kill(first, signal.SIGKILL)
        self.group.kill()

    def _bury(self) -> None:
        """Whatever happened: nothing of it runs on."""
        if self._keeper.poll() is None:
            if self.bare:
                self._keeper.terminate()  # it ends its descendants, then itself
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._keeper.wait(PATIENCE_S)
            self._kill()
            self._keeper.kill()
            self._keeper.wait()
        self.group.kill()

    def ended(self, isolation: Isolation) -> Ended:
        """What came of it."""
        disk.make_removable(self.request.workspace)
        self._disk.look(at_once=True)
        kills = self.group.memory_kills()
        if self.stopped is Outcome.OUT_OF_MEMORY:
            kills = max(1, kills)
        exit_code, number = self._how()
        outcome = self._outcome(exit_code, number, kills)
        return Ended(
            outcome,
            isolation,
            exit_code=exit_code,
            signal=number,
            duration_s=max(0.0, self._finished - self._started),
            cpu_s=max(self.group.cpu_s(), float(self.said.get("cpu", 0.0))),
            peak_memory_mb=max(self._peak_mb, float(self.said.get("largest", 0)) / 1024),
            memory_kills=kills,
            last_output_s=max(0.0, self._last_output - self._started),
            output_bytes=sum(pump.bytes for pump in self._pumps),
            output_cut=any(pump.cut for pump in self._pumps),
            written_mb=self._disk.written / 2**20,
            problem=self._problem(outcome),
        )

    def _how(self) -> tuple[int | None, int | None]:
        """Exit code, or the number of the signal. Bubblewrap says 128 + n for a signal n."""
        if "wait-status" in self.said:
            code = os.waitstatus_to_exitcode(self.said["wait-status"])
            return (code, None) if code >= 0 else (None, -code)
        said: int | None = self.said.get("exit-code")
        if said is not None and said - 128 in FATAL:
            return None, said - 128
        return said, None

    def _outcome(self, exit_code: int | None, number: int | None, kills: int) -> Outcome:
        if self.stopped is not None:
            return self.stopped
        if exit_code == 0:
            return Outcome.EXITED
        causes = {
            Outcome.OUT_OF_MEMORY: kills > 0,
            Outcome.TOO_MANY_PROCESSES: self.group.refused_processes() > 0,
            Outcome.DISK_FULL: number == signal.SIGXFSZ or self._was_disk_full(),
            Outcome.SIGNALLED: number is not None,
            Outcome.EXITED: exit_code is not None,
            Outcome.LOST: "child-pid" in self.said and self._was_killed(),
        }
        return next((one for one, holds in causes.items() if holds), Outcome.NOT_STARTED)

    def _was_killed(self) -> bool:
        """The launcher, or its child, by somebody outside."""
        ended = self.said.get("ended")
        return "problem" not in self.said and (ended is None or os.WIFSIGNALED(ended))

    def _was_disk_full(self) -> bool:
        most = self.limits.disk_mb << 20
        reached = self._disk.now.largest >= self._disk.before.largest + most
        beyond = self._disk.written > most or self._disk.now.is_too_deep
        return reached or beyond or self._is_folder_full()

    def _problem(self, outcome: Outcome) -> str:
        if outcome is Outcome.LOST:
            return "the sandbox was killed from outside"
        if outcome is not Outcome.NOT_STARTED:
            return ""
        if self.stopped is Outcome.NOT_STARTED:
            return f"the sandbox was not ready after {START_S:.0f} s"
        if "problem" in self.said:
            return one_line(self.said["problem"])
        self._pumps[1].flush()
        lines = self.request.stderr.read_bytes()[-2000:].decode(errors="replace").splitlines()
        return one_line(lines[-1]) if lines else "the sandbox ended before the program was started"


def one_line(text: str) -> str:
    """For a message: one line, nothing that moves a terminal's cursor."""
    kept = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(kept.split())[:300]

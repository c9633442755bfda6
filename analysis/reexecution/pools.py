"""Worker processes on this machine: each supervises one sandboxed run at a time.

A worker that dies takes nothing with it but its task, and it is known which; another takes its
place. Workers end with the sampler, however that ends (worker.py).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from faultatlas.analysis.reexecution.worker import GRACE_S

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.bugs import Bug

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from faultatlas.analysis.reexecution.worker import serve; serve(int(sys.argv[2]))"
)
_LOOK_S = 0.2  # how often it is looked whether a silent worker lives
_MEMINFO = Path("/proc/meminfo")


class WorkerLostError(Exception):
    """The worker died while it had the task: nobody knows how far it was."""


class Pool(Protocol):
    """Where tasks run: worker processes here, or a cluster."""

    def slots(self, *, gpu: bool) -> int:
        """How many tasks run at once; of those that need a GPU there may be fewer."""

    def submit(self, task: Any, *, gpu: bool) -> Future[Path]:
        """Run a task; that its worker died is a `WorkerLostError` of its future."""

    def stop(self) -> None:
        """End what runs, now."""

    def close(self) -> None:
        """End workers that have nothing to do."""


class LocalPool:
    """Processes of this machine; `work` is what they do with a task."""

    def __init__(self, workers: int, gpus: int, work: Callable[[Any], Path]) -> None:
        self._count, self._gpus, self._work = workers, gpus, work
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="supervisor")
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._stopping = False

    def slots(self, *, gpu: bool) -> int:
        """One for each worker, and no more runs on GPUs than there are GPUs."""
        return min(self._count, self._gpus) if gpu else self._count

    def submit(self, task: Any, *, gpu: bool) -> Future[Path]:  # noqa: ARG002  (all see all GPUs)
        """Give a task to a worker."""
        return self._threads.submit(self._ask, task)

    def stop(self) -> None:
        """Ask the workers to end their runs and clean up; then kill those that did not."""
        with self._lock:
            self._stopping = True
            workers = list(self._all)
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.end()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """The workers see that nobody is there any more, and end."""
        self._threads.shutdown(wait=True)
        for worker in list(self._all):
            worker.connection.close()
            worker.end()

    def _ask(self, task: Any) -> Path:
        worker = self._begun(task)
        try:
            path, error = worker.answer()
        except (EOFError, OSError) as ended:
            raise self._lost(worker) from ended
        with self._lock:
            self._idle.append(worker)
        if error is not None:
            raise error
        return Path(path)

    def _begun(self, task: Any) -> _Worker:
        """A worker that says that it has the task. One that died idle never had it."""
        while True:
            worker, is_new = self._taken()
            try:
                worker.connection.send((self._work, task))
                worker.answer()
            except (EOFError, OSError) as ended:
                lost = self._lost(worker)
                if is_new:
                    raise lost from ended
            else:
                return worker

    def _taken(self) -> tuple[_Worker, bool]:
        """A worker that has nothing to do, and whether it was made for this."""
        with self._lock:
            if self._stopping:
                raise WorkerLostError("the pool was stopped")
            if self._idle:
                return self._idle.pop(), False
            worker = _Worker()
            self._all.add(worker)
            return worker, True

    def _lost(self, worker: _Worker) -> WorkerLostError:
        with self._lock:
            self._all.discard(worker)
        worker.process.kill()
        code = worker.end()
        return WorkerLostError(f"the worker process ended ({_how(code)})")


class _Worker:
    """A process and our end of the line to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            words = [json.dumps(sys.path), str(theirs.fileno())]
            self.process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *words],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # ours is for results
                process_group=0,  # Ctrl-C is for the sampler
            )
        self.connection: Connection[Any, Any] = Connection(ours.detach())

    def answer(self) -> Any:
        """What it says next; EOFError when it is dead, although its children may live."""
        while not self.connection.poll(_LOOK_S):
            if self.process.poll() is not None and not self.connection.poll(0):
                raise EOFError
        return self.connection.recv()

    def end(self) -> int:
        """How it ended; it is made to, if it does not."""
        try:
            code = self.process.wait(GRACE_S + 1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        with suppress(OSError):
            self.connection.close()
        return code


def workers_for(bugs: Sequence[Bug], cores: int = 0, memory_mb: int = 0) -> int:
    """As many as there are cores, as long as all runs may use the memory that they are allowed."""
    cores = cores or _cores()
    memory_mb = memory_mb or _memory_mb()
    largest = max((bug.limits.memory_mb for bug in bugs), default=1)
    return max(1, min(cores, memory_mb // max(largest, 1)) if memory_mb else cores)


def _cores() -> int:
    """Those that this process may use, where the system says so."""
    may_use = getattr(os, "sched_getaffinity", None)
    return len(may_use(0)) if may_use else os.cpu_count() or 1


def _memory_mb() -> int:
    """What is free now; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    return 0


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"

"""GPUs: found through `nvidia-smi`, lent to one run at a time, watched while it runs."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.environments.folders import own_folder
from faultatlas.analysis.reexecution.runs import Device
from faultatlas.data.errors import StudyError

REQUESTS = ("auto", "cpu", "cuda")
PROGRAM = "nvidia-smi"
ANSWER_S = 15.0  # nvidia-smi that has not answered by then hangs: a driver that is gone does that
SAMPLE_S = 1.0
LASTS_S = 60.0  # an answer: a driver may come or go while a worker lives
LOOK_S = 0.2  # how often it is looked whether a GPU is free
_LEAVE_S = 2.0  # a killed nvidia-smi that is not dead by then is not waited for
_MOST_SAID = 1 << 20
_clock = time.monotonic
_left_behind: list[subprocess.Popen[bytes]] = []
_MOST_FAILURES = 3  # samples in a row: then it is not asked any more
_NODES = ("nvidia*", "dxg")  # the second is that of Windows' Linux
# What can use a GPU: only such bugs wait for one.
_USES_GPU = re.compile(
    r"tensorflow|keras|torch|mxnet|theano|jax|cntk|caffe|chainer|paddle|mindspore|cupy|onnxruntime"
)


@dataclass(frozen=True)
class Gpu:
    """One device, as nvidia-smi names it."""

    index: int
    uuid: str
    name: str
    memory_mb: int  # 0 where it does not say


@dataclass(frozen=True)
class Found:
    """The GPUs that may be used, and why there are none although there might be."""

    gpus: tuple[Gpu, ...] = ()
    problem: str = ""  # one line; '' also where this host has simply none


def gpus() -> tuple[Gpu, ...]:
    """The GPUs of this host that `CUDA_VISIBLE_DEVICES` leaves us."""
    return found().gpus


def found() -> Found:
    """What nvidia-smi says; a process asks it once a minute, and when it is installed anew."""
    program = shutil.which(PROGRAM)
    if program is None:
        return Found()
    installed = Path(program).stat().st_mtime_ns
    period = int(_clock() // LASTS_S)
    return _found(program, installed, os.environ.get("CUDA_VISIBLE_DEVICES"), period)


def kind(request: str, bug: Bug) -> str:
    """'cuda' or 'cpu': where a bug runs on this host. Raises StudyError where it cannot.

    On auto a bug takes a GPU if there is one and it could use it: it is about a GPU, or needs a
    framework that knows GPUs.
    """
    if request == "cpu":
        return "cpu"
    if request == "auto":
        return "cuda" if may_use_gpu(bug) and gpus() else "cpu"
    if request != "cuda":
        raise StudyError(f"no device is called {request!r}", f"Known: {', '.join(REQUESTS)}.")
    check(request)
    return "cuda"


def check(request: str) -> None:
    """Whether the request can be met on this host; StudyError with the next step if not."""
    if request == "cuda" and not gpus():
        why = found().problem or f"{PROGRAM} is not on this host"
        raise StudyError(
            f"no GPU was found: {why}",
            "Take --device cpu or auto, or run where nvidia-smi shows a GPU.",
        )


def may_use_gpu(bug: Bug) -> bool:
    """Whether a GPU would make a difference."""
    words = " ".join((bug.labels.framework, *bug.environment.requirements)).lower()
    return bug.labels.about_gpu or _USES_GPU.search(words) is not None


@contextlib.contextmanager
def lent(cache: Path | None = None) -> Iterator[Gpu]:
    """A GPU that no other run of this host has meanwhile; waits for one.

    The lock is the system's: it is free again when the process ends, however it ends.
    """
    usable = gpus()
    if not usable:
        check("cuda")
    folder = (cache or own_folder()) / "gpus"
    folder.mkdir(parents=True, exist_ok=True)
    gpu, lock = _wait_for_one(usable, folder)
    try:
        yield gpu
    finally:
        os.close(lock)


def nodes(root: Path = Path("/dev")) -> tuple[Path, ...]:
    """The files through which a run reaches a GPU."""
    return tuple(sorted(path for name in _NODES for path in root.glob(name)))


class Watch:
    """Memory and utilisation of a GPU, asked for each second while the block runs."""

    def __init__(self, gpu: Gpu, every_s: float = SAMPLE_S) -> None:
        self._gpu, self._every_s = gpu, every_s
        self._memory: list[int] = []
        self._utilisation: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def device(self) -> Device:
        """The GPU with what was seen so far."""
        seen = Device("cuda", self._gpu.name, self._gpu.uuid, self._gpu.memory_mb)
        if self._memory:
            seen = replace(seen, peak_memory_mb=max(self._memory))
        if self._utilisation:
            mean = sum(self._utilisation) / len(self._utilisation)
            seen = replace(seen, mean_utilisation=round(mean, 1))
        return seen

    def _watch(self) -> None:
        failures = 0
        while failures < _MOST_FAILURES and not self._stop.is_set():
            try:
                line = self._asked()
            except OSError:
                line = ""
            memory, _, utilisation = line.partition(",")
            if (used := _number(memory)) is None:
                failures += 1
            else:
                failures = 0
                self._memory.append(int(used))
            if (busy := _number(utilisation)) is not None:
                self._utilisation.append(busy)
            self._stop.wait(self._every_s)

    def _asked(self) -> str:
        words = [PROGRAM, f"--id={self._gpu.uuid}", "--query-gpu=memory.used,utilization.gpu"]
        answer = _ask([*words, "--format=csv,noheader,nounits"], self._stop)
        return answer.output.strip() if answer.code == 0 else ""


@dataclass(frozen=True)
class _Answer:
    code: int | None  # None: it did not answer in time, or was not wanted any more
    output: str = ""
    error: str = ""


def _ask(words: list[str], stop: threading.Event) -> _Answer:
    """Run nvidia-smi; one that cannot even be killed (a driver that is gone) is left behind."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=error, start_new_session=True
        )
        until = time.monotonic() + ANSWER_S
        pause = 0.005
        while process.poll() is None and time.monotonic() < until and not stop.is_set():
            stop.wait(pause)
            pause = min(2 * pause, 0.1)
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            try:
                process.wait(_LEAVE_S)
            except subprocess.TimeoutExpired:
                _left_behind.append(process)
            return _Answer(None)
        output.seek(0)
        error.seek(0)
        return _Answer(
            process.returncode,
            output.read(_MOST_SAID).decode("utf-8", "replace"),
            error.read(_MOST_SAID).decode("utf-8", "replace"),
        )


@functools.lru_cache(maxsize=8)
def _found(program: str, installed: int, visible: str | None, period: int) -> Found:
    del installed, period
    words = [program, "--query-gpu=index,uuid,name,memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = _ask(words, threading.Event())
    except OSError as error:
        return Found(problem=f"{PROGRAM} cannot be started: {error.strerror}")
    if answer.code is None:
        return Found(problem=f"{PROGRAM} did not answer within {ANSWER_S:g} s")
    if answer.code:
        said = _line(answer.output) or _line(answer.error) or f"exit code {answer.code}"
        return Found(problem=f"{PROGRAM} failed: {said}")
    listed = [_gpu(row) for row in csv.reader(answer.output.splitlines()) if row]
    every = [gpu for gpu in listed if gpu is not None]
    if not every:
        return Found(problem=f"{PROGRAM} names no GPU: {_line(answer.output) or 'it says nothing'}")
    usable = tuple(gpu for gpu in every if _is_visible(gpu, visible))
    problem = "" if usable else f"CUDA_VISIBLE_DEVICES hides the {len(every)} GPUs of this host"
    return Found(usable, problem)


def _gpu(row: list[str]) -> Gpu | None:
    """A line of the list; None for anything else."""
    cells = [cell.strip() for cell in row]
    if len(cells) < 4 or not cells[0].isdigit() or not re.fullmatch(r"[\w-]{4,80}", cells[1]):
        return None
    name = _line(", ".join(cells[2:-1]))
    return Gpu(int(cells[0]), cells[1], name, int(_number(cells[-1]) or 0))


def _is_visible(gpu: Gpu, visible: str | None) -> bool:
    """As CUDA reads it: indexes, or beginnings of uuids; what follows an unknown one is hidden."""
    if visible is None:
        return True
    for each in visible.split(","):
        word = each.strip()
        if not word or word.startswith("-"):
            return False
        if word == str(gpu.index) or (not word.isdigit() and gpu.uuid.startswith(word)):
            return True
    return False


def _number(text: str) -> float | None:
    """A number of nvidia-smi, which writes [N/A] and [Not Supported] too."""
    found = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)(?:\s*(?:MiB|%))?\s*", text)
    return float(found[1]) if found else None


def _line(text: str) -> str:
    """The first line with words, short and printable."""
    line = next((each.strip() for each in text.splitlines() if each.strip()), "")
    return "".join(each if each.isprintable() else " " for each in line)[:160]


def _wait_for_one(usable: tuple[Gpu, ...], folder: Path) -> tuple[Gpu, int]:
    while True:
        for gpu in usable:
            number = os.open(folder / f"{gpu.uuid}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(number)
            except BaseException:
                os.close(number)
                raise
            else:
                return gpu, number
        time.sleep(LOOK_S)

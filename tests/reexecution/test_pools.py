"""Worker processes: one that dies takes only its task with it, and none is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))  # what workers do must have a name for them too
import pool_tasks

from faultatlas.analysis.reexecution.bugs import Limits
from faultatlas.analysis.reexecution.pools import LocalPool, WorkerLostError, workers_for

WAIT_S = 20


def until(is_so: Callable[[], Any]) -> Any:
    """Something that another process does; it is looked at again and again, but not for ever."""
    end = time.monotonic() + WAIT_S
    while not (found := is_so()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return found


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.fixture
def pool(request: pytest.FixtureRequest) -> Iterator[LocalPool]:
    made = LocalPool(2, 0, getattr(pool_tasks, getattr(request, "param", "touch")))
    yield made
    made.stop()


def test_a_worker_is_used_again(pool: LocalPool, tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(4)]
    for path in paths:
        assert pool.submit(path, gpu=False).result(WAIT_S) == path
    assert len({path.read_text() for path in paths}) == 1
    pool.close()
    until(lambda: not is_alive(int(paths[0].read_text())))


@pytest.mark.parametrize("pool", ["die"], indirect=True)
def test_a_killed_worker_loses_its_task_alone(pool: LocalPool, tmp_path: Path) -> None:
    first = pool.submit(tmp_path / "first", gpu=False)
    with pytest.raises(WorkerLostError, match="signal 9"):
        first.result(WAIT_S)
    pool._work = pool_tasks.touch  # noqa: SLF001
    assert pool.submit(tmp_path / "second", gpu=False).result(WAIT_S) == tmp_path / "second"
    assert (tmp_path / "first").read_text() == "x"


@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "about to go"])
def test_a_worker_that_died_idle_is_replaced(
    pool: LocalPool, tmp_path: Path, *, is_gone: bool
) -> None:
    pids = set()
    for name in "abcde":
        pool.submit(tmp_path / name, gpu=False).result(WAIT_S)
        pid = int((tmp_path / name).read_text())
        pids.add(pid)
        os.kill(pid, signal.SIGKILL)
        if is_gone:
            until(lambda pid=pid: not is_alive(pid))
    assert len(pids) == 5


@pytest.mark.parametrize("pool", ["fill"], indirect=True)
def test_errors_come_back_as_they_are(pool: LocalPool, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as full:
        pool.submit(tmp_path / "x", gpu=False).result(WAIT_S)
    assert full.value.filename == str(tmp_path / "x")
    pool._work = pool_tasks.fail  # noqa: SLF001
    with pytest.raises(RuntimeError, match="StrangeError"):
        pool.submit(tmp_path / "y", gpu=False).result(WAIT_S)


@pytest.mark.parametrize("pool", ["hold"], indirect=True)
def test_stopping_ends_runs_and_cleans_up(pool: LocalPool, tmp_path: Path) -> None:
    futures = [pool.submit(tmp_path / str(number), gpu=False) for number in range(2)]
    pids = [
        int(word)
        for number in range(2)
        for word in until(lambda at=number: _read(tmp_path / str(at))).split()
    ]
    pool.stop()
    assert [future.exception(WAIT_S).__class__ for future in futures] == [WorkerLostError] * 2
    assert not [pid for pid in pids if is_alive(pid)]
    assert len(list(tmp_path.glob("*.cleaned"))) == 2


PROGRAM = """
import sys
from pathlib import Path
sys.path.append(sys.argv[1])
import pool_tasks
from faultatlas.analysis.reexecution.pools import LocalPool
pool = LocalPool(2, 0, pool_tasks.hold)
futures = [pool.submit(Path(sys.argv[2]) / str(at), gpu=False) for at in range(2)]
for future in futures:
    future.result()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_a_sampler_that_is_killed(number: signal.Signals, tmp_path: Path) -> None:
    words = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(tmp_path)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as program:
        pids = [
            int(word)
            for at in range(2)
            for word in until(lambda at=at: _read(tmp_path / str(at))).split()
        ]
        program.send_signal(number)
        if number == signal.SIGINT:  # it waits for threads that wait for workers
            program.kill()
    until(lambda: not [pid for pid in pids if is_alive(pid)])
    assert len(list(tmp_path.glob("*.cleaned"))) == 2


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_as_many_workers_as_memory_allows() -> None:
    class Hungry:
        limits = Limits(memory_mb=1000)

    assert workers_for([Hungry()], cores=8, memory_mb=4500) == 4  # type: ignore[list-item]
    assert workers_for([Hungry()], cores=2, memory_mb=4500) == 2  # type: ignore[list-item]
    assert workers_for([Hungry()], cores=2, memory_mb=500) == 1  # type: ignore[list-item]
    assert workers_for([], cores=3, memory_mb=1) >= 1

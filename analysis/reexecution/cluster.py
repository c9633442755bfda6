"""A Dask cluster as a pool: `--cluster ADDRESS`. One code path with the local one: futures.

Runs on a GPU ask for the resource `GPU`; workers say that they have one when they are started
(`dask worker ADDRESS --resources GPU=1`). Results are files, so every worker must see the study's
folder under the same path: that is looked at first, with a file that was just written. Workers that
come later look themselves, before each task.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.pools import WorkerLostError
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import program_version
from faultatlas.report.formatting import plain

Client = Any  # Dask's; it has few types

GPU = "GPU"
CONNECT_S = 5
_PACKAGE = "faultatlas"
_NONCE = ".seen-by-workers-"


class ClusterPool:
    """The workers of a Dask cluster; `work` is what they do with a task."""

    def __init__(self, client: Client, work: Callable[[Any], Path], folder: Path) -> None:
        self._client, self._work, self._folder = client, work, folder
        # Tasks are no functions of their arguments: a run that was the host's fault is made again.
        self._plain = client.get_executor(pure=False)
        self._on_gpu = client.get_executor(pure=False, resources={GPU: 1})

    def slots(self, *, gpu: bool) -> int:
        """The threads of all workers that are there now, or their GPUs."""
        workers = _workers(self._client).values()
        if gpu:
            return int(sum(each["resources"].get(GPU, 0) for each in workers))
        return sum(each["nthreads"] for each in workers)

    def submit(self, task: Any, *, gpu: bool) -> Future[Path]:
        """Give a task to the cluster."""
        executor = self._on_gpu if gpu else self._plain
        inner = executor.submit(_with_care, self._work, task, program_version(), str(self._folder))
        outer: Future[Path] = Future()
        outer.set_running_or_notify_cancel()
        inner.add_done_callback(lambda ended: _hand_on(ended, outer))
        return outer

    def stop(self) -> None:
        """Give up what runs; a worker ends its run by itself, and the result is a file."""
        for executor in (self._plain, self._on_gpu):
            executor.shutdown(wait=False)
        self.close()

    def close(self) -> None:
        """Leave the cluster; it is not ours to end."""
        with suppress(OSError, TimeoutError):
            self._client.close()


def _with_care(work: Callable[[Any], Path], task: Any, version: str, folder: str) -> Path:
    """On a worker: it may have come after the others were looked at."""
    import socket

    here = f"the worker on {socket.gethostname()}"
    if program_version() != version:
        raise StudyError(
            f"{here} has {_PACKAGE} {program_version()}, the command that asks it has {version}",
            "Install the same version everywhere.",
        )
    if not Path(folder).is_dir():
        raise StudyError(
            f"{here} cannot see {folder}",
            "Put the study on a file system that all workers have under the same path.",
        )
    return work(task)


def reach(address: str) -> None:
    """See that there is a scheduler; without a client: one that cannot connect goes on trying."""
    try:
        import distributed  # noqa: F401  (whether it is there)
    except ImportError:
        raise StudyError(
            "--cluster needs Dask, which is not installed",
            "Install it: pip install 'faultatlas[reexecution]'. Or leave --cluster out.",
        ) from None
    with _reaching(address):
        asyncio.run(_knock(address))


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise StudyError(
            f"the cluster's scheduler {address} cannot be reached: {plain(error)}",
            "Check the address, such as tcp://10.0.0.5:8786, and that `dask scheduler` runs there.",
        ) from None


def connect(address: str, folder: Path) -> Client:
    """A client of the cluster, once its workers can do what will be asked of them."""
    reach(address)
    import distributed

    dask: Any = distributed
    with _reaching(address):
        client = dask.Client(address, timeout=CONNECT_S, set_as_default=False)
    try:
        _check(client, address, folder)
    except BaseException:
        client.close()
        raise
    return client


async def _knock(address: str) -> None:
    from distributed import comm

    dask: Any = comm
    line = await dask.connect(address, timeout=CONNECT_S)
    await line.close()


def has_gpu(client: Client) -> bool:
    """Whether a worker says that it has one."""
    return any(each["resources"].get(GPU, 0) > 0 for each in _workers(client).values())


def _workers(client: Client) -> dict[str, Any]:
    """Those that are there now; none while the scheduler is away."""
    if client.status != "running":
        return {}
    return dict(client.scheduler_info(n_workers=-1)["workers"])


def _check(client: Client, address: str, folder: Path) -> None:
    if not _workers(client):
        raise StudyError(
            f"the cluster {address} has no workers", f"Start some: dask worker {address}."
        )
    _check_versions(client)
    _check_folder(client, folder)


def _check_versions(client: Client) -> None:
    """The same program everywhere: records of another version may mean something else."""
    from importlib.metadata import version

    ours = program_version()
    found = client.run(version, _PACKAGE, on_error="return")
    for worker, theirs in sorted(found.items()):
        if isinstance(theirs, BaseException):
            raise StudyError(
                f"the worker {worker} has no {_PACKAGE}",
                f"Install {_PACKAGE} {ours} in the environment of its `dask worker`.",
            )
        if theirs != ours:
            raise StudyError(
                f"the worker {worker} has {_PACKAGE} {plain(theirs)}, this is {ours}",
                "Install the same version everywhere.",
            )


def _check_folder(client: Client, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    nonce = folder / f"{_NONCE}{secrets.token_hex(8)}"
    try:
        nonce.touch()
        seen = client.run(os.path.exists, str(nonce), on_error="return")
    finally:
        nonce.unlink(missing_ok=True)
    blind = sorted(worker for worker, found in seen.items() if found is not True)
    if blind:
        others = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
        raise StudyError(
            f"the worker {blind[0]}{others} cannot see {folder}",
            "Put the study on a file system that all workers have under the same path.",
        )


def _hand_on(ended: Future[Path], outer: Future[Path]) -> None:
    """A worker that died too often for its task is a lost worker, as it is locally."""
    try:
        outer.set_result(Path(ended.result()))
    except CancelledError:
        outer.set_exception(WorkerLostError("the cluster gave the task up"))
    except ModuleNotFoundError as error:
        outer.set_exception(
            StudyError(
                f"a worker that came later has no {error.name or _PACKAGE}",
                f"Install {_PACKAGE} {program_version()} in the environment of its `dask worker`.",
            )
        )
    except Exception as error:  # noqa: BLE001  (whatever it is, it is the future's)
        lost = type(error).__name__ in {"KilledWorker", "NoValidWorkerError", "CommClosedError"}
        outer.set_exception(WorkerLostError(plain(error)) if lost else error)

"""A worker process: runs one task after the other until the sampler is gone.

It is started by pools.py with one end of a socket. A task comes in and is confirmed, its result
file is written, and the path of it goes out. When the other end is closed, however the sampler
ended, the run is ended and cleaned up after, and the worker ends too.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

GRACE_S = 5.0  # to end a run and to clean up after it
STOPPED = 128 + signal.SIGTERM

TAKEN = "taken"  # the task is here: from now on nobody else may have it
Answer = tuple[Path | None, BaseException | None]


class _StoppedError(BaseException):
    """The run is to end: not an Exception, so that nobody takes it for a failed run."""


class _Serving:
    """What the worker is doing."""

    is_working = False


def serve(descriptor: int) -> None:
    """Until the sampler closes its end."""
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGTERM, _end)
    connection: Connection[Any, Any] = Connection(descriptor)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    while True:
        task = tasks.get()
        try:
            connection.send(TAKEN)
            connection.send_bytes(_packed(_done(task)))
        except OSError:  # nobody is there; the result file is
            os._exit(STOPPED)


def _done(sent: bytes) -> Answer:
    try:
        _Serving.is_working = True
        work, task = pickle.loads(sent)  # noqa: S301  (the sampler's)
        return work(task), None
    except _StoppedError:
        os._exit(STOPPED)
    except Exception as error:  # noqa: BLE001  (the sampler decides what it means)
        error.add_note(traceback.format_exc())
        return None, error
    finally:
        _Serving.is_working = False


def _packed(answer: Answer) -> bytes:
    try:
        packed = pickle.dumps(answer)
        pickle.loads(packed)  # noqa: S301  (our own; some exceptions do not come back)
    except Exception:  # noqa: BLE001
        words = "".join(traceback.format_exception(answer[1]))
        return pickle.dumps((None, RuntimeError(f"a run failed:\n{words}")))
    return packed


def _receive(connection: Connection[Any, Any], tasks: queue.SimpleQueue[bytes]) -> NoReturn:
    """Tasks go to the main thread; the end of the sampler is the end of everything here."""
    try:
        while True:
            tasks.put(connection.recv_bytes())
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_S)
        os.killpg(0, signal.SIGKILL)  # a group of its own: see pools.py
    raise AssertionError("killed above")


def _end(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once: cleaning up is not interrupted
    if _Serving.is_working:
        raise _StoppedError
    os._exit(STOPPED)

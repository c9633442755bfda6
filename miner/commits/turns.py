"""Only one process reads a project into a study at a time; the others wait for their turn."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from faultatlas.data import locks

_DIGITS = 16


@contextmanager
def turn(directory: Path, project: str, tell: Callable[[str], None]) -> Iterator[bool]:
    """Wait until nobody else reads the project into this study; whether there was a wait.

    The lock is the kernel's: it ends with the process, however that ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield False
        return
    name = hashlib.sha256(project.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
    path = directory / f".commits-{name}.lock"
    told = None
    has_waited = False
    for pause in locks.pauses():
        try:
            file = path.open("a+b")
        except OSError:  # nothing can be written here, so nothing will be
            yield has_waited
            return
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(file)
                has_waited = True
                if holder != told:
                    tell(f"waiting for {holder}, which reads {project} into this study")
                    told = holder
            except OSError:  # a disk without locks
                yield has_waited
                return
            else:
                if _is_at(path, file.fileno()):  # and not removed by the one before us
                    _sign(file)
                    try:
                        yield has_waited
                    finally:
                        with suppress(OSError):
                            path.unlink()
                    return
                continue
        time.sleep(pause)


def _holder(file: IO[bytes]) -> str:
    file.seek(0)
    number = file.read(20).strip()
    return str(locks.process(int(number))) if number.isdigit() else "another process"


def _sign(file: IO[bytes]) -> None:
    file.truncate(0)
    file.write(b"%d\n" % os.getpid())
    file.flush()


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False

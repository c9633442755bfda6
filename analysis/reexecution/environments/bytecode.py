"""Compiled modules, shared between environments: the same source is compiled once.

A compiled module names its source's time and size, not its path (the importer puts that in), so
that one file serves every environment that has the same source. What it is known by is the
source's content, its time, and the Python; only our own compiler ever writes here.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LARGEST = 32 << 20  # of a source


def known(packages: Path, store: Path, tag: str) -> int:
    """Link what was compiled before; how many sources are still without bytecode."""
    missing = 0
    for source, compiled in _sources(packages, tag):
        if os.path.lexists(compiled):
            continue
        name = _name(source, tag)
        try:
            if name is None:
                raise FileNotFoundError
            compiled.parent.mkdir(exist_ok=True)
            os.link(store / name, compiled)
        except OSError:
            missing += 1
    return missing


def keep(packages: Path, store: Path, tag: str) -> None:
    """Put what was just compiled where others find it."""
    for source, compiled in _sources(packages, tag):
        with suppress(OSError):
            if os.lstat(compiled).st_nlink == 1:
                name = _name(source, tag)
                if name is not None:
                    (store / name).parent.mkdir(parents=True, exist_ok=True)
                    os.link(compiled, store / name)


def _sources(packages: Path, tag: str) -> Iterator[tuple[str, Path]]:
    for root, _, names in os.walk(packages):
        for name in names:
            if name.endswith(".py"):
                compiled = Path(root, "__pycache__", f"{name[:-3]}.{tag}.pyc")
                yield os.path.join(root, name), compiled  # noqa: PTH118 - ten thousands of them


def _name(source: str, tag: str) -> str | None:
    """What its bytecode is called in the store; None where it is no plain file."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _LARGEST:
            return None
        digest = hashlib.sha256(stream.read()).hexdigest()
    return f"{tag}/{digest[:2]}/{digest}-{int(state.st_mtime)}"

"""Studies that are made and opened fast: both take longer than most of what a test asks.

A new study is a copy of an empty one. An instance of DuckDB reaches all temporary files and is
used for one study after the other; in the program it reaches the files of one study.
"""

# ruff: noqa: SLF001 - it takes the place of a part of the engine

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from warming import empty_database

from faultatlas.data import engine
from faultatlas.data.sql_text import literal
from faultatlas.data.store import Study

_TEMPORARY = Path(os.path.realpath(tempfile.gettempdir()))
_make_instance = engine._made


@contextmanager
def fast_studies() -> Iterator[None]:
    """Meanwhile studies are made and opened so."""
    with Study.made_from(empty_database()), pytest.MonkeyPatch.context() as patch:
        engine.close_idle()
        patch.setattr(engine, "_made", _shared)
        yield


def _shared(path: str, use: engine.Use) -> engine._Instance:
    """In the place of `engine._made`: an instance that no file has at the moment, or a new one."""
    if use.other_files or _TEMPORARY not in Path(path).parents:
        return _make_instance(path, use)
    for key, idle in engine._idle.items():
        if Path(idle.overflow).parent == _TEMPORARY and idle.use.kind == use.kind:
            del engine._idle[key]
            if _is_as_new(idle):
                return replace(idle, path=path, use=use)
            engine._close(idle)
            break
    overflow = str(_TEMPORARY / f"faultatlas.{os.urandom(4).hex()}.{os.getpid()}.tmp")
    reach = f"allowed_directories = [{literal(str(_TEMPORARY))}]"
    return engine._Instance(path, use, engine._root(use, overflow, reach), overflow)


def _is_as_new(idle: engine._Instance) -> bool:
    """Whether it still answers; a setting that a command changes is put back."""
    threads = engine._CONFIG["threads"]
    try:
        idle.root.execute("SELECT 1" if idle.use.read_only else f"SET threads = {threads}")
    except duckdb.Error:
        return False
    return True

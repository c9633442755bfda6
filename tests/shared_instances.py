"""Studies of tests share DuckDB instances: to make one takes longer than most of what a test asks.

An instance of the program reaches the files of one study and no other; one of these reaches all
that is temporary. Tests of what a study can reach have instances of the program.
"""

# ruff: noqa: SLF001 - it takes the place of a part of the engine

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import duckdb

from faultatlas.data import engine
from faultatlas.data.sql_text import literal

# Tests that fail when the program's own instances reach too much or too little.
OF_THE_PROGRAM = {"test_backup.py", "test_compact.py", "test_engine.py", "test_forget_command.py",
                  "test_locks.py", "test_own_claims.py", "test_package.py", "test_store.py",
                  "test_trace.py"}  # fmt: skip

_TEMPORARY = Path(os.path.realpath(tempfile.gettempdir()))
_make_instance = engine._made


def shared(path: str, use: engine.Use) -> engine._Instance:
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

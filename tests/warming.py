"""What programs that fork a child for every command do once, so that no child does it again."""

from __future__ import annotations

import functools
import gc
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from program import tree

from faultatlas.data import database
from faultatlas.data.study import Study

# What libraries import when they are first used: pyarrow looks for pandas with its first array.
_LATE = ("pandas", "pyarrow.pandas_compat", "rich.console", "rich.table", "rich.progress")
_INSIDE_TYPER = ("typer._adapters", "typer._click.decorators")  # where this version has them

# At least as many processes as there are cores run tests: more threads would wait for each other.
database._CONFIG["threads"] = "1"  # noqa: SLF001 - for whoever imports this: tests, and what they fork


def warm_up(modules: Iterable[str], programs: Iterable[str]) -> None:
    """Import these modules and what they will need, and put the commands of programs together."""
    for name in (*_LATE, *modules):
        import_module(name)
    for name in _INSIDE_TYPER:
        with suppress(ImportError):
            import_module(name)
    for program in programs:
        tree(program)
    gc.freeze()  # children would copy every page that a collection touches


@functools.cache
def empty_database() -> bytes:
    """The file of a study in which nothing is stored yet, made once for each process."""
    with tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder))
        with study.writing():
            pass
        return study.database.read_bytes()


def new_studies_are_copies() -> None:
    """For programs that kill nobody while a study is made; their children share the one file."""
    Study.made_from(empty_database()).__enter__()

"""Who came from whom, while they come and go."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from faultatlas.analysis.reexecution.sandbox import processes


@pytest.fixture
def child() -> Any:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        yield started.pid
        assert started.stdin is not None
        started.stdin.close()


def test_children_of_a_process_are_found(child: int) -> None:
    assert child in processes.descendants(os.getpid())
    assert processes.of_process(child, "task")


def test_one_that_ends_between_two_looks_has_nothing(
    child: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is still there when /proc is asked for it, and gone when its folder is opened."""
    plain = {"scandir": os.scandir, "listdir": os.listdir}

    def gone(name: str) -> Any:
        def look(path: Any = ".") -> Any:
            if str(path) == f"/proc/{child}/task":
                raise FileNotFoundError(2, "No such file or directory", str(path))
            return plain[name](path)

        return look

    for name in plain:
        monkeypatch.setattr(os, name, gone(name))
    assert child in processes.descendants(os.getpid())
    assert processes.of_process(child, "task") == []

"""What tests of several packages share."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen
from typing import Any

import pytest
import typer.main
from hypothesis import HealthCheck, settings
from program import exit_code
from shared_instances import OF_THE_PROGRAM, shared
from warming import copy_empty_database

from faultatlas.data import engine
from faultatlas.data.store import Study

ROOT = Path(__file__).resolve().parents[1]

# One thread of linear algebra for each process that runs tests: several on the same cores wait
# for each other in busy loops, which is most of the time of a small model. Before numpy is read.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell starts what runs in the background with Ctrl-C switched off, for all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Laws are tried on the same examples every time, however busy the machine is.
settings.register_profile(
    "laws",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("laws")

_MAKE_THEIR_OWN = {"test_locks.py", "test_migrations.py", "test_store.py"}

_command_of = functools.cache(typer.main.get_command)  # else it is put together for each call


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Tests wait a seventh of their time, for servers, browsers and disks: more than one a core."""
    cores = yield
    is_wanted = "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ
    return cores if is_wanted else cores + cores // 2


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules stay to the end: no later collection looks at them."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # else libraries complain of what is left when the process ends


@pytest.fixture(autouse=True, scope="module")
def new_studies_are_copies(request: pytest.FixtureRequest) -> Iterator[None]:
    """A new study is a copy of an empty one; only tests of how it is made make theirs anew."""
    with pytest.MonkeyPatch.context() as patch:
        if Path(request.path).name not in _MAKE_THEIR_OWN:
            patch.setattr(Study, "_make", copy_empty_database)
        yield


@pytest.fixture(autouse=True, scope="module")
def studies_share_instances(request: pytest.FixtureRequest) -> Iterator[None]:
    """Only tests of what a study can reach have the instances of the program."""
    with pytest.MonkeyPatch.context() as patch:
        engine.close_idle()
        if Path(request.path).name not in OF_THE_PROGRAM:
            patch.setattr(engine, "_made", shared)
        yield


@pytest.fixture(scope="session")
def study_fixtures() -> Path:
    """The folder with the real data of the studies; only where there is none, tests may skip."""
    folder = ROOT / os.environ.get("STUDY_FIXTURES", "../shared/data")
    if not folder.is_dir():
        reason = f"{folder} is missing: set STUDY_FIXTURES to the folder of the real data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., CompletedProcess[str]]:
    """Runs `miner`, `annotation`, `analysis` or `report` in an empty folder, in this process.

    It goes through the entry point of the console script, so whatever is not a clean exit is
    an error of the test.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STUDY", raising=False)
    monkeypatch.setattr(typer.main, "get_command", _command_of)

    def run(program: str, *arguments: Any) -> CompletedProcess[str]:
        words = [program, *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", words)
        capsys.readouterr()
        code = exit_code(program)
        printed = capsys.readouterr()
        return CompletedProcess(words, code, printed.out, printed.err)

    return run


@pytest.fixture
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock on the wall is five and a half hours ahead of UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Popen[str]]]:
    """Starts Python code as a program of that name in another process, with pipes to talk to it."""
    with ExitStack() as started:

        def run(name: str, code: str, *arguments: Any) -> Popen[str]:
            script = tmp_path / name
            script.write_text(code, encoding="utf-8")
            words = [sys.executable, str(script), *map(str, arguments)]
            process = started.enter_context(Popen(words, stdin=PIPE, stdout=PIPE, text=True))
            started.callback(process.kill)  # before it is waited for; no harm when it has ended
            return process

        yield run

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
from fake_time import FakeTime
from fast_study import fast_studies
from hypothesis import HealthCheck, settings
from needed import need
from program import exit_code

from faultatlas.data import clock, redaction

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
def fast_study(request: pytest.FixtureRequest) -> Iterator[None]:
    """Studies are made and opened fast, but in files that are marked `usual_study`."""
    if request.node.get_closest_marker("usual_study"):
        yield
        return
    with fast_studies():
        yield


@pytest.fixture(autouse=True)
def no_secrets_of_others() -> Iterator[None]:
    """What a test had masked is masked in no other."""
    yield
    redaction.forget_all()


@pytest.fixture
def fake_time() -> Iterator[FakeTime]:
    """The time of the program: waits are noted and take none."""
    fake = FakeTime()
    clock.set_testing(fake.clock_of_all())
    yield fake
    clock.set_testing(None)


@pytest.fixture(scope="session")
def study_fixtures() -> Path:
    """The folder with the real data of the studies."""
    named = os.environ.get("STUDY_FIXTURES")
    folder = ROOT / (named or "no folder is named")
    need(folder.is_dir(), "STUDY_FIXTURES names no folder with the real data of the studies")
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

"""Runs commands again and again, each in a process and a session of its own, in which things break.

Starting Python and importing everything takes longer than a small command: this program does it
once, and forks. Each line of JSON on its standard input is a list of commands that run at the same
time; it answers with the list of their processes and, when all have ended, with how each ended and
how many steps it took. A step is a moment at which a command can be killed: before and after a
statement in the study, before and after its commit, before a file below the watched folder is
written, renamed or removed, before a program is started, before something is sent to a server.
A line that is an object names results whose figures are drawn here, once for all.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "commits"))
sys.path.append(str(Path(__file__).parents[1]))

from faults import small_disk
from killing_launcher import Steps
from program import main as main_of
from reported import RESULT
from warming import warm_up

import faultatlas.data.database
import faultatlas.data.old.arrow_rows
import faultatlas.data.provenance
import faultatlas.data.study
import faultatlas.report.figures
import faultatlas.report.publish
from faultatlas.data.clock import Clock, set_testing
from faultatlas.data.old.results import Result

# What commands import in functions, besides our own modules.
_HEAVY = (
    "github.Requester",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "openpyxl",
    "pyarrow.parquet",
    "scipy.stats",
    "sklearn.feature_extraction.text",
    "statsmodels.stats.proportion",
)
_OURS = ("data", "report", "miner", "annotation", "analysis")
_NOT_FOR_IMPORT = (
    "faultatlas.analysis.reexecution.shipped",
    "faultatlas.analysis.reexecution.sandbox.launcher",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_OF_FILES = {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
_OUTSIDE = {"subprocess.Popen", "http.client.send"}


def main() -> None:
    _warm_up()
    for line in sys.stdin:
        wanted = json.loads(line)
        if isinstance(wanted, dict):
            _draw(wanted["draw"])
            continue
        children = [_started(each) for each in wanted]
        print(json.dumps([child for child, _counted in children]), flush=True)  # noqa: T201
        print(json.dumps([_ended(*each) for each in children]), flush=True)  # noqa: T201
    os._exit(0)  # what was frozen is not collected, and libraries would complain


def _warm_up() -> None:
    """What every command would do again: imports, options, fonts and templates."""
    with tempfile.TemporaryDirectory() as folder:
        faultatlas.report.publish.write_result(RESULT, Path(folder) / "out")
    warm_up((*_HEAVY, *_modules()), ("miner", "annotation", "analysis", "report"))


def _draw(results: list[str]) -> None:
    """Draw the figures of results: whoever draws one again has it from this process."""
    with tempfile.TemporaryDirectory() as folder:
        for path in results:
            found = Result.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
            for figure in found.figures:
                faultatlas.report.figures.save(figure, Path(folder))
                faultatlas.report.figures.save_for_paper(figure, Path(folder))
    gc.freeze()


def _modules() -> Iterator[str]:
    for package in _OURS:
        inside = import_module(package).__path__
        for found in walk_packages(inside, f"{package}."):
            if not found.name.startswith(_NOT_FOR_IMPORT):
                yield found.name


def _started(wanted: dict[str, Any]) -> tuple[int, int]:
    """The process, and where it says how many steps it took."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _be(wanted, writes)
    os.close(writes)
    return child, reads


def _ended(child: int, counted: int) -> tuple[int, int, float]:
    _pid, status, used = os.wait4(child, 0)
    with os.fdopen(counted) as said:
        steps = int(said.read() or 0)
    return os.waitstatus_to_exitcode(status), steps, used.ru_utime + used.ru_stime


def _be(wanted: dict[str, Any], counted: int) -> None:
    """Be that command, and never return."""
    code = 70
    try:
        os.setsid()
        _take_streams(Path(wanted["log"]))
        os.environ.update(wanted["environment"])
        os.chdir(wanted["folder"])
        faulthandler.enable()  # where it hangs, whoever ends it finds out
        if wanted["room"] is not None:
            small_disk.move_onto(Path(wanted["study"]), wanted["room"])
        if wanted["wait_s"] is not None:
            faultatlas.data.study.Study.__init__.__kwdefaults__["wait_s"] = wanted["wait_s"]
        _set_clock(wanted["clock_s"])
        steps = Steps(wanted["kill_at"])
        _count(steps, wanted["watched"])
        if wanted["only_reads"]:  # such a command has no other moments
            steps.around(faultatlas.data.study.Reader, "rows")
            steps.around(faultatlas.data.study.Reader, "value")
        code = _run(wanted["program"], wanted["arguments"])
        os.write(counted, str(steps.taken).encode())
    except BaseException:  # noqa: BLE001 - the log says what it was
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(program: str, arguments: list[str]) -> int:
    sys.argv = [program, *arguments]
    try:
        main_of(program)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _take_streams(log: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for target, source in ((0, nothing), (1, said), (2, said)):
        os.dup2(source, target)


def _set_clock(seconds: float) -> None:
    """The clock of the machine is wrong by so much; whoever waits for a server is told to go on."""
    system, real = Clock(), time.time
    shifted = Clock(lambda: system.now() + timedelta(seconds=seconds), sleep=lambda _seconds: None)
    set_testing(shifted)
    if seconds:
        time.time = lambda: real() + seconds


def _count(steps: Steps, watched: str) -> None:
    for name in ("execute", "insert", "put", "upsert"):
        steps.around(faultatlas.data.study.Writer, name)
    for name in ("insert", "upsert"):
        steps.around(faultatlas.data.old.arrow_rows, name)
    inner, me = faultatlas.data.database.transaction, os.getpid()

    @contextmanager
    def transaction(connection: Any, *, commit: bool = True) -> Iterator[Any]:
        with inner(connection, commit=commit) as writer:
            yield writer
            steps.step()  # everything is said, nothing is committed
        steps.step()  # committed, and not closed

    faultatlas.data.database.transaction = transaction

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if os.getpid() != me:  # a process that the command made has its own tests
            return
        if event in _OUTSIDE or (event in _OF_FILES and _is_watched(event, arguments, watched)):
            steps.step()

    sys.addaudithook(hook)


def _is_watched(event: str, arguments: tuple[Any, ...], watched: str) -> bool:
    if event == "open" and not (arguments[2] or 0) & _WRITING:
        return False
    named = arguments[0]
    path = os.fsdecode(named) if isinstance(named, str | bytes | os.PathLike) else ""
    return Path.cwd().joinpath(path).is_relative_to(watched) if path else False


if __name__ == "__main__":
    main()

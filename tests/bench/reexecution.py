"""What a re-execution costs besides the bug's own program: harness, sandbox, environment."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.measured import Line, NotMeasured, Target, child, in_turn, seconds
from bug_making import make_bug

from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.executing import Task, execute
from faultatlas.analysis.reexecution.results import read_run
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sandbox.choosing import choose
from faultatlas.data.errors import StudyError

RUN_S = 0.5  # at most, of harness and sandbox
ENVIRONMENT_S = 1.0  # at most, of one that is in the cache
# In a process of its own: nothing is remembered from the time when it was built.
_PREPARE = """
import sys, time
from pathlib import Path
from faultatlas.analysis.reexecution.bugs import EnvironmentSpec
from faultatlas.analysis.reexecution.environments.preparing import prepare
began = time.perf_counter()
prepare(EnvironmentSpec(sys.argv[1]), cache=Path(sys.argv[2]))
print(time.perf_counter() - began)
"""


def measures() -> Iterator[Line | str]:
    """Both lines."""
    yield cached_environment()
    yield from one_run()


def one_run() -> Iterator[Line | str]:
    """A program that does nothing, through the whole harness and by itself."""
    try:
        choose()
    except StudyError as error:
        raise NotMeasured(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as name:
        folder = make_bug(Path(name) / "bug", buggy="pass", fixed="pass")
        bug = read(folder)
        task = Task(folder, bug.bug_id, content_hash(bug), "buggy", 1, Path(name) / "results")
        numbers, isolations = itertools.count(1), set[str]()

        def whole() -> None:
            run = read_run(execute(Task(**{**vars(task), "attempt": next(numbers)})))
            if run is None or run.outcome is not Outcome.EXITED or run.exit_code != 0:
                raise RuntimeError(f"the run failed: {run}")
            isolations.add(run.isolation.kind)

        def bare() -> None:
            subprocess.run([sys.executable, folder / "buggy" / "main.py"], check=True)

        ours, other = in_turn(_wall(whole), _wall(bare), count=15, warm_up=True)
    yield Line("one run of an empty program, harness and sandbox", "the program by itself", ours,
               other, "s", Target(more=RUN_S))  # fmt: skip
    yield f"The sandbox is {', '.join(sorted(isolations))}."


def cached_environment() -> Line:
    """An environment that is there against building it (an empty one: nothing is fetched)."""
    python = "{}.{}.{}".format(*sys.version_info[:3])

    def by_itself(cache: Path) -> float:
        return float(child([sys.executable, "-c", _PREPARE, python, cache]).said)

    def built_and_cached() -> tuple[float, float]:
        with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as name:
            return by_itself(Path(name)), by_itself(Path(name))

    (found,) = in_turn(built_and_cached, count=5)
    built, cached = zip(*found, strict=True)
    return Line("an environment from the cache", "building it, empty", cached, built, "s",
                Target(ours=ENVIRONMENT_S))  # fmt: skip


def _wall(action: Callable[[], None]) -> Callable[[], float]:
    return partial(seconds, action, time.perf_counter)

"""`kill -9` of the sampler, of a worker, of what a worker started: nothing is lost, nothing stays.

Each at three moments. Afterwards the verdicts are those of a sampler that nobody disturbed, every
result that had been there is the same file, and no process is left over.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
import sandboxed
from bug_making import make_bug
from warming import empty_database

from faultatlas.data.study import DATABASE, Study

sys.path.append(str(Path(__file__).parent))
from killing_points import HELD, SAMPLER, WORKER

pytestmark = pytest.mark.usual_opening  # other processes have the study too
WAIT_S = 30
Run = Callable[..., int]
Bugs = Callable[[Path], Path]
Judged = list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """`analysis reexecute` in a process of its own, which ends itself at a point."""
    sandboxed.needs("bubblewrap")
    words = [sys.executable, "-P", str(Path(__file__).with_name("killing_program.py"))]
    kept = {name: value for name, value in os.environ.items() if name != "STUDY"}
    kept["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    with Popen(words, stdin=PIPE, stdout=PIPE, text=True, env=kept) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        to, answers = program.stdin, program.stdout

        def started(study: Path, point: str = "", *more: str) -> int:
            words = ["reexecute", "--workers", "2" if point in SAMPLER else "1", "--study",
                     str(study), *more]  # fmt: skip
            log = study.parent / "log"
            asked = {"arguments": words, "point": point, "mark": str(study.parent / "mark"),
                     "log": str(log)}  # fmt: skip
            print(json.dumps(asked), file=to, flush=True)
            code = int(json.loads(answers.readline()))
            assert code in (0, -signal.SIGKILL), log.read_text()
            return code

        yield started
        to.close()


@pytest.fixture(scope="module")
def bugs() -> Callable[[Path], Path]:
    """Makes a study with bugs."""

    def made(study: Path) -> Path:
        put_bugs(study)
        (study / DATABASE).write_bytes(empty_database())
        return study

    return made


def put_bugs(study: Path) -> None:
    """A crash that its fix removes, and one without a fix; their command names the study."""
    command = {"commands": [["python", "main.py", str(study)]]}
    sides: dict[str, Any] = {"run": {"buggy": command, "fixed": command}}
    home = study / "bugs" / "made"
    make_bug(home / "crash", buggy=f"{HELD}\nraise ValueError(7)", fixed=f"{HELD}\nprint(7)",
             **sides)  # fmt: skip
    make_bug(home / "only", buggy=f"{HELD}\nraise KeyError(7)", fixed=None,
             run={"buggy": command})  # fmt: skip


def without(study: Path, name: str) -> Path:
    """The study with the other of its bugs alone."""
    shutil.rmtree(study / "bugs" / "made" / name)
    return study


def results(study: Path) -> dict[str, tuple[int, int]]:
    """Every result file, and what would be another if it were written again."""
    found = sorted((study / "reexecution").rglob("run.json"))
    return {str(path.relative_to(study)): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in found}  # fmt: skip


def judged(study: Path) -> Judged:
    with Study(study).reading() as reader:
        return reader.rows(
            "SELECT bug_id, verdict, reason, rule, buggy_runs, buggy_shown, fixed_runs, "
            "fixed_shown FROM verdicts ORDER BY bug_id"
        )


def executions(study: Path) -> int:
    with Study(study).reading() as reader:
        return int(reader.value("SELECT count(*) FROM executions"))


def left_over(study: Path) -> list[str]:
    """Processes that have to do with the study, by their words or their environment."""
    mine = os.fsencode(study.parent)
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            if mine in words or mine in (process / "environ").read_bytes():
                found.append(f"{process.name} {words!r}")
        except OSError:
            continue
    return found


def wait_until_gone(study: Path) -> None:
    end = time.monotonic() + WAIT_S
    while left := left_over(study):
        assert time.monotonic() < end, left
        time.sleep(0.05)


@pytest.fixture(scope="module")
def undisturbed(run: Run, bugs: Bugs, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    study = bugs(tmp_path_factory.mktemp("undisturbed") / "study")
    assert run(study) == 0
    assert len(results(study)) == executions(study) == 9
    found = judged(study)
    assert [(row["verdict"], row["reason"]) for row in found] == [
        ("verified", ""), ("reproduced", "fix not shown"),
    ]  # fmt: skip
    return found


def check(run: Run, study: Path, expected: Judged) -> None:
    """The verdicts are right, and another call changes nothing."""
    assert judged(study) == expected
    whole = results(study)
    assert executions(study) == len(whole)
    assert run(study) == 0
    assert results(study) == whole
    assert judged(study) == expected
    assert not list((study / "reexecution").rglob("workspace"))
    wait_until_gone(study)


@pytest.mark.parametrize("point", SAMPLER[1::2] + SAMPLER[-1:])
def test_a_killed_sampler(
    run: Run, bugs: Bugs, undisturbed: Judged, tmp_path: Path, point: str
) -> None:
    study = bugs(tmp_path / "study")
    assert run(study, point) == -signal.SIGKILL
    wait_until_gone(study)
    before = results(study)
    assert run(study, point) == 0
    after = results(study)
    assert {path: after.get(path) for path in before} == before
    assert len(after) == 9
    check(run, study, undisturbed)


@pytest.mark.parametrize("point", WORKER[::2])
def test_a_killed_worker(
    run: Run, bugs: Bugs, undisturbed: Judged, tmp_path: Path, point: str
) -> None:
    study = without(bugs(tmp_path / "study"), "crash")
    assert run(study, point) == 0
    assert (tmp_path / "mark").exists() or (tmp_path / "mark-held").exists()
    assert len(results(study)) == 3  # the run was made again under the same number
    check(run, study, undisturbed[1:])


@pytest.mark.parametrize("point", ["program", "launcher", "fixed program"])
def test_a_killed_child(
    run: Run, bugs: Bugs, undisturbed: Judged, tmp_path: Path, point: str
) -> None:
    has_fix = point == "fixed program"
    study = without(bugs(tmp_path / "study"), "only" if has_fix else "crash")
    assert run(study, point) == 0
    assert (tmp_path / "mark-held").exists()
    again = [path for path in results(study) if Path(path).parent.name.endswith("-2")]
    assert len(again) == 1  # a second attempt, beside the record of the first
    assert len(results(study)) == (7 if has_fix else 4)
    check(run, study, undisturbed[:1] if has_fix else undisturbed[1:])

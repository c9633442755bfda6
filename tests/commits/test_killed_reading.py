"""`kill -9` at any instant of a reading: the same command ends in the same tables as one run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository, linear

TABLES = ("commit", "commit_diff", "commit_file", "commit_hunk", "commit_function", "keyword_hit",
          "git_walk")  # fmt: skip
MOMENTS = 11
Run = Callable[..., tuple[int, int]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """`miner commits` in a process group of its own; how it ended, and in how many steps."""
    folder = tmp_path_factory.mktemp("launcher")
    words = [sys.executable, "-P", str(Path(__file__).with_name("killing_launcher.py"))]
    kept = {name: value for name, value in os.environ.items() if name != "STUDY"}
    with Popen(words, stdin=PIPE, stdout=PIPE, text=True, env=kept) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        to, answers = program.stdin, program.stdout

        def started(study: Path, *arguments: Any, last: int | None = None) -> tuple[int, int]:
            words = ["commits", *map(str, arguments), "--study", str(study), "--quiet"]
            asked = {"arguments": words, "last": last, "log": str(folder / "log")}
            print(json.dumps(asked), file=to, flush=True)
            code, steps = json.loads(answers.readline())
            assert code in (0, 1, -signal.SIGKILL), (folder / "log").read_text()
            return code, steps

        yield started
        to.close()


def keyed(blank: Path, study: Path) -> Path:
    """A study whose pseudonyms are those of all others here."""
    shutil.copytree(blank, study)
    (study / "study.key").write_text("ab" * 32)
    (study / "study.key").chmod(0o600)
    return study


def contents(study: Path) -> dict[str, list[dict[str, Any]]]:
    reading = Reading(lambda: None, study)  # type: ignore[arg-type,return-value]
    return {name: reading.without_runs(f"store.{name}") for name in TABLES}


def moments(steps: int) -> list[int]:
    """Spread over a whole run, the first and the last step included."""
    return sorted({1 + round(at * (steps - 1) / (MOMENTS - 1)) for at in range(MOMENTS)})


def history(folder: Path) -> Repository:
    """With a file that is missing, so that the reading goes all ways."""
    made = linear(folder, 9)
    tip = made.git("rev-parse", "main").decode()
    lost = made.commit({"a.py": b"x\n", "lost": b"gone\n"}, b"fix the loss", [tip])
    made.remove(made.git("rev-parse", f"{lost}:lost").decode())
    return made


def test_a_first_reading(run: Run, blank: Path, tmp_path: Path) -> None:
    made = history(tmp_path / "history.git")
    words = (made.folder, "--keywords", "bugfix")
    code, steps = run(keyed(blank, tmp_path / "whole"), *words)
    assert code == 1  # something is missing
    expected = contents(tmp_path / "whole")
    assert len(expected["commit"]) == 10
    assert steps > 30
    for last in moments(steps):
        study = keyed(blank, tmp_path / f"killed-{last}")
        assert run(study, *words, last=last)[0] == -signal.SIGKILL
        assert run(study, *words)[0] == 1
        assert contents(study) == expected


def test_a_reading_after_history_was_rewritten(run: Run, blank: Path, tmp_path: Path) -> None:
    made = history(tmp_path / "history.git")
    before = keyed(blank, tmp_path / "before")
    run(before, made.folder, "--keywords", "bugfix", "--no-functions")
    parent = made.git("rev-parse", "main~4").decode()
    made.commit({"b.py": b"def g():\n    pass\n"}, b"crash", [parent])
    words = (made.folder, "--all", "--keywords", "ml")
    whole = Path(shutil.copytree(before, tmp_path / "whole"))
    _code, steps = run(whole, *words)
    expected = contents(whole)
    assert {row["gone_reason"] for row in expected["commit"]} == {None, "unreachable"}
    study = Path(shutil.copytree(before, tmp_path / "killed"))
    for last in moments(steps):  # one study, killed again and again
        run(study, *words, last=last)
    run(study, *words)
    assert contents(study) == expected

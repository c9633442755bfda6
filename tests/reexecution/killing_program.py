"""Runs `analysis` again and again, each time in a child in which it may be killed.

It reads one JSON object a line and answers with how the child ended.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1]))

import killing_points
from program import main as main_of
from warming import new_studies_are_copies, warm_up

import faultatlas.analysis.reexecution.calling
import faultatlas.analysis.reexecution.executing
import faultatlas.analysis.studies.reexecute
from faultatlas.data.old.results import Result

NOTHING = Result("reproducibility", "none", "Nothing", {})


def run(asked: dict[str, str | list[str]]) -> None:
    """In the child."""
    # What follows the verdicts takes long, and rests on rows alone: it is made anew each time.
    faultatlas.analysis.reexecution.calling.publish = lambda *_words, **_options: Path("page")
    faultatlas.analysis.studies.reexecute._estimate = lambda *_: NOTHING  # noqa: SLF001
    os.environ[killing_points.POINT] = str(asked["point"])
    os.environ[killing_points.MARK] = str(asked["mark"])
    killing_points.on_sampler()
    sys.argv = ["analysis", *asked["arguments"]]
    try:
        main_of("analysis")
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


def main() -> None:
    """Until there is no more line."""
    warm_up([], ["analysis"])
    new_studies_are_copies()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            run(asked)
            os._exit(99)
        _pid, status = os.waitpid(child, 0)
        sys.stdout.write(json.dumps(os.waitstatus_to_exitcode(status)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

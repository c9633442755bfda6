"""Runs `miner` again and again in children that kill themselves at the n-th step.

A step is a statement on the database, its commit, or a command of git that begins or ends. It
reads one JSON object a line and answers with how the child ended and how many steps it took.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from program import main as main_of
from warming import warm_up

import faultatlas.data.study
import faultatlas.miner.commits.again
import faultatlas.miner.commits.command
import faultatlas.miner.commits.git
import faultatlas.miner.commits.mining


class Steps:
    """Counts, and kills the group at the right one."""

    def __init__(self, last: int | None) -> None:
        self._last = last
        self.taken = 0

    def step(self) -> None:
        self.taken += 1
        if self.taken == self._last:
            os.killpg(0, signal.SIGKILL)

    def around(self, owner: Any, name: str) -> None:
        """Make calls of a function two steps."""
        inner: Callable[..., Any] = getattr(owner, name)

        def outer(*arguments: Any, **options: Any) -> Any:
            self.step()
            found = inner(*arguments, **options)
            self.step()
            return found

        setattr(owner, name, outer)


def run(asked: dict[str, Any], answer: int) -> None:
    """In the child."""
    steps = Steps(asked["last"])
    for name in ("execute", "insert"):
        steps.around(faultatlas.data.study.Writer, name)
    steps.around(faultatlas.data.study.Study, "writing")
    steps.around(faultatlas.miner.commits.git, "run")
    steps.around(faultatlas.miner.commits.git.View, "streaming")
    # So small that everything is written in many pieces.
    faultatlas.miner.commits.mining._MESSAGES_AT_ONCE = 6  # noqa: SLF001
    faultatlas.miner.commits.mining._CHANGE_BYTES = 2500  # noqa: SLF001
    sys.argv = ["miner", *asked["arguments"]]
    try:
        main_of("miner")
    except SystemExit as end:
        os.write(answer, str(steps.taken).encode())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


def main() -> None:
    """Until there is no more line."""
    warm_up(["pyarrow", "faultatlas.miner.commits.view"], ["miner"])
    for line in sys.stdin:
        asked = json.loads(line)
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            run(asked, writes)
            os._exit(99)
        os.close(writes)
        steps = os.read(reads, 20)
        os.close(reads)
        _pid, status = os.waitpid(child, 0)
        sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(status), int(steps or 0)]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

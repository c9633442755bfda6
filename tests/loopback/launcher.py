"""Runs `miner` again and again, each time in a process and a session of its own.

Starting Python and importing everything takes longer than a small fetch: this program does it
once, and forks for each line of JSON on its standard input. It answers with the number of the
process, and with its exit code when it has ended; minus a signal where that ended it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from program import main as main_of
from warming import new_studies_are_copies, warm_up

# All that a fetch imports sooner or later.
_HEAVY = (
    "faultatlas.miner.issues.command",
    "faultatlas.miner.issues.view",
    "faultatlas.miner.posts.command",
    "faultatlas.miner.posts.view",
    "github.Requester",
    "pyarrow",
    "duckdb",
)


def main() -> None:
    warm_up(_HEAVY, ["miner"])
    new_studies_are_copies()
    for line in sys.stdin:
        wanted = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(wanted)
        print(child, flush=True)  # noqa: T201 - that is how it answers
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


def _run(wanted: dict[str, Any]) -> None:
    """Be the program `miner`, and never return."""
    os.setsid()
    os.environ.update(wanted["environment"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    said = os.open(wanted["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for target, source in ((0, nothing), (1, said), (2, said)):
        os.dup2(source, target)
    faulthandler.enable()  # where it hangs, whoever ends it finds out
    sys.argv = ["miner", *wanted["arguments"]]
    code = 70
    try:
        main_of("miner")
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - the log says what it was
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()

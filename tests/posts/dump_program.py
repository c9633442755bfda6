"""Reads a dump again and again, each time in a process of its own that may kill itself.

Python is started once, and forked for each line of JSON on standard input. A process with
`kill_at` sends SIGKILL to itself at that step: before a statement in the study, or before a
block of the file is looked at. It answers with the exit code and the number of steps.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))

from warming import warm_up

from faultatlas.data import provenance
from faultatlas.data.study import Study, Writer
from faultatlas.miner.posts import dump_scan
from faultatlas.miner.posts.dump import read_dump
from faultatlas.miner.posts.ingest import PostIngest
from faultatlas.miner.posts.selection import PostSelection


def main() -> None:
    pa.Codec("zstd")
    warm_up([], [])
    for line in sys.stdin:
        back, there = os.pipe()
        child = os.fork()
        if child == 0:
            _run(json.loads(line), there)
        os.close(there)
        _, status = os.waitpid(child, 0)
        with os.fdopen(back) as said:
            print(os.waitstatus_to_exitcode(status), said.read() or 0, flush=True)  # noqa: T201


def _run(wanted: dict[str, Any], there: int) -> None:
    os.setsid()
    steps = 0

    def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == wanted["kill_at"]:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return step

    dump_scan.BLOCK, dump_scan.PART_ROWS = wanted["block"], wanted["part_rows"]
    dump_scan.Scan._rows = stepping(dump_scan.Scan._rows)  # type: ignore[method-assign]  # noqa: SLF001
    for name in ("execute", "insert", "upsert"):
        setattr(Writer, name, stepping(getattr(Writer, name)))
    try:
        run = provenance.begin("miner posts", {})
        selection = PostSelection(tags=tuple(wanted["tags"]))
        ingest = PostIngest(Study(Path(wanted["study"])), selection.site, run)
        with Study.kept_open():
            found = read_dump(ingest, Path(wanted["path"]), selection)
        os.write(there, str(steps).encode())
        os._exit(0 if found.is_complete else 1)
    except BaseException:  # noqa: BLE001 - the test shows what it was
        traceback.print_exc()
        os._exit(70)


if __name__ == "__main__":
    main()

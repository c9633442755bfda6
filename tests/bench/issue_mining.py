"""Mining: what a fetch of many issues needs in memory, against one of few."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measured import Line, Spent, Target, child
from loopback import TOKEN

BIN = Path(sys.executable).parent
TESTS = Path(__file__).parents[1]
SMALL, LARGE = 20_000, 100_000
LIMIT_MB = 700


def measures() -> Iterator[Line]:
    """Peak memory of a fetch with comments, of 100,000 issues by that of 20,000."""
    large, small = fetched(LARGE).peak_mb, fetched(SMALL).peak_mb
    yield Line(
        f"`miner fetch` of {LARGE:,} issues with comments",
        f"of {SMALL:,}",
        (large,),
        (small,),
        "MB",
        Target(ratio=1.3, ours=LIMIT_MB),
        why="What grows is what DuckDB needs to write its log back at a commit (up to 19 MB in the "
        "first 400 transactions, 61 MB in the last ones), and to find the issues whose comments "
        "are pending (21 MB, then 38 MB).",
    )


def fetched(issues: int) -> Spent:
    """A fetch of so many issues in a process of its own, against a server in another."""
    with served(issues) as url:
        return fetched_from(url, issues)


def fetched_from(url: str, issues: int) -> Spent:
    """The same from a server that runs."""
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        spent = child(
            [
                BIN / "miner",
                "fetch",
                "example/large",
                "--api-url",
                url,
                "--study",
                folder,
                "--json",
            ],
            {"GITHUB_TOKEN": TOKEN},
        )
    found = json.loads(spent.said)
    if found["rows"]["issues_new"] != issues:
        raise RuntimeError(f"the fetch of {issues} issues was not complete")
    return spent


@contextmanager
def served(issues: int) -> Iterator[str]:
    """A loopback server with so many issues, two comments each, in a process of its own."""
    line = [sys.executable, "-m", "loopback", "--payloads", f"generated:{issues}", "--own-urls"]
    with subprocess.Popen(
        line, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()

"""Requests and CPU time for the same issues with their comments: PyGithub and Perceval.

The server is the loopback GitHub of the tests, a new one for each way, so that its count of
requests is that of the way.
"""

from __future__ import annotations

import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.issue_mining import BIN, served
from bench.issue_ways import told
from bench.measured import Line, NotMeasured, Spent, child, in_turn
from bench.parts import Untold
from bench.peer_environment import peer_python
from loopback import TOKEN

from faultatlas.data.study import Study

ISSUES = 1_000
PERCEVAL = "1.6.1"
WAYS = Path(__file__).with_name("issue_ways.py")


class Asked(NamedTuple):
    """What a way took, and what it brought."""

    cpu_s: float
    requests: float
    brought: str


def measures() -> Iterator[Line | Untold | str]:
    """Two lines for each peer."""
    yield from _beside("PyGithub", sys.executable, "pygithub")
    try:
        python = peer_python("perceval", PERCEVAL)
    except NotMeasured as reason:
        yield Untold(
            f"{ISSUES:,} issues with comments, against Perceval", str(reason), failed=False
        )
    else:
        yield from _beside("Perceval", str(python), "perceval")
    yield (
        "Ours stores them as well, with the responses: after each page the study on disk is "
        "whole, and its transactions take most of the time; the peers keep all in memory. "
        "PyGithub as its documentation shows it: pages of 30, the comments of each issue that "
        "has some, and without its wait of 0.25 s after each request. Perceval "
        f"{PERCEVAL} asks for nine people and the quota as well; this server knows no people."
    )


def _beside(name: str, python: str, way: str) -> Iterator[Line]:
    ours, other = in_turn(
        _ours, partial(_asked, lambda url: child([python, WAYS, way, url, TOKEN])), count=3
    )
    if {each.brought for each in ours} != {each.brought for each in other}:
        raise RuntimeError(f"{name} brings other issues than ours: {other[0]}, {ours[0]}")
    what = f"{ISSUES:,} issues with comments"
    yield Line(f"{what}: requests", name, tuple(each.requests for each in ours),
               tuple(each.requests for each in other), "requests")  # fmt: skip
    yield Line(f"{what}: time", name, tuple(each.cpu_s for each in ours),
               tuple(each.cpu_s for each in other))  # fmt: skip


def _ours() -> Asked:
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        words = ["fetch", "example/large", "--quiet", "--study", folder, "--api-url"]
        found = _asked(lambda url: child([BIN / "miner", *words, url], {"GITHUB_TOKEN": TOKEN}))
        with Study(Path(folder)).reading() as reader:
            rows = reader.rows(
                "SELECT number, (SELECT list(comment_id) FROM comments c "
                "WHERE c.artifact_id = i.artifact_id) AS ids FROM issues i"
            )
    brought = [
        (int(row["number"]), [int(each.rpartition("/")[2]) for each in row["ids"] or ()])
        for row in rows
    ]
    return found._replace(brought=told(brought))


def _asked(way: Callable[[str], Spent]) -> Asked:
    with served(ISSUES) as url:
        spent = way(url)
        return Asked(spent.cpu_s, _requests(url), spent.said)


def _requests(url: str) -> int:
    """How many have reached the server before this one, by the number that it gives each."""
    with closing(urllib.request.urlopen(f"{url}/rate_limit")) as reply:  # noqa: S310  (ours)
        return int(reply.headers["x-github-request-id"].split(":")[2], 16) - 1

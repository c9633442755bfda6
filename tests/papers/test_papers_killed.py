"""`kill -9` at any instant of a search: the same command ends in the same tables."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopback import Running, serving, studies
from loopback.index import generated
from loopback.killing import Launcher, Moment, kill_on, launching
from loopback.openalex import KEY, OpenAlex

MOMENTS: tuple[Moment, ...] = ("mid", "written", "before")  # one for each page
WITHOUT = "run_id, response_id, fetched_at, row_hash"


@dataclass
class Searching:
    """A server, and runs that search it."""

    running: Running
    launcher: Launcher

    def run(self, study: Path) -> int:
        """`miner papers`, as a process; how it ended."""
        where = ("--api-url", self.running.url, "--study", str(study), "--max-wait", "0")
        environment = {"OPENALEX_API_KEY": KEY}
        return self.launcher.run(study.parent / "log", environment, "papers", "bug", "-q", *where)


@pytest.fixture(scope="module")
def searching() -> Iterator[Searching]:
    world = OpenAlex(generated(7), page_limit=5, left=10**6)
    with launching() as launcher, serving(world) as running:
        yield Searching(running, launcher)


def mined(directory: Path) -> dict[str, list[tuple[Any, ...]]]:
    asked = {
        "paper": f"SELECT * EXCLUDE ({WITHOUT}) FROM store.paper ORDER BY ALL",
        "record": f"SELECT * EXCLUDE ({WITHOUT}) FROM store.paper_record ORDER BY ALL",
        "checkpoint": "SELECT stream, is_complete FROM store.checkpoint ORDER BY ALL",
        "pages": "SELECT request, url FROM store.response ORDER BY number",
    }
    with studies.opened(directory) as study:
        return {name: study.execute(sql).fetchall() for name, sql in asked.items()}


def test_killed_around_every_page_it_ends_in_the_same_tables(
    searching: Searching, tmp_path: Path
) -> None:
    whole, study = studies.keyed(tmp_path / "whole"), studies.keyed(tmp_path / "study")
    world = searching.running.world
    assert searching.run(whole) == 0, (tmp_path / "log").read_text()
    targets = [request.target for request in world.requests]
    assert len(targets) == 3  # two pages, and the empty one that ends a cursor
    start = len(world.requests)
    for target, moment in zip(targets, MOMENTS, strict=True):
        with kill_on(world, searching.launcher, moment, lambda r: r.target == target, study):  # noqa: B023  (it is called here only)
            assert searching.run(study) == -signal.SIGKILL
    assert searching.run(study) == 0, (tmp_path / "log").read_text()
    assert mined(study) == mined(whole)
    # A page is asked for again where a kill came before it was stored, and never after that.
    asked = [targets.index(request.target) for request in world.requests[start:]]
    assert asked == sorted(asked)
    assert max(Counter(asked).values()) <= 3

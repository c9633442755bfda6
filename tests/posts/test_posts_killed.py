"""`kill -9` at any instant of `miner posts`: the same command ends in the same tables."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopback import Request, Running, serving, studies
from loopback.killing import Launcher, Moment, kill_on, launching
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated

MOMENTS: tuple[Moment, ...] = ("mid", "after", "written")
WITHOUT = "run_id, response_id, fetched_at"
KILLED = ("miner posts", "running", False)
DONE = ("miner posts", "ok", True)
REQUESTS = 5  # a filter, and two pages of each of two tags


@dataclass
class Fetching:
    """A server, and runs that fetch from it."""

    running: Running
    launcher: Launcher
    folder: Path

    @property
    def world(self) -> StackExchange:
        return self.running.world  # type: ignore[no-any-return]

    def run(self, study: Path) -> int:
        """`miner posts`, as a process; how it ended."""
        words = ("posts", "--tag", "tensorflow", "--tag", "keras", "--quiet")
        where = ("--api-url", f"{self.running.url}/2.3", "--study", str(study))
        return self.launcher.run(study.parent / "log", {}, *words, *where)

    def finish(self, study: Path) -> None:
        assert self.run(study) == 0, (study.parent / "log").read_text()


def mined(directory: Path) -> dict[str, list[tuple[Any, ...]]]:
    asked = {
        "post": f"SELECT * EXCLUDE ({WITHOUT}) FROM store.post ORDER BY ALL",
        "reply": f"SELECT * EXCLUDE ({WITHOUT}) FROM store.reply ORDER BY ALL",
        "checkpoint": "SELECT stream, is_complete FROM store.checkpoint ORDER BY ALL",
        "pages": "SELECT request, url FROM store.response ORDER BY number",
    }
    with studies.opened(directory) as study:
        return {name: study.execute(sql).fetchall() for name, sql in asked.items()}


@pytest.fixture(scope="module")
def fetching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fetching]:
    world = StackExchange(list(generated(12)), page_limit=5)
    with launching() as launcher, serving(world) as running:
        yield Fetching(running, launcher, tmp_path_factory.mktemp("killed"))


@pytest.fixture(scope="module")
def whole(fetching: Fetching) -> tuple[list[str], dict[str, list[tuple[Any, ...]]]]:
    """A run that nobody kills: its requests, and its tables."""
    fetching.world.left[None] = 10**6
    study = studies.keyed(fetching.folder / "whole")
    fetching.finish(study)
    return [request.target for request in fetching.world.requests], mined(study)


def nth(target: str) -> Callable[[Request], bool]:
    return lambda request: request.target == target


@pytest.mark.parametrize("k", [0, 1, 2, 4])
def test_killed_around_a_page_it_ends_in_the_same_tables(
    fetching: Fetching,
    whole: tuple[list[str], dict[str, list[tuple[Any, ...]]]],
    tmp_path: Path,
    k: int,
) -> None:
    """Killed at that page, started again, killed there at the next moment, and so on."""
    targets, tables = whole
    assert len(targets) == REQUESTS
    study = studies.keyed(tmp_path / "study")
    start = len(fetching.world.requests)
    # A filter is stored with the page behind it.
    for moment in MOMENTS if k else MOMENTS[:2]:
        with kill_on(fetching.world, fetching.launcher, moment, nth(targets[k]), study):
            code = fetching.run(study)
        if code == 0:  # the page was stored before the last kill, and is not asked for again
            assert moment == "written"
            break
        assert code == -signal.SIGKILL
        pages, runs = studies.so_far(study)
        assert pages in ({0} if k <= 1 and moment == "mid" else {0, k, k + 1})
        assert set(runs) <= {KILLED}
    else:
        fetching.finish(study)
    assert mined(study) == tables
    assert studies.so_far(study)[1][-1] == DONE
    asked = Counter(request.target for request in fetching.world.requests[start:])
    again = asked - Counter(targets)
    # Besides the page itself the filter, as long as no page is stored, and lists that are
    # complete already, whose changes are asked for.
    others = [t for t in again if t not in (targets[k], targets[0]) and "sort=activity" not in t]
    assert others == []


def test_a_study_whose_every_run_is_killed_after_a_page_gets_complete(
    fetching: Fetching,
    whole: tuple[list[str], dict[str, list[tuple[Any, ...]]]],
    tmp_path: Path,
) -> None:
    study = studies.keyed(tmp_path / "study")
    pages = 0

    def has_one_more(_request: Request) -> bool:
        return studies.so_far(study)[0] > pages  # nobody has the study open at a request

    for _ in range(2 * REQUESTS):
        with kill_on(fetching.world, fetching.launcher, "before", has_one_more, study):
            code = fetching.run(study)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        pages = studies.so_far(study)[0]
    else:
        pytest.fail("it did not get complete")
    found = mined(study)
    assert {name: found[name] for name in ("post", "reply", "checkpoint")} == {
        name: whole[1][name] for name in ("post", "reply", "checkpoint")
    }
    assert fetching.launcher.run(tmp_path / "log", {}, "rebuild", "--study", str(study)) == 0
    assert mined(study)["post"] == whole[1]["post"]
    assert mined(study)["reply"] == whole[1]["reply"]

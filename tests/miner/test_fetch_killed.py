"""`kill -9` at any instant of a fetch: the same command goes on behind the last whole page."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from loopback import Request, Running, World, serving, studies
from loopback.killing import Launcher, Moment, kill_on, launching
from loopback.ways import PATHS, UNSTORED, WAYS, Way, asked

MOMENTS: tuple[Moment, ...] = ("mid", "after", "written")
KILLED = ("miner fetch", "running", False)
DONE = ("miner fetch", "ok", True)


@dataclass
class Fetching:
    """A server, and fetches from it in a way."""

    way: Way
    running: Running
    launcher: Launcher
    study: Path  # of a fetch that nobody kills
    requests: list[Request] = field(default_factory=list)  # of that fetch
    mined: Any = None
    progress: Any = None

    @property
    def world(self) -> World:
        return self.running.world  # type: ignore[no-any-return]

    def run(self, study: Path) -> int:
        """`miner fetch`, as a process; how it ended."""
        token = {"GITHUB_TOKEN": self.way.token} if self.way.token else {}
        return self.launcher.run(study.parent / "log", token, *self.words(study))

    def words(self, study: Path) -> list[str]:
        where = ("--api-url", self.running.url, "--study", str(study), "--quiet")
        return ["fetch", self.world.tracker.name, *self.way.arguments, *where]

    def finish(self, study: Path) -> None:
        assert self.run(study) == 0, (study.parent / "log").read_text()


def started(way: Way, running: Running, launcher: Launcher, folder: Path) -> Fetching:
    """The server after a fetch that nobody kills."""
    made = Fetching(way, running, launcher, studies.keyed(folder / "whole"))
    made.finish(made.study)
    made.requests = list(made.world.requests)
    made.mined = studies.mined(made.study)
    made.progress = studies.progress(made.study)
    return made


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with launching() as ready:
        yield ready


@pytest.fixture(scope="module")
def fetching(
    launcher: Launcher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Fetching]]:
    """For a way, its server; fetches do not change it, so that tests may share it."""
    with ExitStack() as servers:

        @cache
        def of(name: str) -> Fetching:
            way = WAYS[name]
            running = servers.enter_context(serving(way.world()))
            return started(way, running, launcher, tmp_path_factory.mktemp(name))

        yield of


@pytest.mark.parametrize("name", WAYS)
def test_the_ways_are_what_these_tests_take_them_for(
    fetching: Callable[[str], Fetching], name: str
) -> None:
    whole = fetching(name)
    assert len(whole.requests) == len(whole.way.kinds)
    for kind, request in zip(whole.way.kinds, whole.requests, strict=True):
        assert PATHS[kind] in request.target
        assert request.status == 200
    pages, runs = studies.so_far(whole.study)
    assert pages == sum(kind not in UNSTORED for kind in whole.way.kinds)
    assert runs == [DONE]


@pytest.mark.parametrize(
    ("name", "k"),
    [
        pytest.param(name, k, id=f"{name}-{k}{kind}")
        for name, way in WAYS.items()
        for k, kind in enumerate(way.kinds, 1)
        if k % 2 or k == len(way.kinds)
    ],
)
def test_killed_around_a_page_a_fetch_ends_in_the_same_rows(
    fetching: Callable[[str], Fetching], tmp_path: Path, name: str, k: int
) -> None:
    """Killed at that page, started again, killed there at the next moment, and so on."""
    whole = fetching(name)
    kind = whole.way.kinds[k - 1]
    page = asked(whole.requests)[k - 1]
    turn = asked(whole.requests)[:k].count(page)  # pages of one timestamp are read twice
    stored = sum(kind not in UNSTORED for kind in whole.way.kinds[: k - 1])
    study = studies.keyed(tmp_path / "study")
    start = len(whole.world.requests)
    kills = 0
    for moment in MOMENTS if kind not in UNSTORED else MOMENTS[:1]:
        with kill_on(whole.world, whole.launcher, moment, nth(page, turn), study):
            code = whole.run(study)
        if code == 0:  # the page was stored before the last kill, and is not asked for again
            assert moment == "written"
            break
        assert code == -signal.SIGKILL
        kills, turn = kills + 1, 1
        pages, runs = studies.so_far(study)
        assert pages == stored if moment == "mid" else pages in {stored, stored + 1}
        assert set(runs) <= {KILLED}
    else:
        whole.finish(study)

    assert studies.mined(study) == whole.mined
    assert studies.progress(study) == whole.progress
    _pages, runs = studies.so_far(study)
    assert runs[-1] == DONE
    assert set(runs[:-1]) <= {KILLED}
    # A list that was complete is asked whether it has changed; that is no page.
    requests = [each for each in whole.world.requests[start:] if each.status != 304]
    again = Counter(asked(requests)) - Counter(asked(whole.requests))
    # The one behind it may have been asked for in the instant between writing and the signal.
    assert set(again) <= {page, *asked(whole.requests)[k : k + 1]}
    assert again.total() <= kills


def nth(page: tuple[str, bytes], turn: int) -> Callable[[Request], bool]:
    """Whether a request asks for a page for the n-th time."""
    left = turn

    def is_due(request: Request) -> bool:
        nonlocal left
        left -= (request.target, request.body) == page
        return left == 0

    return is_due


@pytest.mark.parametrize("name", WAYS)
def test_a_study_whose_every_fetch_is_killed_after_a_page_gets_complete(
    fetching: Callable[[str], Fetching], tmp_path: Path, name: str
) -> None:
    whole = fetching(name)
    study = studies.keyed(tmp_path / "study")
    pages = 0

    def has_one_more(_request: Request) -> bool:
        # Nobody has the study open while a request is on its way.
        return studies.so_far(study)[0] > pages

    for _ in whole.way.kinds:
        with kill_on(whole.world, whole.launcher, "before", has_one_more, study):
            code = whole.run(study)
        found, runs = studies.so_far(study)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        assert found == pages + 1
        assert set(runs) == {KILLED}
        pages = found
    else:
        pytest.fail("it did not get complete")

    assert found == sum(kind not in UNSTORED for kind in whole.way.kinds)
    assert studies.mined(study) == whole.mined
    assert studies.progress(study) == whole.progress
    assert whole.launcher.run(tmp_path / "log", {}, "rebuild", "--study", str(study)) == 0
    assert studies.mined(study) == whole.mined


@pytest.mark.parametrize(("name", "number"), [("graphql", 31), ("issue", 11)])
def test_what_changes_after_a_kill_within_an_issue_is_read_from_its_first_page(
    launcher: Launcher, tmp_path: Path, name: str, number: int
) -> None:
    way = WAYS[name]
    with serving(way.world()) as running:
        whole = started(way, running, launcher, tmp_path)
        study = studies.keyed(tmp_path / "study")
        second = whole.way.kinds.index("G" if name == "graphql" else "I") + 2
        page = asked(whole.requests)[second]
        with kill_on(whole.world, launcher, "before", nth(page, 1), study):
            assert whole.run(study) == -signal.SIGKILL
        with studies.opened(study) as found:
            begun = found.execute("SELECT selection ->> 'artifact' FROM store.checkpoint")
            assert (f"github:example/large#{number}",) in begun.fetchall()

        whole.world.edit_comment(number, index=0, body="not on the page that comes next")
        whole.finish(study)
        after = studies.keyed(tmp_path / "after")
        whole.finish(after)
        assert studies.live(study) == studies.live(after)


def test_a_program_that_was_started_in_the_ordinary_way(
    fetching: Callable[[str], Fetching], tmp_path: Path
) -> None:
    whole = fetching("repository")
    study = studies.keyed(tmp_path / "study")
    words = [
        sys.executable,
        "-c",
        "from faultatlas.report.start import miner as main; main()",
        *whole.words(study),
    ]
    number = len(whole.world.requests) + 4
    environment = {name: value for name, value in os.environ.items() if name != "GITHUB_TOKEN"}
    with Popen(words, start_new_session=True, env=environment) as program:

        def kill(at: int, _request: Request) -> None:
            if at == number:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()

        whole.world.before_response = kill
        try:
            assert program.wait() == -signal.SIGKILL
        finally:
            whole.world.before_response = None
    assert studies.so_far(study) == (3, [KILLED])
    whole.finish(study)
    assert studies.mined(study) == whole.mined

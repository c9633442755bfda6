"""`kill -9` at any instant of a fetch: the same command goes on behind the last whole page."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from loopback import TOKEN, Request, Running, World, serving, studies
from loopback.killing import Launcher, Moment, kill_on, launching

MOMENTS: tuple[Moment, ...] = ("before", "mid", "after", "written")


def hundreds() -> World:
    """Two pages of issues, two batches of comments; one issue has three pages of them."""
    world = World.generated(120, comments_each=2)
    world.tracker.entries[30].comments = 230
    return world


def few() -> World:
    """Fewer pages of all comments than issues; one timestamp fills more than a page."""
    world = World.generated(12, comments_each=1)
    world.page_limit = 5
    for number in range(3, 10):
        world.tracker.entries[number].updated = world.tracker.entries[9].updated
    return world


def rare() -> World:
    """Few issues with the label among many comments; one of them has three pages of comments."""
    world = World.generated(40, comments_each=2)
    world.page_limit = 3
    for number, entry in world.tracker.entries.items():
        entry.labels = ("crash",) if number in {5, 11, 13, 22} else ()
    world.tracker.entries[11].comments = 7
    return world


@dataclass(frozen=True)
class Way:
    """A way to get comments, and the requests that it takes where nothing goes wrong."""

    make: Callable[[], World]
    kinds: str
    arguments: tuple[str, ...] = ()
    token: str | None = None


# L list of issues, G comments by GraphQL, E events, C comments of the repository (c: only asked
# for its length), I comments of an issue, S search.
WAYS = {
    "graphql": Way(hundreds, "LLGGGGEESS", ("--timeline",), TOKEN),
    "repository": Way(few, "LLLLLCCCS", ("--no-pulls",)),
    "issue": Way(rare, "LLcIIIIIISS", ("--label", "crash")),
}
PATHS = {
    "L": "/issues?",
    "G": "/graphql",
    "E": "/graphql",
    "C": "/issues/comments?",
    "c": "/issues/comments?",
    "I": "/comments?per_page",
    "S": "/search/",
}


@dataclass
class Uninterrupted:
    """A fetch that nobody kills, and the server that it asked."""

    way: Way
    running: Running
    launcher: Launcher
    directory: Path
    requests: list[Request] = field(default_factory=list)
    mined: Any = None
    progress: Any = None

    def run(self, study: Path) -> int:
        """`miner fetch` into a study; how it ended."""
        project = self.running.world.tracker.name
        where = ("--api-url", self.running.url, "--study", str(study), "--quiet")
        token = {"GITHUB_TOKEN": self.way.token} if self.way.token else {}
        log = self.directory.parent / "log"
        return self.launcher.run(log, token, "fetch", project, *self.way.arguments, *where)

    @property
    def world(self) -> Any:
        return self.running.world

    def asked(self, since: int) -> list[Request]:
        found: list[Request] = self.world.requests[since:]
        return found


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with launching() as ready:
        yield ready


@pytest.fixture(scope="module")
def uninterrupted(
    launcher: Launcher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Uninterrupted]]:
    with ExitStack() as servers:

        @cache
        def fetched(name: str) -> Uninterrupted:
            way = WAYS[name]
            world = way.make()
            for resource in ("core", "search"):
                world.quota(None, resource).remaining = 100_000
                world.quota(TOKEN, resource).remaining = 100_000
            running = servers.enter_context(serving(world))
            directory = tmp_path_factory.mktemp(name) / "study"
            whole = Uninterrupted(way, running, launcher, directory)
            assert whole.run(directory) == 0
            whole.requests = list(world.requests)
            whole.mined = studies.mined(directory)
            whole.progress = studies.progress(directory)
            return whole

        yield fetched


@pytest.mark.parametrize("name", WAYS)
def test_the_ways_are_what_these_tests_take_them_for(
    uninterrupted: Callable[[str], Uninterrupted], name: str
) -> None:
    whole = uninterrupted(name)
    kinds = whole.way.kinds
    assert len(whole.requests) == len(kinds)
    for kind, request in zip(kinds, whole.requests, strict=True):
        assert PATHS[kind] in request.target
        assert request.status == 200


def asked(requests: list[Request]) -> list[tuple[str, bytes]]:
    return [(request.target, request.body) for request in requests]


def number_of_pages(study: Path) -> int:
    """Those that are in the study; a fetch makes it with the first."""
    if not (study / "study.duckdb").exists():
        return 0
    return int(studies.query(study, "SELECT count(*) FROM store.response")[0][0])


def cases() -> list[Any]:
    return [
        pytest.param(name, k, id=f"{name}-{k}{kind}")
        for name, way in WAYS.items()
        for k, kind in enumerate(way.kinds, 1)
    ]


@pytest.mark.parametrize(("name", "k"), cases())
def test_killed_around_a_page_a_fetch_ends_in_the_same_rows(
    uninterrupted: Callable[[str], Uninterrupted], tmp_path: Path, name: str, k: int
) -> None:
    """Killed at that page, started again, killed there at the next moment, and so on."""
    whole = uninterrupted(name)
    study = studies.with_key_of(whole.directory, tmp_path / "study")
    start = len(whole.world.requests)
    page = asked(whole.requests)[k - 1]
    turn = asked(whole.requests)[:k].count(page)  # within one timestamp, pages are read twice
    stored = sum(kind not in "cS" for kind in whole.way.kinds[: k - 1])
    kills = 0
    for moment in MOMENTS:
        if moment == "written" and whole.way.kinds[k - 1] in "cS":
            continue  # nothing is stored of them
        due = nth_time(page, turn if kills == 0 else 1)
        with kill_on(whole.world, whole.launcher, moment, due, study):
            code = whole.run(study)
        if code == 0:  # it was stored before the last kill, and is not asked for again
            assert moment in {"written", "after"}
            break
        assert code == -signal.SIGKILL
        kills += 1
        pages = number_of_pages(study)
        assert pages == stored if moment in {"before", "mid"} else pages in {stored, stored + 1}
        assert all(run == ("miner fetch", "running", False) for run in studies.runs(study))
    else:
        assert whole.run(study) == 0

    assert studies.mined(study) == whole.mined
    assert studies.progress(study) == whole.progress
    assert studies.runs(study)[-1] == ("miner fetch", "ok", True)
    requests = [each for each in whole.asked(start) if each.status != 304]
    again = Counter(asked(requests)) - Counter(asked(whole.requests))
    assert set(again) <= {page}
    assert again.total() <= kills


def nth_time(page: tuple[str, bytes], turn: int) -> Callable[[Request], bool]:
    left = turn

    def is_due(request: Request) -> bool:
        nonlocal left
        left -= (request.target, request.body) == page
        return left == 0

    return is_due

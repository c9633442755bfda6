"""Searches of repositories against the loopback GitHub: for tests of `miner repos`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from loopback import TOKEN, Reply, World, github_search, serving
from loopback.payloads import instant
from loopback.repositories import Facts

from faultatlas.data import provenance
from faultatlas.data.clock import Clock
from faultatlas.data.study import Study
from faultatlas.miner.client import Client
from faultatlas.miner.search import slices as search_slices
from faultatlas.miner.search.query import RepositoryQuery, repository_query
from faultatlas.miner.search.repositories import search_repositories
from faultatlas.miner.search.results import SearchProgress, SearchResult

NET = repository_query("net")
SERVER_NOW = instant("2022-06-01T12:00:00Z")


def facts(number: int, created: str | int, **changes: Any) -> Facts:
    """A repository; Python's, and neither a fork nor archived nor disabled."""
    at = instant(created) if isinstance(created, str) else created
    made = Facts(
        name=f"Lab/net-{number}",
        id=5000 + number,
        created=at,
        pushed=at + 86_400,
        stars=number % 7,
        language="Python",
        fork=False,
        archived=False,
        disabled=False,
    )
    return replace(made, **changes)


def spread(count: int, first: str = "2019-01-01T00:00:00Z", step_s: int = 70_000) -> list[Facts]:
    return [facts(number, instant(first) + number * step_s) for number in range(count)]


class Bench:
    """A study, the loopback GitHub, and a clock that only sleeping moves."""

    def __init__(self, directory: Path, world: World, url: str) -> None:
        self.directory = directory
        self.world = world
        self.url = url
        self.slept: list[float] = []
        self.told: list[str] = []
        self.now = float(SERVER_NOW)
        world.clock = lambda: self.now

    @property
    def study(self) -> Study:
        return Study(self.directory)

    @property
    def clock(self) -> Clock:
        def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.now += seconds

        return Clock(
            now=lambda: datetime.fromtimestamp(self.now, UTC).replace(tzinfo=None),
            sleep=sleep,
            random=random.Random(1),  # noqa: S311  (jitter)
        )

    def client(self, token: str | None = TOKEN, **options: Any) -> Client:
        return Client(self.url, token, clock=self.clock, **options)

    def search(
        self,
        query: RepositoryQuery = NET,
        client: Client | None = None,
        on_page: Callable[[SearchProgress], None] = lambda _progress: None,
    ) -> SearchResult:
        asking = client or self.client()
        run = provenance.begin("miner repos", {"query": query.text})
        try:
            return search_repositories(
                self.study,
                asking,
                run,
                query,
                clock=self.clock,
                tell=self.told.append,
                on_page=on_page,
            )
        finally:
            asking.close()

    def lower_the_ceiling(self, patch: pytest.MonkeyPatch) -> None:
        """GitHub gives 20 results of a search in pages of 5: slices without thousands of rows."""
        self.world.page_limit = 5
        patch.setattr(github_search, "CEILING", 20)
        patch.setattr(search_slices, "LIMIT", 20)
        patch.setattr(search_slices, "FULL", 18)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        with self.study.reading() as reader:
            return reader.rows(sql)

    def projects(self) -> list[str]:
        return [row["project"] for row in self.rows("SELECT project FROM repositories ORDER BY 1")]

    def outcome(self) -> str:
        newest = self.rows("SELECT outcome FROM runs ORDER BY run_id DESC LIMIT 1")
        return str(newest[0]["outcome"])

    @property
    def queries(self) -> list[str]:
        return [request.query["q"] for request in self.world.requests]


def names(catalogue: Iterable[Facts]) -> list[str]:
    return sorted(each.name.lower() for each in catalogue)


def alter(reply: Reply, change: Callable[[list[dict[str, Any]]], object]) -> None:
    said = json.loads(reply.body)
    change(said["items"])
    reply.body = json.dumps(said).encode()


class Stop(BaseException):
    """As if the power went out."""


@contextmanager
def a_bench(directory: Path) -> Iterator[Bench]:
    world = World.small()
    with serving(world) as server:
        yield Bench(directory / "study", world, server.url)

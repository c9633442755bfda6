"""A search of repositories that breaks: the same rows in the end, or a word about the gap."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from loopback import TOKEN, Fault, Reply
from searching import SERVER_NOW, Bench, Stop, a_bench, alter, facts, names, spread

from faultatlas.data.errors import StudyError
from faultatlas.miner.search import slices as search_slices
from faultatlas.miner.search.query import repository_query
from faultatlas.miner.search.results import SearchProgress


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with a_bench(tmp_path) as made:
        yield made


@pytest.fixture
def low_ceiling(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench.lower_the_ceiling(monkeypatch)
    return bench


def content(bench: Bench) -> dict[str, Any]:
    stamps = {
        "repositories": "run_id, fetched_at, response_id",
        "search_slices": "run_id, updated_at",
        "search_results": "run_id, first_seen_at, last_seen_at, response_id",
    }
    return {
        view: bench.rows(f"SELECT * EXCLUDE ({names}) FROM {view} ORDER BY ALL")
        for view, names in stamps.items()
    }


def test_broken_off_after_every_page_it_ends_in_the_same_rows(
    low_ceiling: Bench, tmp_path: Path
) -> None:
    bench = low_ceiling
    bench.world.catalogue = spread(30, "2010-01-01", 12_000_000)
    bench.search()
    straight, pages = content(bench), len(bench.world.requests)

    def stop(progress: SearchProgress) -> None:
        if progress.slices_left:
            raise Stop

    bench.directory, bench.now = tmp_path / "broken", float(SERVER_NOW)
    for _start in range(pages - 1):
        with pytest.raises(Stop):
            bench.search(on_page=stop)
    found = bench.search(on_page=stop)
    assert found.was_resumed
    assert found.is_complete
    assert content(bench) == straight
    answered = [request for request in bench.world.requests if request.status == 200]
    assert len(answered) == 2 * pages  # no page was asked for twice
    assert "going on with a search that has 5 repositories so far" in bench.told


def test_broken_off_within_a_page_nothing_of_the_page_is_stored(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_arguments: Any) -> None:
        raise Stop

    bench.world.catalogue = spread(150)
    save = search_slices.Slices.save
    calls = 0

    def save_twice(self: search_slices.Slices, *arguments: Any) -> None:
        nonlocal calls
        calls += 1
        (save if calls <= 2 else stop)(self, *arguments)

    monkeypatch.setattr(
        search_slices.Slices, "save", save_twice
    )  # the beginning, the first page, not the second
    with pytest.raises(Stop):
        bench.search()
    assert len(bench.projects()) == 100
    assert len(bench.rows("SELECT * FROM responses")) == 1
    assert bench.outcome() == "failed"
    monkeypatch.undo()
    found = bench.search()
    assert found.was_resumed
    assert found.found == 150
    assert found.new == 50


PROGRAM = """
import sys
from pathlib import Path
from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner.client import Client
from faultatlas.miner.search.repositories import search_repositories
from faultatlas.miner.search.query import repository_query
from faultatlas.miner.search import slices as search_slices
search_slices.LIMIT, search_slices.FULL = 20, 18
client = Client(sys.argv[2], sys.argv[3])
run = provenance.begin("miner repos", {})
search_repositories(Study(Path(sys.argv[1])), client, run, repository_query("net"))
"""


@pytest.mark.parametrize("hook", ["before_response", "after_response"])
def test_killed_it_goes_on_where_it_was(
    low_ceiling: Bench, start: Callable[..., Popen[str]], hook: str
) -> None:
    bench = low_ceiling
    bench.world.catalogue = spread(30, "2010-01-01", 12_000_000)
    killed = start("search.py", PROGRAM, bench.directory, bench.url, TOKEN)

    def kill(number: int, _request: Any) -> None:
        if number == 5:
            os.kill(killed.pid, signal.SIGKILL)
            killed.wait()

    setattr(bench.world, hook, kill)
    assert killed.wait() == -signal.SIGKILL
    setattr(bench.world, hook, None)
    before = len(bench.rows("SELECT * FROM responses"))
    assert before >= 3
    found = bench.search()
    assert found.was_resumed
    assert found.is_complete
    assert bench.projects() == names(bench.world.catalogue)
    assert found.found == 30


def test_a_quota_that_nobody_waits_for_keeps_what_is_there(low_ceiling: Bench) -> None:
    bench = low_ceiling
    bench.world.catalogue = spread(60)
    with pytest.raises(StudyError, match="quota is used up") as raised:
        bench.search(client=bench.client(token=None, max_wait_s=0))
    assert "10 pages of this run are stored; the same command goes on" in raised.value.hint
    assert bench.outcome() == "partial"
    bench.now += 61
    assert bench.search(client=bench.client()).found == 60


def test_an_unfinished_answer_is_asked_for_again(bench: Bench) -> None:
    bench.world.catalogue = spread(40)
    bench.world.incomplete_searches = 2
    found = bench.search()
    assert found.is_complete
    assert found.found == 40
    assert bench.slept == [2.0, 5.0]
    assert bench.told == [
        "GitHub did not finish the search; asking again in 2 s",
        "GitHub did not finish the search; asking again in 5 s",
    ]
    assert len(bench.rows("SELECT * FROM responses")) == 1


def test_an_answer_that_stays_unfinished_is_told_and_recorded(bench: Bench) -> None:
    bench.world.catalogue = spread(40)
    bench.world.incomplete_searches = 99
    found = bench.search()
    assert not found.is_complete
    assert found.found == 20
    (row,) = bench.rows("SELECT state, is_incomplete, is_done FROM search_slices")
    assert tuple(row.values()) == ("incomplete", True, True)
    (problem,) = found.problems()
    assert "1 of 1 slices were not searched to the end by GitHub" in problem
    assert "run the same command again later" in problem
    assert bench.outcome() == "partial"


def test_more_than_the_ceiling_in_one_second_are_told_and_recorded(low_ceiling: Bench) -> None:
    bench = low_ceiling
    crowd = [facts(number, "2020-02-02T02:02:02Z") for number in range(30)]
    bench.world.catalogue = [*crowd, facts(2000, "2020-02-02T02:02:03Z")]
    found = bench.search(repository_query("net", created="2020-02-02"))
    assert not found.is_complete
    assert found.found == 21
    assert found.missing == 10
    (row,) = bench.rows("SELECT * FROM search_slices WHERE state = 'truncated'")
    assert row["created_from"] == row["created_to"]
    assert (row["total_count"], row["found_count"], row["missing_count"]) == (30, 20, 10)
    (problem,) = found.problems()
    assert "more than 1,000 results in one second" in problem
    assert "10 repositories missing" in problem
    assert bench.outcome() == "partial"


def repeated(reply: Reply) -> None:
    """A page that holds a row of the page before it, instead of one of its own."""
    alter(reply, lambda items: items.__setitem__(0, items[1]))


def test_a_slice_whose_pages_overlap_is_read_once_more(bench: Bench) -> None:
    bench.world.catalogue = spread(150)
    bench.world.faults.add(Fault.changed(repeated))
    found = bench.search()
    assert found.is_complete
    assert found.found == 150
    assert len(bench.world.requests) == 4


def test_a_gap_that_stays_is_told_and_recorded(bench: Bench) -> None:
    bench.world.catalogue = spread(150)
    bench.world.faults.add(Fault.changed(repeated, times=None, on="page=2"))
    found = bench.search()
    assert not found.is_complete
    assert (found.found, found.missing) == (149, 1)
    (row,) = bench.rows("SELECT state, missing_count, pages FROM search_slices")
    assert tuple(row.values()) == ("short", 1, 4)
    assert "gave fewer repositories than GitHub counted" in found.problems()[0]
    assert bench.outcome() == "partial"


def test_a_query_that_github_refuses_is_told_with_its_reason(bench: Bench) -> None:
    with pytest.raises(StudyError, match="does not take the search 'net stars:>x'") as raised:
        bench.search(repository_query("net stars:>x"))
    assert "qualifiers" in raised.value.hint
    assert bench.outcome() == "failed"


def test_a_server_that_does_not_keep_to_the_range_is_not_asked_for_every_second(
    low_ceiling: Bench,
) -> None:
    bench = low_ceiling

    def ignore(reply: Reply) -> None:
        alter(
            reply, lambda items: [each.update(created_at="1999-01-01T00:00:00Z") for each in items]
        )

    bench.world.catalogue = spread(45)
    bench.world.faults.add(Fault.changed(ignore, times=None, on="created"))
    with pytest.raises(StudyError, match="does not keep to the time of creation") as raised:
        bench.search()
    assert "without OR and NOT" in raised.value.hint
    assert len(bench.world.requests) < 8

"""The search of repositories: what it finds, what it leaves out, what stays of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from loopback import Fault, Reply
from loopback.payloads import instant
from loopback.repositories import Facts, described
from searching import NET, Bench, Stop, a_bench, alter, facts, names, spread

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.records import Rows
from faultatlas.miner import tables
from faultatlas.miner.archive import Exchange
from faultatlas.miner.rebuild import rebuild
from faultatlas.miner.search.query import repository_query
from faultatlas.miner.search.repositories import plan_search
from faultatlas.miner.search.results import SearchProgress
from faultatlas.miner.sources.github_repositories import read_repositories, repository_row


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with a_bench(tmp_path) as made:
        yield made


@pytest.fixture
def low_ceiling(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench.lower_the_ceiling(monkeypatch)
    return bench


# What it finds


def test_a_small_search_is_one_slice_and_no_more_requests_than_pages(bench: Bench) -> None:
    bench.world.catalogue = spread(230)
    found = bench.search()
    assert bench.projects() == names(bench.world.catalogue)
    assert (found.total, found.found, found.kept, found.new) == (230, 230, 230, 230)
    assert found.is_complete
    assert found.requests == len(bench.world.requests) == 3
    assert set(bench.queries) == {"net"}
    (row,) = bench.rows("SELECT * FROM search_slices")
    assert (row["state"], row["total_count"], row["found_count"], row["pages"]) == (
        "complete",
        230,
        230,
        3,
    )
    assert (row["missing_count"], row["is_incomplete"], row["is_done"]) == (0, False, True)
    assert bench.outcome() == "ok"


def test_a_row_says_what_github_says(bench: Bench) -> None:
    def describe(reply: Reply) -> None:
        said = json.loads(reply.body)
        said["items"][0] |= {
            "description": "Nets\u2028and more",
            "topics": ["vision", "keras"],
            "license": {"key": "mit", "spdx_id": "MIT"},
            "forks_count": 12,
            "open_issues_count": 3,
            "size": 4096,
            "default_branch": "trunk",
        }
        reply.body = json.dumps(said).encode()

    bench.world.catalogue = [facts(1, "2019-03-04T05:06:07Z", stars=77, archived=True)]
    bench.world.faults.add(Fault.changed(describe))
    bench.search()
    (row,) = bench.rows("SELECT * EXCLUDE (run_id, fetched_at, response_id) FROM repositories")
    assert row == {
        "project": "lab/net-1",
        "source": "github",
        "url": "https://github.com/Lab/net-1",
        "description": "Nets\u2028and more",
        "language": "Python",
        "topics": ["keras", "vision"],
        "license": "MIT",
        "stars": 77,
        "forks": 12,
        "open_issues": 3,
        "size_kb": 4096,
        "default_branch": "trunk",
        "is_fork": False,
        "is_archived": True,
        "is_disabled": False,
        "created_at": datetime(2019, 3, 4, 5, 6, 7),  # noqa: DTZ001  (as the study stores it)
        "pushed_at": datetime(2019, 3, 5, 5, 6, 7),  # noqa: DTZ001
        "updated_at": datetime(2019, 3, 5, 5, 6, 7),  # noqa: DTZ001
        "repository_id": "github:repository/5001",
    }


def test_a_repository_of_an_enterprise_server_carries_its_host() -> None:
    said = described("team/app", 9, 0, 0) | {"html_url": "https://git.example.org/team/app"}
    row = repository_row(said)
    assert row is not None
    assert row.project == "git.example.org/team/app"
    assert row.repository_id == "github:git.example.org/repository/9"


@pytest.mark.parametrize("said", [{}, {"html_url": 5, "id": 1}, {"html_url": "https://x", "id": 1}])
def test_what_is_no_repository_is_no_row(said: dict[str, Any]) -> None:
    assert repository_row(said) is None


def test_more_than_a_thousand_are_found_in_slices_that_meet(bench: Bench) -> None:
    bench.world.catalogue = [*spread(1150), *spread(1, "2007-10-29T14:37:16Z")]
    bench.world.catalogue[-1].name = "lab/oldest-net"
    bench.world.catalogue[-1].id = 1
    found = bench.search()
    assert bench.projects() == names(bench.world.catalogue)
    assert found.is_complete
    assert found.total == found.found == 1151
    slices = bench.rows("SELECT * FROM search_slices ORDER BY created_from, number")
    assert slices[0]["state"] == "split"
    read = [each for each in slices if each["state"] == "complete"]
    assert len(read) > 1
    assert all(each["total_count"] <= 1000 for each in read)
    assert sum(each["total_count"] for each in read) == 1151
    assert bench.queries[0] == "net"
    assert all(" created:20" in query for query in bench.queries[1:])
    # What the server's clock says is the end, whatever this machine's says.
    assert f"{read[-1]['created_to']:%Y-%m-%dT%H:%M:%SZ}" == "2022-06-01T12:00:00Z"


def test_it_keeps_to_the_quota_of_searches(low_ceiling: Bench) -> None:
    bench = low_ceiling
    bench.world.catalogue = spread(60)
    bench.search(client=bench.client(token=None))
    assert {request.status for request in bench.world.requests} == {200}
    assert 60 < sum(bench.slept) < 180  # ten searches a minute without a token


def test_every_language_is_asked_for_by_itself(bench: Bench) -> None:
    bench.world.catalogue = [
        facts(1, "2019-01-01"),
        facts(2, "2019-01-01", language="Jupyter Notebook"),
        facts(3, "2019-01-01", language="R"),
    ]
    query = repository_query("net", languages=["Python", "Jupyter Notebook"])
    found = bench.search(query)
    assert bench.projects() == ["lab/net-1", "lab/net-2"]
    assert bench.queries == ['net language:"Jupyter Notebook"', "net language:Python"]
    assert found.total == 2


def test_a_range_of_creation_is_kept_also_when_it_is_cut(low_ceiling: Bench) -> None:
    bench = low_ceiling
    bench.world.catalogue = spread(110)
    within = [each for each in bench.world.catalogue if each.created >= instant("2019-03-01")]
    assert 20 < len(within) < 110
    bench.search(repository_query("net", created="2019-03-01.."))
    assert bench.projects() == names(within)
    assert bench.queries[0] == "net created:>=2019-03-01T00:00:00Z"


def test_small_pages_of_a_server_are_followed(bench: Bench) -> None:
    bench.world.page_limit = 30
    bench.world.catalogue = spread(100)
    assert bench.search().found == 100
    assert len(bench.world.requests) == 4


def test_two_searches_tell_what_each_found(bench: Bench) -> None:
    bench.world.catalogue = [
        facts(1, "2019-01-01", name="a/keras-net"),
        facts(2, "2019-01-01", name="a/tensorflow-net"),
        facts(3, "2019-01-01", name="a/keras-tensorflow"),
    ]
    bench.search(repository_query("keras"))
    bench.search(repository_query("tensorflow"))
    found = bench.rows("SELECT search, project FROM search_results ORDER BY ALL")
    assert [tuple(row.values()) for row in found] == [
        ("keras", "a/keras-net"),
        ("keras", "a/keras-tensorflow"),
        ("tensorflow", "a/keras-tensorflow"),
        ("tensorflow", "a/tensorflow-net"),
    ]
    assert len(bench.projects()) == 3


# What is left out


def mixed() -> list[Facts]:
    return [
        facts(1, "2019-01-01"),
        facts(2, "2019-01-01", fork=True),
        facts(3, "2019-01-01", disabled=True),
        facts(4, "2019-01-01", archived=True),
    ]


@pytest.mark.parametrize(
    ("text", "options", "kept", "left_out"),
    [
        ("net", {}, [1, 4], {"disabled": 1}),
        ("net", {"with_archived": False}, [1], {"archived": 1, "disabled": 1}),
        ("net", {"with_disabled": True}, [1, 3, 4], {}),
        ("net", {"forks": "also"}, [1, 2, 4], {"disabled": 1}),
        ("net", {"forks": "only"}, [2], {}),
        ("net fork:true", {}, [1, 2, 4], {"disabled": 1}),
    ],
)
def test_what_is_left_out_is_counted(
    bench: Bench, text: str, options: dict[str, Any], kept: list[int], left_out: dict[str, int]
) -> None:
    bench.world.catalogue = mixed()
    found = bench.search(repository_query(text, **options))
    assert bench.projects() == [f"lab/net-{number}" for number in kept]
    assert found.left_out == left_out
    assert found.kept == len(kept)
    assert found.found == len(kept) + sum(left_out.values())
    assert found.is_complete
    listed = bench.rows("SELECT project FROM search_results ORDER BY 1")
    assert [row["project"] for row in listed] == bench.projects()


def test_a_fork_that_github_lists_all_the_same_is_left_out(bench: Bench) -> None:
    bench.world.catalogue = spread(3)
    bench.world.faults.add(
        Fault.changed(lambda reply: alter(reply, lambda items: items[0].update(fork=True)))
    )
    found = bench.search()
    assert found.left_out == {"fork": 1}
    assert len(bench.projects()) == 2


def test_what_is_known_is_brought_up_to_date_also_when_it_is_now_left_out(bench: Bench) -> None:
    query = repository_query("net", with_archived=False)
    bench.world.catalogue = spread(2)
    bench.search(query)
    bench.world.catalogue[0].archived = True
    bench.search(query)
    rows = bench.rows("SELECT project, is_archived FROM repositories ORDER BY 1")
    assert [row["is_archived"] for row in rows] == [True, False]
    assert len(bench.rows("SELECT * FROM search_results")) == 1


# Later


def test_a_finished_search_is_made_anew_and_loses_nothing(bench: Bench) -> None:
    bench.world.catalogue = spread(5)
    first = bench.search()
    bench.now += 86_400
    bench.world.catalogue = [*bench.world.catalogue[1:], facts(99, "2022-01-01")]
    bench.world.catalogue[0].stars = 555
    second = bench.search()
    assert (first.turn, second.turn) == (1, 2)
    assert not second.was_resumed
    assert (second.new, second.changed, second.no_longer_found) == (1, 1, 1)
    assert (second.total, second.found) == (5, 5)
    assert bench.projects() == sorted([*(f"lab/net-{n}" for n in range(5)), "lab/net-99"])
    gone = bench.rows("SELECT project FROM search_results WHERE NOT is_listed")
    assert [row["project"] for row in gone] == ["lab/net-0"]
    stars = bench.rows("SELECT stars FROM repositories WHERE project = 'lab/net-1'")
    assert stars == [{"stars": 555}]
    turns = bench.rows("SELECT turn, state FROM search_slices ORDER BY 1")
    assert [tuple(row.values()) for row in turns] == [(1, "complete"), (2, "complete")]


def test_until_it_is_finished_anew_the_last_finished_search_says_what_is_listed(
    bench: Bench,
) -> None:
    def stop(_progress: SearchProgress) -> None:
        raise Stop

    bench.world.catalogue = spread(150)
    bench.search()
    with pytest.raises(Stop):
        bench.search(on_page=stop)
    assert bench.rows("SELECT DISTINCT is_listed FROM search_results") == [{"is_listed": True}]


def test_a_repository_with_a_new_name_is_the_same_row(bench: Bench) -> None:
    bench.world.catalogue = spread(2)
    bench.search()
    bench.world.catalogue[0].name = "other/net-renamed"
    found = bench.search()
    assert bench.projects() == ["lab/net-1", "other/net-renamed"]
    assert (found.new, found.changed, found.no_longer_found) == (0, 1, 0)


def test_a_name_that_another_repository_has_now_is_that_ones(bench: Bench) -> None:
    bench.world.catalogue = spread(2)
    bench.search()
    bench.world.catalogue[0] = facts(0, "2021-01-01", id=77)
    bench.search()
    rows = bench.rows("SELECT project, repository_id FROM repositories ORDER BY 1")
    assert [tuple(row.values()) for row in rows] == [
        ("lab/net-0", "github:repository/77"),
        ("lab/net-1", "github:repository/5001"),
    ]
    assert len(bench.rows("SELECT * FROM search_results")) == 2


def test_a_rebuild_makes_the_same_rows_from_the_responses(bench: Bench) -> None:
    bench.world.catalogue = [
        *spread(12),
        *(facts(50 + n, "2019-01-01", archived=n > 2, disabled=n > 4) for n in range(6)),
    ]
    bench.search(repository_query("net", with_archived=False))
    bench.now += 86_400
    bench.world.catalogue = [*bench.world.catalogue[3:], facts(700, "2022-01-01")]
    bench.world.catalogue[0].name = "other/net-renamed"
    bench.search(repository_query("net", with_archived=False))
    bench.search(repository_query("lab"))
    tables_then = {name: bench.rows(f"SELECT * FROM {name} ORDER BY ALL") for name in VIEWS}
    counts, _problems = rebuild(bench.study, provenance.begin("miner rebuild", {}))
    assert {name: bench.rows(f"SELECT * FROM {name} ORDER BY ALL") for name in VIEWS} == tables_then
    assert counts["repository"] == len(bench.projects())
    assert counts["search_result"] > counts["repository"]


VIEWS = ("repositories", "search_results", "search_slices", "store.search_result")


def test_the_same_repository_twice_on_a_page_is_one_row(bench: Bench) -> None:
    bench.search()  # makes the study
    said = described("lab/net", 1, 0, 0)
    request = {"kind": "repositories", "search": "s", "turn": 1, "slice": 1, "leave_out": []}
    at = datetime(2022, 1, 1)  # noqa: DTZ001  (as the study stores it)
    exchange = Exchange("r", "github", "github:x", request, "/", "/", 200, {}, at, b"")
    rows = Rows()
    read_repositories(rows, exchange, {"items": [said, said]}, lambda login: login)
    with bench.study.writing() as writer:
        tables.put(writer, rows, exchange)
    assert bench.projects() == ["lab/net"]


# Before


def test_a_plan_asks_once_for_each_language_and_stores_nothing(bench: Bench) -> None:
    bench.world.catalogue = [*spread(1200), facts(9000, "2020-01-01", language="R")]
    client = bench.client()
    plan = plan_search(client, repository_query("net", languages=["Python", "R"]))
    client.close()
    assert len(bench.world.requests) == 2
    assert plan.counts == {"net language:Python": 1200, "net language:R": 1}
    assert plan.requests == 12 + 2 + 1
    assert plan.words() == (
        "1,201 repositories in about 3 slices: about 15 requests, 1 min at 30 a minute"
    )
    assert not bench.study.exists


def test_gitee_is_refused_before_anything_is_asked(bench: Bench) -> None:
    client = bench.client(kind="gitee")
    with pytest.raises(StudyError, match="Gitee's search") as raised:
        plan_search(client, NET)
    client.close()
    assert "GitHub" in raised.value.hint
    assert bench.world.requests == []


def test_progress_counts_towards_the_total(bench: Bench) -> None:
    bench.world.catalogue = spread(250)
    seen: list[SearchProgress] = []
    bench.search(on_page=seen.append)
    assert [(each.found, each.total, each.slices_left) for each in seen] == [
        (100, 250, 1),
        (200, 250, 1),
        (250, 250, 0),
    ]


def test_the_table_of_slices_and_the_document(bench: Bench) -> None:
    bench.world.catalogue = spread(30)
    found = bench.search()
    (row,) = found.table().records()
    assert (row["query"], row["total_count"], row["state"]) == ("net", 30, "complete")
    assert row["created_to"] == "2022-06-01 12:00:00"
    document = json.loads(json.dumps(found.as_json()))
    assert document["complete"] is True
    assert document["kept"] == 30

"""Searches of OpenAlex: pages, abstracts, quotas, faults, and that nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_time import FakeTime
from loopback import Fault, Reply, Request
from loopback.index import generated
from loopback.openalex import KEY, OpenAlex
from papering import Papering

Start = Callable[..., Papering]
WORDS = '"deep learning" AND bug'


def test_a_search_brings_every_paper_once_with_its_abstract(papering: Start) -> None:
    at = papering(OpenAlex(generated(50), page_limit=20))
    found = at.fetch(WORDS, key=KEY)
    assert found["rows"] == {"records_new": 50, "papers_new": 50, "papers_changed": 0}
    assert found["requests"] == 4  # three pages, and the empty one that ends a cursor
    (row,) = at.rows(
        "SELECT title, year, venue, authors, abstract, url, cited_by, publication_type "
        "FROM papers WHERE doi = '10.5555/made.7'"
    )
    assert row == (
        "Repairing deep learning bug number 7", 2019, "ISSTA", ["Ada Okoro", "Bo Lindqvist"],
        "A bug of deep learning, the 7th one.", "https://doi.org/10.5555/made.7", 21, "article",
    )  # fmt: skip
    assert at.column("SELECT position FROM paper_records ORDER BY position") == [*range(1, 51)]
    without = at.column("SELECT count(*) FROM papers WHERE starts_with(artifact_id, 'paper:')")
    assert without == [12]  # they have no DOI


def test_years_are_asked_for_and_an_index_is_asked_again_for_what_is_new(papering: Start) -> None:
    at = papering(OpenAlex(generated(30)))
    at.fetch(WORDS, "--since", 2019, "--until", 2020, key=KEY)
    assert {*at.column("SELECT DISTINCT year FROM papers")} == {2019, 2020}
    assert "publication_year:2019-2020" in at.asked[0].query["filter"]
    at.world.papers += generated(6, first=31)
    found = at.fetch(WORDS, "--since", 2019, "--until", 2020, key=KEY)
    assert found["rows"]["papers_new"] == 2


def test_without_a_key_pages_are_counted_and_end_at_ten_thousand(
    papering: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = papering(OpenAlex(generated(210)))
    found = at.fetch(WORDS)
    assert found["rows"]["papers_new"] == 210
    assert [request.query["page"] for request in at.asked] == ["1", "2", "3"]
    monkeypatch.setattr("faultatlas.miner.papers.openalex.MOST_BY_PAGES", 100)
    (search,) = at.partly(WORDS)["searches"]
    assert (search["records"], search["total"], search["is_complete"]) == (100, 210, False)


def test_a_spent_budget_is_told_with_its_end_and_the_next_run_goes_on(papering: Start) -> None:
    at = papering(OpenAlex(generated(50), page_limit=20, left=20))
    ended = at.run(WORDS, key=KEY)
    assert ended.returncode == 1
    assert "'s quota is used up until" in ended.stderr
    assert "40 records of 40 new papers; the same command goes on" in " ".join(ended.stderr.split())
    at.world.left = 1000
    found = at.fetch(WORDS, key=KEY)
    assert found["rows"]["papers_new"] == 10
    assert at.asked[0].query["cursor"] != "*"  # not from the beginning


@pytest.mark.parametrize(
    "fault",
    [
        Fault.too_many(retry_after=3, times=2),
        Fault.html(502, times=2),
        Fault.cut_body(times=2),
        Fault.reset(times=2),
        Fault.bad_json(times=2),
        Fault.status(500, times=2),
    ],
    ids=["429", "502", "cut", "reset", "bad json", "500"],
)
def test_what_passes_is_waited_for(papering: Start, fake_time: FakeTime, fault: Fault) -> None:
    at = papering(OpenAlex(generated(30), page_limit=20))
    at.world.faults.add(fault)
    assert at.fetch(WORDS, key=KEY)["rows"]["papers_new"] == 30
    assert fault.happened == 2
    assert len(fake_time.slept) == 2


def test_a_cursor_that_has_expired_begins_anew(papering: Start) -> None:
    at = papering(OpenAlex(generated(50), page_limit=20, left=20))
    at.run(WORDS, key=KEY)
    at.world.left = 1000
    at.world.expired = {"NDA="}  # 40
    assert at.fetch(WORDS, key=KEY)["stored"]["papers"] == 50
    assert not at.world.expired


@pytest.mark.parametrize(
    ("query", "key", "words"),
    [
        (WORDS, "wrong0key0wrong0key", "refuses the key in OPENALEX_API_KEY"),
        ("", KEY, "the query is empty"),
    ],
)
def test_what_cannot_be_asked_says_why(papering: Start, query: str, key: str, words: str) -> None:
    at = papering(OpenAlex(generated(3)))
    ended = at.run(query, key=key)
    assert ended.returncode == 1
    assert words in " ".join(ended.stderr.split())
    assert not (at.study / "study.duckdb").exists()


def test_tables_are_rebuilt_the_same(papering: Start) -> None:
    at = papering(OpenAlex(generated(30), page_limit=20))
    at.fetch(WORDS, key=KEY)
    at.fetch("repairing", "--since", 2020, key=KEY)
    before = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == before
    assert before["paper_record"]


def test_searches_of_a_template_that_a_quota_cut_off_go_on_with_the_rest(papering: Start) -> None:
    world = OpenAlex(generated(30), left=30)
    at = papering(world)
    words = ("--template", "ml-debugging-survey")
    assert at.run(*words, key=KEY).returncode == 1
    first = {request.query["filter"] for request in at.asked if request.status == 200}
    assert len(first) == 3  # of ten
    world.left = 1000
    found = at.fetch(*words, key=KEY)
    rest = {request.query["filter"] for request in at.asked}
    assert (len(rest), len(found["searches"]), first & rest) == (7, 10, set())
    told = [each for each in found["searches"] if "was read to its end" in str(each["notes"])]
    assert {each["search"] for each in told} == first
    at.fetch(*words, key=KEY)
    assert len({request.query["filter"] for request in at.asked}) == 10


def changed(**meta: Any) -> Fault:
    def act(_request: Request, _world: object, go: Callable[[], Reply]) -> Reply:
        reply = go()
        said = json.loads(reply.body)
        reply.body = json.dumps({**said, "meta": {**said["meta"], **meta}}).encode()
        return reply

    return Fault(act, None, None)


def test_a_search_that_fell_short_is_not_complete_in_a_later_run(papering: Start) -> None:
    at = papering(OpenAlex(generated(30), left=30))
    words = ("--template", "ml-debugging-survey")
    at.world.faults.add(changed(count=40))
    at.run(*words, key=KEY)
    at.world.left = 1000
    searches = at.partly(*words, key=KEY)["searches"]
    before = [each for each in searches if "was read to its end before" in str(each["notes"])]
    assert [(each["total"], each["is_complete"]) for each in before] == [(40, False)] * 3


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ({"next_cursor": "MjA="}, "leads back to a page that it gave before"),
        ({"count": "many"}, "gives no usable answer"),
    ],
)
def test_an_index_that_errs_ends_the_search_and_is_named(
    papering: Start, meta: dict[str, Any], words: str
) -> None:
    at = papering(OpenAlex(generated(50), page_limit=20))
    at.world.faults.add(changed(**meta))
    ended = at.run(WORDS, key=KEY)
    assert ended.returncode == 1
    assert words in " ".join(ended.stderr.split())
    assert len(at.asked) < 10

"""Searches of Scopus: what a key includes, the weekly quota, and how it says that there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loopback.index import generated, of_the_survey
from loopback.scopus import KEY, Scopus
from papering import Papering

Start = Callable[..., Papering]
WORDS = "TITLE-ABS-KEY(bug)"


def test_a_subscriber_gets_abstracts_and_all_authors(papering: Start) -> None:
    at = papering(Scopus(generated(60)))
    found = at.fetch(WORDS, key=KEY)
    assert found["rows"]["papers_new"] == 60
    (row,) = at.rows("SELECT authors, abstract, year, venue, url, cited_by FROM papers WHERE doi = "
                     "'10.5555/made.7'")  # fmt: skip
    page = "https://www.scopus.com/inward/record.uri?scp=85000000007"
    abstract = "A bug of deep learning, the 7th one."
    assert row == (["Ada Okoro", "Bo Lindqvist"], abstract, 2019, "ISSTA", page, 14)
    assert {request.headers["x-els-apikey"] for request in at.asked} == {KEY}
    assert at.column("SELECT record_key FROM paper_records WHERE position = 1") == [
        "2-s2.0-85000000001"
    ]


@pytest.mark.parametrize("has_cursor", [True, False])
def test_another_key_gets_less_and_it_is_said(papering: Start, *, has_cursor: bool) -> None:
    at = papering(Scopus(generated(60), has_complete=False, has_cursor=has_cursor))
    found = at.fetch(WORDS, key=KEY)
    (search,) = found["searches"]
    assert search["notes"] == ["the key gives no abstracts, and of the authors the first only"]
    assert at.column("SELECT count(*) FROM papers WHERE abstract IS NULL") == [60]
    assert at.asked[-1].query["view"] == "STANDARD"
    assert ("cursor" in at.asked[-1].query) is has_cursor


def test_five_thousand_are_the_most_without_a_cursor(
    papering: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faultatlas.miner.papers.scopus.MOST_BY_PAGES", 50)
    at = papering(Scopus(generated(60), has_cursor=False))
    ended = at.run(WORDS, key=KEY)
    assert ended.returncode == 1
    assert "60 papers, of which this key can read the first 50:" in " ".join(ended.stderr.split())
    assert at.column("SELECT count(*) FROM papers") == [50]
    assert at.column("SELECT outcome FROM runs") == ["partial"]


def test_an_empty_result_is_no_error(papering: Start) -> None:
    at = papering(Scopus(generated(5)))
    found = at.fetch("TITLE-ABS-KEY(aardvark)", key=KEY)
    assert found["searches"][0]["total"] == 0
    assert found["stored"]["papers"] == 0


@pytest.mark.parametrize(
    ("changes", "query", "key", "words"),
    [
        ({}, WORDS, None, "Scopus answers nobody without a key"),
        ({}, WORDS, "f" * 32, "refuses the key in SCOPUS_API_KEY"),
        ({}, "TITLE-ABS-KEY(bug", KEY, "Error translating query"),
        ({"left": 0}, WORDS, KEY, "'s quota is used up until"),
    ],
)
def test_a_refusal_says_why_and_what_to_do(
    papering: Start, changes: dict[str, Any], query: str, key: str | None, words: str
) -> None:
    at = papering(Scopus(generated(5), **changes))
    ended = at.run(query, key=key)
    assert ended.returncode == 1
    assert words in " ".join(ended.stderr.split())
    assert len(at.asked) <= 1  # nothing of it passes by asking again


def test_a_weekly_quota_ends_the_run_and_the_next_goes_on(papering: Start) -> None:
    at = papering(Scopus(generated(60), left=1))
    ended = at.run(WORDS, "--max-wait", "2h", key=KEY)
    assert ended.returncode == 1
    assert "larger --max-wait" in " ".join(ended.stderr.split())
    assert at.column("SELECT count(*) FROM papers") == [25]
    at.world.left = 100
    assert at.fetch(WORDS, key=KEY)["rows"]["papers_new"] == 35


def test_the_survey_is_asked_as_it_was_printed(papering: Start) -> None:
    at = papering(Scopus(of_the_survey()))
    at.fetch("--template", "ml-debugging-survey-string", key=KEY)
    printed = (
        "CONF(ICSE OR ASE OR FSE OR ICML OR ICLR OR IJCAI OR ACL OR NeurIPS OR AAAI OR EMNLP OR "
        'ISSTA OR ICST OR TSE OR TOSEM) AND TITLE-ABS-KEY(("Machine Learning" OR "Deep Learning") '
        'AND ("bug" OR "fault" OR "debug" OR "repair"))'
    )
    assert {request.query["query"] for request in at.asked} == {printed}
    at.fetch("--template", "ml-debugging-survey", key=KEY)
    asked = {request.query["query"].partition(" AND TITLE-ABS-KEY")[2] for request in at.asked}
    topics, words = (
        ("Machine Learning", "Deep Learning"),
        ("bug", "test", "fault", "debug", "repair"),
    )
    assert asked == {f'("{topic}" AND "{word}")' for topic in topics for word in words}

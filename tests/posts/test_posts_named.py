"""`miner fetch --from FILE` with questions and answers in the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Fault, World, serving
from loopback.exchange import as_json
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated
from posting import Posting

Start = Callable[..., Posting]


def fetch(at: Posting, file: Path, *words: Any) -> Any:
    ended = at.miner("fetch", "--from", file, "--api-url", at.api_url, "--json", *words)
    return ended.returncode, json.loads(ended.stdout)["data"] if ended.stdout else ended.stderr


def test_exactly_the_named_questions_come_a_hundred_in_a_request(
    posting: Start, tmp_path: Path
) -> None:
    at = posting(StackExchange(list(generated(260))))
    file = tmp_path / "named.csv"
    wanted = range(10, 2510, 20)  # 125
    file.write_text(
        "url\n" + "".join(f"https://stackoverflow.com/questions/{n}/x\n" for n in wanted)
    )
    code, found = fetch(at, file)
    assert code == 0
    assert at.numbers() == {*wanted}
    assert len(at.asked) == 3  # a filter and two hundreds
    assert found["posts"][0]["stored"]["posts"] == 125
    assert at.column("SELECT count(*) FROM comments WHERE is_answer")[0] > 0
    fetch(at, file)
    assert at.asked == []
    fetch(at, file, "--verify")
    assert len(at.asked) == 2


def test_an_answer_brings_its_question(posting: Start, tmp_path: Path) -> None:
    at = posting()
    file = tmp_path / "named.csv"
    file.write_text("https://stackoverflow.com/a/3001\nstackoverflow:a/999\nstackoverflow:20\n")
    code, _found = fetch(at, file)
    assert code == 0
    assert at.numbers() == {20, 30}
    assert at.rows("SELECT artifact_id, reason FROM store.departure") == [
        ("stackoverflow:a/999", "not found")
    ]


def test_an_answer_that_a_file_told_of_brings_its_question(posting: Start, tmp_path: Path) -> None:
    at = posting()
    (tmp_path / "sede.csv").write_text("Id,PostTypeId,ParentId,Body\n3001,2,30,b\n")
    at.fetch("--from-sede", tmp_path / "sede.csv")
    file = tmp_path / "named.csv"
    file.write_text("stackoverflow:a/3001\n")
    fetch(at, file)
    assert at.numbers() == {30}
    fetch(at, file)
    assert at.asked == []


def test_a_site_that_gives_fewer_at_once_is_asked_for_the_rest(
    posting: Start, tmp_path: Path
) -> None:
    at = posting(StackExchange(list(generated(60)), page_limit=7))
    answers = [each.answer_number(0) for each in at.world.questions[:30] if each.answerers]
    file = tmp_path / "named.csv"
    file.write_text(
        "".join(f"stackoverflow:a/{number}\n" for number in [*answers, 5])
        + "".join(f"stackoverflow:{each.number}\n" for each in at.world.questions[30:])
        + "stackoverflow:5\n"
    )
    code, found = fetch(at, file)
    assert code == 0
    assert at.numbers() == {
        *(number // 100 for number in answers),
        *(each.number for each in at.world.questions[30:]),
    }
    gone = [("stackoverflow:5", "not found"), ("stackoverflow:a/5", "not found")]
    assert at.rows("SELECT artifact_id, reason FROM store.departure ORDER BY 1") == gone
    assert found["posts"][0]["rows"]["gone"] == 2
    mined = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == mined


@pytest.mark.parametrize(
    "said",
    [
        {"items": [], "has_more": True},
        {"items": []},
        {"items": [None], "has_more": False},
        {"items": [{"question_id": 77, "answer_id": 77}], "has_more": True},
    ],
)
@pytest.mark.parametrize("what", ["questions/", "answers/"])
@pytest.mark.usefixtures("fake_time")
def test_by_an_odd_answer_nothing_is_gone(
    posting: Start, tmp_path: Path, said: dict[str, Any], what: str
) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    file = tmp_path / "named.csv"
    file.write_text("stackoverflow:30\nstackoverflow:a/3001\n")
    at.world.faults.add(Fault(lambda *_: as_json(said), times=None, on=what))
    code, _words = fetch(at, file, "--verify")
    assert code == 1
    assert at.rows("FROM store.departure") == []
    at.world.faults.clear()
    code, _found = fetch(at, file, "--verify")
    assert code == 0
    assert at.rows("FROM store.departure") == []


def test_an_answer_that_comes_back_is_there_again(posting: Start, tmp_path: Path) -> None:
    at = posting()
    file = tmp_path / "named.csv"
    file.write_text("stackoverflow:a/3001\nstackoverflow:30\n")
    answerers, at.world.find(30).answerers = at.world.find(30).answerers, ()
    fetch(at, file)
    gone = "SELECT artifact_id FROM artifacts WHERE gone_at IS NOT NULL"
    assert at.column(gone) == ["stackoverflow:a/3001"]
    at.world.find(30).answerers = answerers
    fetch(at, file, "--verify")
    assert at.column(gone) == []

    at.world.find(30).answerers = ()  # and the same when a list brings it
    fetch(at, file, "--verify")
    assert at.column(gone) == ["stackoverflow:a/3001"]
    at.world.find(30).answerers = answerers
    at.world.now = int(at.world.clock())
    at.world.edit(30)
    at.fetch("--tag", "tensorflow")
    assert at.column(gone) == []


def test_what_the_site_does_not_give_is_marked_as_not_found(posting: Start, tmp_path: Path) -> None:
    at = posting()
    file = tmp_path / "named.csv"
    file.write_text("stackoverflow:10\nstackoverflow:20\nstackoverflow:999\n")
    fetch(at, file)
    at.world.delete(20)
    code, found = fetch(at, file, "--verify")
    assert code == 0
    assert found["posts"][0]["rows"]["gone"] == 1
    gone = at.rows(
        "SELECT artifact_id, kind, gone_reason FROM artifacts WHERE gone_at IS NOT NULL ORDER BY 1"
    )
    assert gone == [
        ("stackoverflow:20", "post", "not found"),
        ("stackoverflow:999", None, "not found"),
    ]
    ended = at.miner("fetch", "--from", file, "--verify", "--api-url", at.api_url)
    assert ended.returncode == 0
    at.world.questions += list(generated(1, first=20))
    fetch(at, file, "--verify")
    assert at.column("SELECT gone_at FROM posts WHERE post_id = 20") == [None]


def test_sites_are_asked_each_for_its_own(posting: Start, tmp_path: Path) -> None:
    site = "datascience.stackexchange.com"
    at = posting(StackExchange.small(others={site: list(generated(2))}))
    file = tmp_path / "named.csv"
    file.write_text(f"https://{site}/questions/10/a\nhttps://stackoverflow.com/q/10\n")
    code, found = fetch(at, file, "--no-comments")
    assert code == 0
    assert {each["site"] for each in found["posts"]} == {site, "stackoverflow.com"}
    assert {*at.column("SELECT artifact_id FROM posts")} == {
        f"stackoverflow:{site}/10",
        "stackoverflow:10",
    }
    assert at.column("SELECT count(*) FROM comments WHERE NOT is_answer") == [0]


def test_another_server_is_not_asked_for_what_it_does_not_have(
    posting: Start, tmp_path: Path
) -> None:
    at = posting()
    file = tmp_path / "named.csv"
    file.write_text("stackoverflow:10\ngithub:example/tensors#1\n")
    code, found = fetch(at, file)
    assert code == 1
    assert found["not_issues"] == ["github:example/tensors#1"]
    assert at.numbers() == {10}
    with serving(World.small()) as tracker:
        ended = at.miner("fetch", "--from", file, "--api-url", tracker.url, "--json")
    assert json.loads(ended.stdout)["data"]["not_issues"] == ["stackoverflow:10"]
    assert at.column("SELECT number FROM issues") == ["1"]

"""The loopback Stack Exchange does what the tests rely on."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from loopback import serving
from loopback.stackexchange import KEY, StackExchange
from loopback.stackexchange_payloads import generated


class Asker:
    def __init__(self, world: StackExchange, url: str) -> None:
        self.world = world
        self._url = url

    def __call__(self, path: str, **query: Any) -> tuple[int, dict[str, Any]]:
        asked = urlencode({"site": "stackoverflow", **query})
        try:
            with urlopen(Request(f"{self._url}/2.3{path}?{asked}")) as answer:  # noqa: S310
                return answer.status, self._said(answer)
        except HTTPError as refused:
            with refused:
                return refused.code, self._said(refused)

    def _said(self, answer: Any) -> dict[str, Any]:
        assert answer.headers["Content-Encoding"] == "gzip"
        return json.loads(gzip.decompress(answer.read()))  # type: ignore[no-any-return]

    def numbers(self, path: str, **query: Any) -> list[int]:
        items = self(path, **query)[1]["items"]
        names = ("comment_id", "answer_id", "question_id")
        return [next(item[name] for name in names if name in item) for item in items]


@pytest.fixture
def ask() -> Iterator[Asker]:
    world = StackExchange(list(generated(9)))
    with serving(world) as running:
        yield Asker(world, running.url)


def test_tags_must_all_hold_and_pages_follow_each_other(ask: Asker) -> None:
    both = ask.numbers("/questions", tagged="tensorflow;keras", order="asc", sort="creation")
    assert both == [30, 60, 90]
    first = ask("/questions", tagged="tensorflow", pagesize=4, order="asc", sort="creation")[1]
    assert (first["has_more"], len(first["items"])) == (True, 4)
    rest = ask("/questions", tagged="tensorflow", pagesize=4, page=2)[1]
    assert (rest["has_more"], len(rest["items"])) == (False, 2)
    assert ask("/questions", filter="total", tagged="keras")[1] == {"total": 6}


def test_min_is_about_the_order_and_fromdate_about_the_asking(ask: Asker) -> None:
    ask.world.edit(10)
    created = ask.world.find(50).created
    by_time = {"order": "asc", "min": created}
    assert ask.numbers("/questions", sort="creation", **by_time) == [50, 60, 70, 80, 90]
    assert ask.numbers("/questions", sort="activity", **by_time)[-1] == 10
    late = ask.numbers("/questions", sort="activity", fromdate=created, order="asc")
    assert sorted(late) == [50, 60, 70, 80, 90]


def test_parts_by_number(ask: Asker) -> None:
    assert ask.numbers("/questions/10;30;999", order="asc", sort="creation") == [10, 30]
    assert ask.numbers("/questions/30/answers", order="asc", sort="creation") == [3000, 3001]
    assert ask.numbers("/answers/3001") == [3001]
    assert ask.numbers("/answers/3001/comments") == [10030010]
    assert ask.numbers("/questions/30/comments") == [300]
    assert ask("/answers/3001")[1]["items"][0]["question_id"] == 30


def test_a_filter_says_which_fields_come(ask: Asker) -> None:
    assert "body" not in ask("/questions/10")[1]["items"][0]
    assert "body" in ask("/questions/10", filter="withbody")[1]["items"][0]
    fields = "question.question_id;question.owner;shallow_user.user_id"
    made = ask("/filters/create", base="none", include=fields)[1]["items"][0]["filter"]
    (item,) = ask("/questions/10", filter=made)[1]["items"]
    assert item == {"question_id": 10, "owner": {"user_id": 11}}
    assert ask("/questions/10", filter="!none")[1]["error_message"] == "Invalid filter specified"


def test_whoever_does_not_obey_a_backoff_is_refused(ask: Asker) -> None:
    now = 1_000_000.0
    ask.world.clock = lambda: now
    ask.world.backoffs[1] = 10
    assert ask("/questions")[1]["backoff"] == 10
    status, said = ask("/questions")
    assert (status, said["error_id"], said["error_name"]) == (400, 502, "throttle_violation")
    assert ask("/questions/10")[0] == 200  # another method
    now += 11
    assert ask("/questions")[0] == 200


def test_quota_keys_sites_and_pages(ask: Asker) -> None:
    assert ask("/questions")[1]["quota_remaining"] == 299
    assert ask("/questions", key=KEY)[1]["quota_max"] == 10_000
    assert "known application" in ask("/questions", key="other")[1]["error_message"]
    assert ask("/questions", site="nowhere")[1]["error_message"].startswith("No site found")
    assert ask("/questions", page=26)[1]["error_id"] == 403
    assert ask("/questions", page=26, key=KEY)[0] == 200
    ask.world.left[None] = 0
    assert "more requests available in" in ask("/questions")[1]["error_message"]
    assert ask("/nothing", key=KEY)[1]["error_id"] == 404

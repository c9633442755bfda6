"""Quota, pauses and failures: everything is kept, and the same command goes on."""

from __future__ import annotations

import html
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fake_time import FakeTime
from loopback import Fault, Reply, Request
from loopback.exchange import as_json
from loopback.stackexchange import KEY, StackExchange, error
from loopback.stackexchange_payloads import generated
from posting import Posting

from faultatlas.data.study import Study
from faultatlas.miner.archive import replay

Start = Callable[..., Posting]


def large(**options: object) -> StackExchange:
    return StackExchange(list(generated(20)), page_limit=4, **options)  # type: ignore[arg-type]


def whole(posting: Start) -> dict[str, list[tuple[object, ...]]]:
    at = posting(large(), study="whole")
    at.fetch("--tag", "python")
    return without_people(at)


def without_people(at: Posting) -> dict[str, list[tuple[object, ...]]]:
    """Rows of two studies, which have two keys."""
    return {
        "post": at.rows("SELECT post_id, title, score, updated_at FROM posts ORDER BY ALL"),
        "reply": at.rows("SELECT comment_id, body, gone_at FROM comments ORDER BY ALL"),
    }


def test_a_backoff_is_obeyed_for_the_method_that_asked_for_it(
    posting: Start, fake_time: FakeTime
) -> None:
    at = posting(large(backoffs={1: 30, 3: 10}))
    at.fetch("--tag", "python")
    assert {request.status for request in at.asked} == {200}
    # The first was for making the filter, which is not made again.
    assert [round(seconds) for seconds in fake_time.slept] == [12]


def test_a_pause_that_the_last_answer_of_a_run_asked_for_holds_for_the_next(
    posting: Start, fake_time: FakeTime
) -> None:
    at = posting(StackExchange.small(backoffs={2: 40}))
    at.fetch("--tag", "python")
    assert fake_time.slept == []
    at.fetch("--tag", "python")
    assert [round(seconds) for seconds in fake_time.slept] == [42]
    assert {request.status for request in at.asked} == {200}


def test_a_pause_holds_whatever_else_was_asked_for_since(
    posting: Start, fake_time: FakeTime, tmp_path: Path
) -> None:
    at = posting(StackExchange.small(backoffs={2: 40}))
    at.fetch("--tag", "python")
    (tmp_path / "named.csv").write_text("stackoverflow:a/999\n")
    at.miner("fetch", "--from", tmp_path / "named.csv", "--api-url", at.api_url)
    assert [request.path for request in at.asked] == ["/2.3/answers/999"]
    assert fake_time.slept == []
    at.fetch("--tag", "python")
    assert [round(seconds) for seconds in fake_time.slept] == [42]
    assert {request.status for request in at.asked} == {200}


def test_a_violation_is_waited_for(posting: Start, fake_time: FakeTime) -> None:
    at = posting(large())
    at.world.faults.add(
        Fault(lambda *_: error(502, "throttle_violation", "Violation of backoff parameter"), 2),
        Fault(
            lambda *_: error(502, "throttle_violation", "more requests available in 15 seconds"),
            on="sort=creation",
        ),
    )
    at.fetch("--tag", "python", "--max-wait", "10m")
    assert without_people(at) == whole(posting)
    assert [round(seconds) for seconds in fake_time.slept] == [60, 120, 17]


def test_a_pause_of_a_day_is_not_made(posting: Start, fake_time: FakeTime) -> None:
    at = posting(large(backoffs={2: 86_400}))
    ended = at.run("--tag", "python", "--max-wait", "1h")
    assert ended.returncode == 1
    assert "asks to slow down" in ended.stderr
    assert fake_time.slept == []
    assert len(at.numbers()) == 4


def test_a_quota_that_is_used_up_ends_the_run_and_the_next_one_goes_on(posting: Start) -> None:
    at = posting(large())
    at.world.left[None] = 3
    ended = at.run("--tag", "python")
    assert ended.returncode == 1
    said = " ".join(ended.stderr.split())
    assert said.count("'s quota is used up until") == 1
    assert "10,000 requests a day, without one only 300" in said
    assert "This run has stored 7 questions" in said  # two pages, one question on both
    assert len(at.asked) == 3  # nothing is asked for once nothing is left
    assert at.column("SELECT outcome FROM runs") == ["partial"]

    ended = at.run("--tag", "python")  # another process does not know yet, and asks once
    assert ended.returncode == 1
    assert "'s quota is used up until" in ended.stderr
    assert len(at.asked) == 1

    at.world.left[None] = 300
    at.fetch("--tag", "python")
    assert without_people(at) == whole(posting)
    assert len(at.asked) == 3  # five pages in all, and the filter is known


def test_what_is_left_of_the_quota_goes_to_the_list_that_was_never_read(posting: Start) -> None:
    at = posting(large())
    words = ("--tag", "tensorflow", "--tag", "keras")
    at.world.left[None] = 7  # a filter, five pages of the one tag, one of the other
    assert at.run(*words).returncode == 1
    before = len(at.numbers())
    at.world.left[None] = 1
    assert at.run(*words).returncode == 1
    assert [request.query["tagged"] for request in at.asked] == ["keras"]
    assert len(at.numbers()) > before


def test_with_patience_the_quota_of_the_next_day_is_waited_for(
    posting: Start, fake_time: FakeTime
) -> None:
    at = posting(large())
    at.world.left[None] = 3
    sleep = fake_time.sleep

    def refill(seconds: float) -> None:
        at.world.left[None] = 300
        sleep(seconds)

    fake_time.sleep = refill  # type: ignore[method-assign]
    at.fetch("--tag", "python", "--max-wait", "1d")
    assert without_people(at) == whole(posting)
    assert len(fake_time.slept) == 1
    assert fake_time.now.hour == fake_time.now.minute == 0


FAULTS = {
    "status 500": Fault.status(500),
    "status 503": Fault.status(503, times=3),
    "error 500": Fault(lambda *_: error(500, "internal_error", "Sorry"), 2),
    "error 503": Fault(lambda *_: error(503, "temporarily_unavailable", "Later"), 1),
    "a page of a proxy": Fault.html(502, times=2),
    "a page of a captive portal": Fault.html(200, times=2),
    "a cut body": Fault.cut_body(),
    "a reset": Fault.reset(),
    "bad JSON": Fault.bad_json(),
    "a list": Fault.changed(lambda reply: setattr(reply, "body", b"[]")),
    "too many": Fault.too_many(20),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.usefixtures("fake_time")
def test_a_passing_failure_changes_nothing(posting: Start, name: str) -> None:
    at = posting(StackExchange.small())
    fault = FAULTS[name]
    fault.happened, fault.on = 0, "sort=creation"
    at.world.faults.add(fault)
    at.fetch("--tag", "python", "--max-wait", "1m")
    assert at.world.faults.pending == []
    assert at.numbers() == {e.number for e in at.world.questions if "python" in e.tags}


ODD_PAGES: dict[str, dict[str, Any]] = {
    "empty": {"items": [], "has_more": True},
    "no list": {"items": {"a": 1}, "has_more": True},
    "nothing in it": {"items": [None], "has_more": True},
    "without times": {"items": [{"question_id": 1}], "has_more": True},
    "without times at the end": {"items": [{"question_id": 1}], "has_more": False},
    "no word of more": {"items": []},
}


@pytest.mark.parametrize("name", ODD_PAGES)
@pytest.mark.usefixtures("fake_time")
def test_an_odd_page_is_never_taken_as_the_end_of_a_list(posting: Start, name: str) -> None:
    def odd(*_: object) -> Reply:
        return as_json({**ODD_PAGES[name], "quota_max": 300, "quota_remaining": 200})

    at = posting(large())
    at.world.faults.add(Fault(odd, times=None, on="min="))
    ended = at.run("--tag", "python")
    assert ended.returncode == 1
    said = " ".join(ended.stderr.split())
    assert "gives no usable answer" in said
    assert "This run has stored 4 questions" in said
    assert at.column("SELECT is_complete FROM store.checkpoint") == [False]
    assert at.numbers() == {10, 20, 40, 50}
    at.world.faults.clear()
    at.world.faults.add(Fault(odd, times=2, on="min="))  # it passes
    at.fetch("--tag", "python")
    assert without_people(at) == whole(posting)


@pytest.mark.usefixtures("fake_time")
def test_what_only_changed_counts_as_stored(posting: Start) -> None:
    at = posting(large())
    at.fetch("--tag", "python")
    at.world.now = int(at.world.clock())
    for number in (10, 20, 40, 50, 70, 80):
        at.world.edit(number, title=f"new {number}")
    at.world.left[None] = 1
    ended = at.run("--tag", "python")
    assert ended.returncode == 1
    assert "This run has stored 4 questions" in " ".join(ended.stderr.split())
    assert at.column("SELECT outcome FROM runs ORDER BY started_at") == ["ok", "partial"]


@pytest.mark.usefixtures("fake_time")
def test_a_server_that_stays_in_trouble_is_told_and_what_came_is_kept(posting: Start) -> None:
    at = posting(large())
    at.world.faults.add(Fault.status(500, times=None, on=4))
    ended = at.run("--tag", "python")
    assert ended.returncode == 1
    assert "does not answer" in ended.stderr
    assert len(at.numbers()) == 7
    at.world.faults.clear()
    at.fetch("--tag", "python")
    assert without_people(at) == whole(posting)


@pytest.mark.usefixtures("fake_time")
def test_no_network_is_told(posting: Start) -> None:
    at = posting()
    ended = at.run("--tag", "python", "--api-url", "http://127.0.0.1:9/2.3")
    assert ended.returncode == 1
    assert "cannot be reached" in ended.stderr
    assert not at.study.exists()


def test_an_unknown_tag_is_told_and_no_study_is_made_of_it(posting: Start) -> None:
    at = posting()
    ended = at.run("--tag", "tensroflow")
    assert ended.returncode == 1
    said = " ".join(ended.stderr.split())
    assert "no question on stackoverflow.com has the tag tensroflow" in said
    assert "https://stackoverflow.com/tags" in said
    assert not at.study.exists()


def test_beside_an_unknown_tag_the_others_are_fetched(posting: Start) -> None:
    at = posting()
    ended = at.run("--tag", "tensroflow", "--tag", "keras", "--json")
    assert ended.returncode == 1
    found = json.loads(ended.stdout)
    assert (found["complete"], found["unknown_tags"]) == (False, ["tensroflow"])
    assert at.numbers() == {e.number for e in at.world.questions if "keras" in e.tags}
    assert "tensroflow" in ended.stderr
    assert at.column("SELECT outcome FROM runs") == ["partial"]


@pytest.mark.parametrize(
    ("words", "key", "said"),
    [
        (("--site", "datascience"), None, "there is no site datascience.stackexchange.com"),
        ((), "not-a-known-key", "the key in STACKEXCHANGE_KEY was refused"),
        ((), "short", "STACKEXCHANGE_KEY has fewer than 8 characters"),
    ],
)
def test_a_refusal_names_the_cause(
    posting: Start, words: tuple[str, ...], key: str | None, said: str
) -> None:
    at = posting()
    ended = at.run("--tag", "keras", *words, key=key)
    assert ended.returncode == 1
    assert said in " ".join(ended.stderr.split())


def test_a_key_does_not_travel_readable_for_everybody(posting: Start) -> None:
    at = posting()
    ended = at.run("--tag", "keras", "--api-url", "http://api.example.org/2.3", key=KEY)
    assert ended.returncode == 1
    assert "could be read on the way" in " ".join(ended.stderr.split())


def test_a_server_that_is_none_of_stack_exchange_is_told(posting: Start) -> None:
    at = posting()
    at.world.faults.add(Fault.html(404, times=None))
    ended = at.run("--tag", "keras")
    assert ended.returncode == 1
    assert "not as the API does" in " ".join(ended.stderr.split())


def test_the_key_is_nowhere_but_in_requests(
    posting: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    at = posting()

    def echo(request: Request, _world: object, go: Callable[[], Reply]) -> Reply:
        reply = go()
        said = json.loads(reply.body)
        said["debug"] = [request.target, KEY]
        for item in said["items"]:
            item["title"] = f"a server that says {KEY}"
        reply.body = json.dumps(said).encode()
        reply.headers["link"] = f"<{request.target}>"
        return reply

    at.world.faults.add(Fault(echo, times=None))
    ended = at.run("--tag", "python", "-v", key=KEY)
    assert ended.returncode == 0
    assert all(request.query["key"] == KEY for request in at.asked)
    places = [ended.stdout, ended.stderr, *(str(r.__dict__) for r in caplog.records)]
    with Study(at.study).reading() as reader:
        names = [row["n"] for row in reader.rows("SELECT table_name AS n FROM duckdb_tables()")]
        places += [str(reader.rows(f"FROM store.{name}")) for name in names]
        places += [str(exchange) for _number, exchange in replay(reader)]
    assert len(places) > 10
    assert not [place for place in places if KEY in place or "loopback%2A" in place]


def references(style: str) -> str:
    return "".join(each if each.isalnum() else style.format(ord(each)) for each in KEY)


SPELLINGS = {
    "plain": KEY,
    "an address": quote(KEY, safe=""),
    "an address that keeps a star": quote(KEY, safe="*"),
    "an address of JavaScript": quote(KEY, safe="!*'()~"),
    "an address in small letters": quote(KEY, safe="").replace("%2A", "%2a"),
    "an address in an address": quote(quote(KEY, safe=""), safe=""),
    "decimal references": references("&#{};"),
    "long decimal references": references("&#{:04};"),
    "hexadecimal references": references("&#x{:X};"),
    "references in a web page": html.escape(references("&#x{:x};")),
    "named references": KEY.replace("*", "&ast;").replace("(", "&lpar;").replace(")", "&rpar;"),
    "JSON": references("\\u{:04x}"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_key_is_masked_however_a_server_spells_it(posting: Start, name: str) -> None:
    at = posting()
    at.world.find(10).changes["body"] = f"<p>It is {SPELLINGS[name]}.</p>"
    at.fetch("--tag", "tensorflow", key=KEY)
    bodies = at.column("SELECT body FROM store.post WHERE post_id = 10")
    assert bodies == ["<p>It is ***.</p>"]
    with Study(at.study).reading() as reader:
        kept = [exchange.body for _number, exchange in replay(reader)]
    assert not [body for body in kept if b"4the" in body]


@pytest.mark.usefixtures("fake_time")
def test_a_server_without_an_end_is_not_followed_for_ever(
    posting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faultatlas.miner.posts.walk._MOST_PAGES", 5)
    world = StackExchange.small()

    def more(reply: Reply) -> None:
        said = json.loads(reply.body) | {"has_more": True}
        for item in said["items"]:
            item["creation_date"] = 1
        reply.body = json.dumps(said).encode()

    world.faults.add(Fault.changed(more, times=None, on="sort=creation"))

    def ignore_page(request: Request) -> bool:
        request.query["page"] = "1"
        request.query.pop("min", None)
        return False

    world.faults.add(Fault(lambda *_: error(500, "", ""), times=None, on=ignore_page))
    world.faults._faults.reverse()  # noqa: SLF001
    at = posting(world)
    ended = at.run("--tag", "python", key=KEY)
    assert ended.returncode == 1
    assert "without end" in ended.stderr

"""Whatever goes wrong between the tracker and a fetch, the rows are those of a quiet day."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_time import FakeTime
from loopback import Fault, Reply, Request, World, studies
from loopback.ways import WAYS, Way, asked
from mining import Mining

from faultatlas.data.study import Study

Start = Callable[..., Mining]

FAULTS: dict[str, tuple[Callable[[], Fault], int]] = {
    "429 without a header": (Fault.too_many, 1),
    "429 with Retry-After": (lambda: Fault.too_many(retry_after=7), 1),
    "403 three times": (Fault.secondary_limit, 3),
    "403 with Retry-After": (lambda: Fault.secondary_limit(retry_after=30), 3),
    "500": (lambda: Fault.status(500), 2),
    "502": (lambda: Fault.status(502), 1),
    "503 with HTML": (lambda: Fault.html(503), 1),
    "a body cut in half": (Fault.cut_body, 1),
    "a chunked body cut in half": (lambda: Fault.cut_body(chunked=True), 1),
    "a reset connection": (Fault.reset, 1),
    "half of the JSON": (Fault.bad_json, 1),
}
ABSURD = ("soon", "-1", "0", "", "1e999", "99999999999999999999", "1700000000000")


@pytest.fixture(autouse=True)
def close() -> Iterator[Callable[[], None]]:
    with Study.kept_open() as closing:
        yield closing


@pytest.fixture(scope="module")
def quiet() -> dict[str, Any]:
    """What a fetch of each way finds where nothing goes wrong."""
    return {}


@pytest.fixture
def fetch(
    mining: Start, tmp_path: Path, fake_time: FakeTime, close: Callable[[], None]
) -> Callable[..., Mining]:
    """A world of a way with faults; fetched, complete, and closed."""
    assert fake_time.slept == []

    def run(way: Way, *faults: Any, world: World | None = None) -> Mining:
        at = mining(world or way.world())
        at.study = studies.keyed(tmp_path / f"study {len(list(tmp_path.iterdir()))}")
        at.world.faults.add(*faults)
        again(at, way)
        return at

    def again(at: Mining, way: Way) -> dict[str, Any]:
        wait = ("--max-wait", "70m")
        found = at.fetch(at.world.tracker.name, *way.arguments, *wait, token=way.token)
        close()
        assert found["complete"]
        return found

    return run


@pytest.fixture
def expected(quiet: dict[str, Any], fetch: Callable[..., Mining]) -> Callable[[str], Any]:
    def of(name: str) -> Any:
        if name not in quiet:
            at = fetch(WAYS[name])
            quiet[name] = (studies.mined(at.study), studies.live(at.study), at.asked)
        return quiet[name]

    return of


def at_every_page(fault: Fault, times: int = 1) -> Fault:
    """It happens to the first requests for each page."""
    seen: Counter[tuple[str, bytes]] = Counter()

    def is_due(request: Request) -> bool:
        seen.update(asked([request]))
        return all(seen[page] <= times for page in asked([request]))

    return replace(fault, times=None, on=is_due)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", WAYS)
def test_a_fault_at_every_page(
    fetch: Callable[..., Mining],
    expected: Callable[[str], Any],
    fake_time: FakeTime,
    name: str,
    fault: str,
) -> None:
    mined, _live, requests = expected(name)
    make, times = FAULTS[fault]
    at = fetch(WAYS[name], at_every_page(make(), times))
    assert studies.mined(at.study) == mined
    assert len(at.asked) == len(requests) + times * len(set(asked(requests)))
    assert len(fake_time.slept) == len(at.asked) - len(requests)


@pytest.mark.parametrize("reset", ABSURD)
def test_a_quota_with_an_absurd_end(
    fetch: Callable[..., Mining], expected: Callable[[str], Any], fake_time: FakeTime, reset: str
) -> None:
    mined, _live, _requests = expected("repository")
    at = fetch(WAYS["repository"], at_every_page(Fault.primary_limit(reset), 2))
    assert studies.mined(at.study) == mined
    assert all(seconds <= 70 * 60 for seconds in fake_time.slept)


def test_queries_that_are_too_much_for_the_server_become_smaller(
    fetch: Callable[..., Mining], expected: Callable[[str], Any]
) -> None:
    way = WAYS["graphql"]
    world = way.world()
    world.node_limit = 3_000
    at = fetch(way, world=world)
    assert studies.live(at.study) == expected("graphql")[1]
    answered = [json.loads(r.body) for r in at.asked if r.path == "/graphql" and r.status == 200]
    assert {len(query["variables"]["ids"]) for query in answered} <= set(range(1, 26))


def test_an_issue_that_no_query_gives_is_read_by_itself(
    fetch: Callable[..., Mining], expected: Callable[[str], Any]
) -> None:
    way = WAYS["graphql"]
    world = way.world()
    node = world.tracker.payload(9)["node_id"]
    fault = Fault.status(502, times=None, on=lambda request: node.encode() in request.body)
    at = fetch(way, fault, world=world)
    assert studies.live(at.study) == expected("graphql")[1]
    assert sum(r.status == 200 for r in at.asked) < 25  # and the others together again


@pytest.mark.parametrize("answer", ["without some nodes", "without their comments", "without any"])
def test_what_a_query_leaves_out_is_asked_for_one_by_one(
    fetch: Callable[..., Mining], expected: Callable[[str], Any], answer: str
) -> None:
    def leave_out(reply: Reply) -> None:
        said = json.loads(reply.body)
        nodes = said["data"]["nodes"]
        if answer == "without any":
            said["data"]["nodes"] = None
        for place in (0, 3, len(nodes) - 1):
            if answer == "without some nodes":
                nodes[place] = None
            elif "comments" in nodes[place]:
                nodes[place]["comments"] = None
        said["errors"] = [{"type": "SERVICE_UNAVAILABLE", "path": ["nodes", 3], "message": "no"}]
        reply.body = json.dumps(said).encode()

    at = fetch(WAYS["graphql"], Fault.changed(leave_out, on="/graphql"))
    assert studies.live(at.study) == expected("graphql")[1]
    assert [r for r in at.asked if "/comments?per_page" in r.target]


@pytest.mark.parametrize("status", [400, 404, 410, 422])
def test_an_address_of_the_next_page_that_has_expired(
    fetch: Callable[..., Mining], expected: Callable[[str], Any], status: int
) -> None:
    fault = Fault.status(status, on=lambda request: "page" in request.query)
    at = fetch(WAYS["repository"], fault)
    assert studies.live(at.study) == expected("repository")[1]
    assert at.world.faults.pending == []


@pytest.mark.parametrize(("name", "code"), [("graphql", 0), ("issue", 1)])
def test_an_address_within_an_issue_that_has_expired(
    mining: Start,
    expected: Callable[[str], Any],
    close: Callable[[], None],
    tmp_path: Path,
    name: str,
    code: int,
) -> None:
    """The pages of an issue have no other address, but the next run begins with the first."""
    way, live = WAYS[name], expected(name)[1]
    at = mining(way.world())
    at.study = studies.keyed(tmp_path / "expired")

    def is_further(request: Request) -> bool:
        if request.path == "/graphql":
            return json.loads(request.body)["variables"]["after"] is not None
        return "/11/comments" in request.target and "page" in request.query

    at.world.faults.add(Fault.status(422, times=2, on=is_further))
    name = at.world.tracker.name
    assert at.run(name, *way.arguments, token=way.token).returncode == code
    assert at.fetch(name, *way.arguments, token=way.token)["complete"]
    close()
    assert studies.live(at.study) == live


@pytest.mark.parametrize("times", [0, 1])
def test_a_server_that_gives_cursors_only(
    fetch: Callable[..., Mining], expected: Callable[[str], Any], times: int
) -> None:
    way = WAYS["repository"]
    world = way.world()
    world.cursor_only = True
    at = fetch(way, Fault.status(422, times=times, on="after="), world=world)
    assert studies.live(at.study) == expected("repository")[1]
    assert [r for r in at.asked if "after" in r.query]
    assert at.world.faults.pending == []


def test_a_timestamp_that_the_server_does_not_give_to_its_end_is_an_error(
    mining: Start, fake_time: FakeTime
) -> None:
    way = WAYS["repository"]
    at = mining(way.world())
    at.world.page_ceiling = 1
    at.world.quota(None).remaining = 20  # it must not go round until that is used up
    ended = at.run(at.world.tracker.name, token=way.token)
    assert ended.returncode == 1
    assert "cursor based pagination" in ended.stderr
    assert len(at.asked) < 10
    assert fake_time.slept == []


@pytest.mark.parametrize("name", ["repository", "issue"])
def test_a_page_that_names_itself_as_the_next_is_an_error(
    mining: Start, fake_time: FakeTime, name: str
) -> None:
    way = WAYS[name]
    at = mining(way.world())

    def turn(request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
        reply = go()
        reply.headers["link"] = f'<{at.running.url}{request.target}>; rel="next"'
        return reply

    at.world.quota(None).remaining = 20  # it must not go round until that is used up
    what = "/issues?" if name == "repository" else "/11/comments"
    at.world.faults.add(Fault(turn, times=None, on=what))
    ended = at.run(at.world.tracker.name, *way.arguments, token=way.token)
    assert ended.returncode == 1
    assert "names a page as the one that follows it" in ended.stderr
    assert len(at.asked) < 10
    assert fake_time.slept == []


@pytest.mark.parametrize("name", WAYS)
def test_nothing_new_costs_a_conditional_request(
    fetch: Callable[..., Mining], close: Callable[[], None], name: str
) -> None:
    at = fetch(WAYS[name])
    before = studies.mined(at.study), studies.progress(at.study)
    for _ in range(2):
        found = at.fetch(at.world.tracker.name, *WAYS[name].arguments, token=WAYS[name].token)
        close()
        assert at.asked
        assert all(request.was_conditional and request.status == 304 for request in at.asked)
        assert set(found["rows"].values()) == {0}
        assert (studies.mined(at.study), studies.progress(at.study)) == before


@pytest.mark.parametrize("name", WAYS)
def test_a_server_that_forgets_its_etags(
    fetch: Callable[..., Mining], close: Callable[[], None], name: str
) -> None:
    def forget(request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
        request.headers = {n: v for n, v in request.headers.items() if n != "if-none-match"}
        return go()

    at = fetch(WAYS[name])
    before = studies.mined(at.study)
    at.world.faults.add(Fault(forget, times=None))
    found = at.fetch(at.world.tracker.name, *WAYS[name].arguments, token=WAYS[name].token)
    close()
    assert found["complete"]
    assert set(found["rows"].values()) == {0}
    assert studies.mined(at.study) == before


@pytest.mark.parametrize("token", [WAYS["graphql"].token, None])
def test_of_ten_changed_issues_ten_rows_are_written(
    fetch: Callable[..., Mining], close: Callable[[], None], token: str | None
) -> None:
    way = replace(WAYS["graphql"], token=token, arguments=("--no-pulls",))
    at = fetch(way)
    changed = [7, 19, 31, 33, 48, 62, 77, 81, 99, 128]
    for number in changed:
        at.world.touch(number, title=f"Changed: {number}")
    found = at.fetch(at.world.tracker.name, *way.arguments, token=token)
    close()
    assert found["complete"]
    assert found["rows"]["issues_changed"] == 10
    assert {name for name, rows in found["rows"].items() if rows} == {"issues_changed"}
    with studies.opened(at.study) as study:
        written = study.execute(
            "SELECT number::INTEGER FROM store.issue WHERE run_id = ? ORDER BY 1",
            [found["run_id"]],
        ).fetchall()
        runs = study.execute("SELECT DISTINCT run_id FROM store.comment").fetchall()
    assert [number for (number,) in written] == changed
    assert (found["run_id"],) not in runs
    lists = [r for r in at.asked if "/issues?" in r.target and r.path.startswith("/repos/")]
    assert [r.was_conditional for r in lists] == [True]

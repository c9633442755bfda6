"""GraphQL answers that lack something: a study never takes that for everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from fake_time import FakeTime
from loopback import TOKEN, Fault, Reply, Request, World
from mining import Mining

from faultatlas.data.study import Study
from faultatlas.miner.archive import Exchange
from faultatlas.miner.ratelimit import Tries, after_answer
from faultatlas.miner.sources import github_graphql as graphql

Start = Callable[..., Mining]
Change = Callable[[dict[str, Any]], None]

TOO_MUCH = "RESOURCE_LIMITS_EXCEEDED"
LIVE = "SELECT count(*) FROM store.comment WHERE gone_at IS NULL"
GONE = "SELECT count(*) FROM store.comment WHERE gone_at IS NOT NULL"
EVENTS = "SELECT count(*) FROM store.issue_event"


@pytest.fixture(autouse=True)
def close() -> Iterator[Callable[[], None]]:
    with Study.kept_open() as closing:
        yield closing


@pytest.fixture
def at(mining: Start, fake_time: FakeTime) -> Mining:
    """Twenty issues with four comments each; fetched with their events, then changed."""
    assert fake_time.slept == []
    world = World.generated(20, comments_each=4)
    for entry in world.tracker.entries.values():
        entry.is_pull, entry.comments = False, 4
    made = mining(world)
    made.fetch(made.world.tracker.name, "--timeline", token=TOKEN)
    for number in list(world.tracker.entries):
        world.touch(number, title=f"new title {number}")
    return made


def again(at: Mining, *arguments: str) -> dict[str, Any]:
    return at.fetch(at.world.tracker.name, "--timeline", *arguments, token=TOKEN)


def asks_for(part: str) -> Callable[[Request], bool]:
    return lambda request: request.path == "/graphql" and part.encode() in request.body


def changed(change: Change, part: str, times: int | None = 1) -> Fault:
    """Changes the answers to the queries for a part."""

    def act(reply: Reply) -> None:
        said = json.loads(reply.body)
        change(said)
        reply.body = json.dumps(said).encode()

    return Fault.changed(act, times=times, on=asks_for(part))


def one_by_one(at: Mining, part: str) -> list[Request]:
    return [request for request in at.asked if f"/{part}?per_page" in request.target]


def sizes(at: Mining, part: str) -> list[int]:
    """How many issues each query for a part asked for."""
    asked = [request for request in at.asked if asks_for(part)(request)]
    return [len(json.loads(request.body)["variables"]["ids"]) for request in asked]


def no_nodes(connection: dict[str, Any]) -> None:
    connection["nodes"] = None


def a_null(connection: dict[str, Any]) -> None:
    connection["nodes"][1] = None


def fewer(connection: dict[str, Any]) -> None:
    del connection["nodes"][1:]


CUTS = {"no nodes": no_nodes, "a null among them": a_null, "fewer than counted": fewer}


@pytest.mark.parametrize("cut", CUTS)
def test_comments_that_an_answer_lacks_are_not_gone(at: Mining, cut: str) -> None:
    def change(said: dict[str, Any]) -> None:
        CUTS[cut](said["data"]["nodes"][4]["comments"])

    at.world.faults.add(changed(change, "comments(first"))
    assert again(at)["complete"]
    assert (at.column(LIVE), at.column(GONE)) == ([80], [0])
    assert len(one_by_one(at, "comments")) == 1


def test_what_is_erased_from_a_whole_answer_leaves_it_whole() -> None:
    """A comment by a forgotten person is cut out; those deleted at the source are gone still."""
    comments = {"totalCount": 1, "pageInfo": {"hasNextPage": False}, "nodes": [None]}
    body = json.dumps({"data": {"nodes": [{"comments": comments}]}}).encode()
    request = {"kind": "graphql comments", "artifacts": ["github:example/tensors#1"]}
    made = Exchange("", "github", "", request, "", "", 200, {}, datetime.min, body)  # noqa: DTZ901
    assert not graphql.read(made, str).all_comments_of
    assert graphql.read(graphql.with_unread(made, []), str).all_comments_of


def test_an_error_in_an_issue_makes_its_events_doubtful(at: Mining) -> None:
    whole = at.column(EVENTS)[0] + 20  # all were renamed since

    def change(said: dict[str, Any]) -> None:
        del said["data"]["nodes"][4]["timelineItems"]["nodes"][:2]
        path = ["nodes", 4, "timelineItems", "nodes"]
        said["errors"] = [{"type": "SERVICE_UNAVAILABLE", "path": path, "message": "no"}]

    at.world.faults.add(changed(change, "timelineItems(first"))
    again(at)
    assert at.column(EVENTS) == [whole]
    assert len(one_by_one(at, "timeline")) == 1


@pytest.mark.parametrize("cut", ["no nodes", "a null among them"])
def test_events_that_an_answer_lacks_are_read_by_themselves(at: Mining, cut: str) -> None:
    whole = at.column(EVENTS)[0] + 20

    def change(said: dict[str, Any]) -> None:
        CUTS[cut](said["data"]["nodes"][4]["timelineItems"])

    at.world.faults.add(changed(change, "timelineItems(first"))
    again(at)
    assert at.column(EVENTS) == [whole]
    assert len(one_by_one(at, "timeline")) == 1


@pytest.mark.parametrize("cut", CUTS)
def test_comments_that_come_with_named_issues_stay_pending(
    at: Mining, tmp_path: Path, cut: str
) -> None:
    def change(said: dict[str, Any]) -> None:
        CUTS[cut](said["data"]["repository"]["n3"]["comments"])

    name = at.world.tracker.name
    sheet = tmp_path / "named.txt"
    sheet.write_text("".join(f"https://github.com/{name}/issues/{n}\n" for n in range(1, 6)))
    at.world.faults.add(changed(change, "issueOrPullRequest"))
    at.fetch("--from", sheet, "--verify", token=TOKEN)
    assert at.world.faults.pending == []
    assert (at.column(LIVE), at.column(GONE)) == ([80], [0])
    assert sizes(at, "$ids") == [1]  # asked for once more


def test_a_query_that_is_too_much_becomes_smaller_at_once(at: Mining, fake_time: FakeTime) -> None:
    def too_much(reply: Reply) -> None:
        error = {"type": TOO_MUCH, "message": "Resource limits for this query exceeded."}
        reply.body = json.dumps({"data": None, "errors": [error]}).encode()

    at.world.faults.add(Fault.changed(too_much, on=asks_for("comments(first")))
    again(at)
    assert sizes(at, "comments(first") == [20, 5, 5, 5, 5]
    assert fake_time.slept == []
    assert at.column(LIVE) == [80]


def test_many_nodes_that_were_too_much_are_asked_for_in_smaller_queries(at: Mining) -> None:
    def change(said: dict[str, Any]) -> None:
        nodes = said["data"]["nodes"]
        if len(nodes) > 5:
            said["errors"] = [
                {"type": TOO_MUCH, "path": ["nodes", place], "message": "Resource limits"}
                for place in range(8, 20)
            ]
            nodes[8:] = [None] * 12

    at.world.faults.add(changed(change, "comments(first", times=None))
    assert again(at)["complete"]
    assert sizes(at, "comments(first") == [20, 5, 5, 2]
    assert one_by_one(at, "comments") == []
    assert (at.column(LIVE), at.column(GONE)) == ([80], [0])


@pytest.mark.parametrize("kind", [TOO_MUCH, "MAX_NODE_LIMIT_EXCEEDED"])
@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": {"nodes": None}}])
def test_too_much_is_not_tried_again(kind: str, data: dict[str, Any], fake_time: FakeTime) -> None:
    body = json.dumps({**data, "errors": [{"type": kind, "message": "try again"}]}).encode()
    clock = fake_time.clock()
    decision = after_answer(
        200, {}, body, tries=Tries(), now=fake_time.now, chance=clock.random, graphql=True
    )
    assert (decision.action, decision.cause) == ("give up", "trouble")
    assert "times" not in decision.reason


@pytest.mark.parametrize("token", [TOKEN, None])
def test_the_events_of_a_renamed_repository_are_not_doubled(
    mining: Start, token: str | None
) -> None:
    world = World.generated(3, comments_each=1)
    world.page_limit = 40
    for _turn in range(60):  # more events than a page holds
        world.touch(2, labels=["crash"])
        world.touch(2, labels=[])
    at, name = mining(world), world.tracker.name
    at.fetch(name, "--timeline", token=token)
    before = at.column(EVENTS)[0]
    world.rename("better/arrays")
    for number in list(world.tracker.entries):
        world.touch(number, title="another")
    at.fetch(name, "--timeline", token=token)
    assert at.column(EVENTS)[0] == before + 3 > 120
    artifacts = at.column("SELECT DISTINCT artifact_id FROM store.issue_event")
    assert all("better/arrays" in each for each in artifacts)


def test_a_duplicate_is_one_whichever_way_it_comes(mining: Start, tmp_path: Path) -> None:
    world = World.generated(5, comments_each=0)
    for number in list(world.tracker.entries):
        world.tracker.entries[number].is_pull = False
        world.touch(number, state="closed", state_reason="duplicate")
    name = world.tracker.name
    sheet = tmp_path / "named.txt"
    sheet.write_text("".join(f"https://github.com/{name}/issues/{n}\n" for n in range(1, 6)))
    at = mining(world)
    at.fetch("--from", sheet, token=TOKEN)
    assert [request.path for request in at.fetching()] == ["/graphql"]
    assert at.column("SELECT DISTINCT state_reason FROM store.issue") == ["duplicate"]


def test_a_type_that_graphql_does_not_tell_stays(mining: Start, tmp_path: Path) -> None:
    world = World.generated(5, comments_each=0)
    for number in list(world.tracker.entries):
        world.tracker.entries[number].is_pull = False
        world.touch(number, type={"name": "Bug"})
    name = world.tracker.name
    at = mining(world)
    at.fetch(name, token=TOKEN)
    for number in list(world.tracker.entries):
        world.touch(number, title="another")
    sheet = tmp_path / "named.txt"
    sheet.write_text("".join(f"https://github.com/{name}/issues/{n}\n" for n in range(1, 6)))
    at.fetch("--from", sheet, "--verify", token=TOKEN)
    found = at.rows("SELECT DISTINCT title, tracker_type FROM store.issue")
    assert found == [("another", "Bug")]


def test_a_server_that_does_not_know_the_query_is_asked_issue_by_issue(at: Mining) -> None:
    def refuse(reply: Reply) -> None:
        error = {"message": "Field 'fullDatabaseId' doesn't exist on type 'IssueComment'"}
        reply.body = json.dumps({"errors": [error]}).encode()

    at.world.touch(3, comment="one more")
    at.world.faults.add(Fault.changed(refuse, times=None, on="/graphql"))
    assert again(at)["complete"]
    assert at.column(LIVE) == [81]
    assert len(one_by_one(at, "comments")) == len(one_by_one(at, "timeline")) == 20
    assert len(sizes(at, "$ids")) == 2  # once for comments, once for events


def test_what_closed_an_issue_and_what_it_repeats_become_links(at: Mining) -> None:
    def change(said: dict[str, Any]) -> None:
        node = said["data"]["nodes"][4]
        page = f"https://github.com/{at.world.tracker.name}"
        when = {"createdAt": "2024-05-01T00:00:00Z", "actor": None}
        pull, issue = {"url": f"{page}/pull/77"}, {"url": f"{page}/issues/78"}
        node["timelineItems"]["nodes"] += [
            {"__typename": "ClosedEvent", "stateReason": "COMPLETED", "closer": pull, **when},
            {"__typename": "MarkedAsDuplicateEvent", "canonical": issue, **when},
        ]
        changes.append(
            f"github:{'/'.join(node['url'].split('/')[3:5])}#{node['url'].split('/')[-1]}"
        )

    changes: list[str] = []
    at.world.faults.add(changed(change, "timelineItems(first"))
    again(at)
    assert at.command("miner", "link", "--study", at.study).returncode == 0

    (closed,) = changes
    name = at.world.tracker.name
    said = at.rows("SELECT from_id, to_id, kind, found_in FROM links WHERE found_in = 'timeline'")
    assert (f"github:{name}#77", closed, "fixes", "timeline") in said
    assert (closed, f"github:{name}#78", "duplicate", "timeline") in said

"""The other interfaces of the loopback server: search, GraphQL, Gitee, recordings, a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from loopback import TOKEN, Recording, Running, World, serving

NAME = "example/tensors"
COMMENTS = """
query ($ids: [ID!]!, $first: Int, $after: String) {
  rateLimit { cost remaining }
  nodes(ids: $ids) {
    ... on Issue { number state stateReason comments(first: $first, after: $after) { ...Page } }
    ... on PullRequest { number comments(first: $first, after: $after) { ...Page } }
  }
}
fragment Page on IssueCommentConnection {
  totalCount
  pageInfo { hasNextPage endCursor }
  nodes { databaseId fullDatabaseId body author { __typename login } }
}
"""


@pytest.fixture
def world() -> World:
    return World.small()


@pytest.fixture
def server(world: World) -> Iterator[Running]:
    with serving(world) as running:
        yield running


@pytest.fixture
def client() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.headers["Authorization"] = f"token {TOKEN}"
        yield session


def asked(client: requests.Session, server: Running, **body: Any) -> requests.Response:
    return client.post(f"{server.url}/graphql", json=body, timeout=10)


# Search


def test_a_search_for_issues_counts_what_its_qualifiers_say(
    client: requests.Session, server: Running, world: World
) -> None:
    entries = world.tracker.entries.values()

    def count(query: str) -> int:
        url = f"{server.url}/search/issues"
        found = client.get(url, params={"q": f"repo:{NAME} {query}"}, timeout=10)
        return int(found.json()["total_count"])

    assert count("is:issue") == sum(not e.is_pull for e in entries)
    assert count('label:"good first issue" is:issue') == sum(
        "Good First Issue" in e.labels and not e.is_pull for e in entries
    )
    assert count("comments:>0 state:open") == sum(e.comments > 0 and not e.closed for e in entries)
    assert count("comments:>3") == 1
    world.incomplete_searches = 1
    url = f"{server.url}/search/issues?q=repo:{NAME}"
    answers = [client.get(url, timeout=10).json() for _ in range(2)]
    assert [a["incomplete_results"] for a in answers] == [True, False]
    assert answers[0]["total_count"] < answers[1]["total_count"]


def test_a_search_for_repositories_ends_at_a_thousand_until_it_is_cut_up(
    client: requests.Session, server: Running, world: World
) -> None:
    world.add_repositories(4000)
    world.quota(TOKEN, "search").remaining = 1000

    def found(created: str, page: int = 1) -> requests.Response:
        query = f"created:{created} stars:>=0 fork:true"
        asked = {"q": query, "per_page": "100", "page": str(page)}
        return client.get(f"{server.url}/search/repositories", params=asked, timeout=10)

    day = found("2020-07-19..2020-07-19")
    assert day.json()["total_count"] > 1000
    assert len(found("2020-07-19", 10).json()["items"]) == 100
    refused = found("2020-07-19", 11)
    assert refused.status_code == 422
    assert refused.json()["message"] == "Only the first 1000 search results are available"
    halves = [
        found(f"2020-07-19T{first}Z..2020-07-19T{last}Z").json()["total_count"]
        for first, last in (("00:00:00", "11:59:59"), ("12:00:00", "23:59:59"))
    ]
    assert sum(halves) == day.json()["total_count"]
    assert max(halves) < 1000


# GraphQL


def test_graphql_gives_the_comments_that_rest_gives(
    client: requests.Session, server: Running, world: World
) -> None:
    numbers = [5, 10, 3]
    ids = [world.tracker.payload(number)["node_id"] for number in numbers]
    answer = asked(client, server, query=COMMENTS, variables={"ids": ids, "first": 10})
    assert answer.headers["x-ratelimit-resource"] == "graphql"
    said = answer.json()
    assert "errors" not in said
    assert said["data"]["rateLimit"] == {"cost": 1, "remaining": 4999}
    fifth = said["data"]["nodes"][0]["comments"]
    after = fifth["pageInfo"]["endCursor"]
    variables = {"ids": ids[:1], "first": 10, "after": after}
    more = asked(client, server, query=COMMENTS, variables=variables).json()
    last = more["data"]["nodes"][0]["comments"]
    assert (fifth["totalCount"], fifth["pageInfo"]["hasNextPage"]) == (12, True)
    assert last["pageInfo"]["hasNextPage"] is False
    rest = client.get(
        f"{server.url}/repos/{NAME}/issues/5/comments?per_page=100", timeout=10
    ).json()
    nodes = fifth["nodes"] + last["nodes"]
    assert [int(node["fullDatabaseId"]) for node in nodes] == [c["id"] for c in rest]
    assert [node["body"] for node in nodes] == [c["body"] for c in rest]
    authors = [node["author"] for node in nodes]
    assert None in authors  # a deleted account
    assert {"__typename": "Bot", "login": "github-actions"} in authors


def test_graphql_leaves_null_and_says_why(
    client: requests.Session, server: Running, world: World
) -> None:
    ids = [world.tracker.payload(number)["node_id"] for number in (1, 2)]
    world.delete(2)
    said = asked(client, server, query=COMMENTS, variables={"ids": ids, "first": 1}).json()
    assert [node is None for node in said["data"]["nodes"]] == [False, True]
    assert [(e["type"], e["path"]) for e in said["errors"]] == [("NOT_FOUND", ["nodes", 1])]
    variables: dict[str, Any] = {"ids": ids[:1]}
    unbounded = asked(client, server, query=COMMENTS, variables=variables).json()
    assert unbounded["errors"][0]["type"] == "MISSING_PAGINATION_BOUNDARIES"
    greedy = asked(client, server, query=COMMENTS, variables={**variables, "first": 101}).json()
    assert greedy["errors"][0]["type"] == "EXCESSIVE_PAGINATION"
    many = asked(client, server, query=COMMENTS, variables={"ids": ids * 51, "first": 1}).json()
    assert many["errors"][0]["type"] == "ARGUMENT_LIMIT"
    wrong = asked(client, server, query="{ nodes(ids: []) { title } }").json()
    assert "Cannot query field 'title'" in wrong["errors"][0]["message"]


def test_graphql_needs_a_token_and_times_out_when_too_much_is_asked(
    client: requests.Session, server: Running, world: World
) -> None:
    ids = [world.tracker.payload(number)["node_id"] for number in (1, 2, 3)]
    body = {"query": COMMENTS, "variables": {"ids": ids, "first": 100}}
    world.node_limit = 1000  # three issues and twice three hundred comments are fewer
    assert asked(client, server, **body).status_code == 200
    world.node_limit = 300
    assert asked(client, server, **body).status_code == 502
    del client.headers["Authorization"]
    assert asked(client, server, **body).status_code == 401


def test_graphql_finds_a_renamed_repository_and_its_events(
    client: requests.Session, server: Running, world: World
) -> None:
    world.rename("example/arrays")
    world.touch(4, state="closed", labels=["bug"])
    query = """{ repository(owner: "example", name: "tensors") {
      nameWithOwner
      n4: issueOrPullRequest(number: 4) { ... on Issue { timelineItems(first: 100) { nodes {
        __typename
        ... on LabeledEvent { label { name } }
        ... on ClosedEvent { stateReason actor { login } }
        ... on CrossReferencedEvent { source { ... on Issue { url } } }
      } } } }
      n99: issueOrPullRequest(number: 99) { __typename }
    } }"""
    said = asked(client, server, query=query).json()
    found = said["data"]["repository"]
    assert found["nameWithOwner"] == "example/arrays"
    assert found["n99"] is None
    assert said["errors"][0]["path"] == ["repository", "n99"]
    kinds = {node["__typename"] for node in found["n4"]["timelineItems"]["nodes"]}
    assert kinds >= {"ClosedEvent", "CrossReferencedEvent", "IssueComment"}


# Gitee


def test_gitee_counts_pages_in_headers_and_takes_the_token_from_the_query(
    server: Running, world: World
) -> None:
    issues = [e for e in world.tracker.entries.values() if not e.is_pull]
    with requests.Session() as client:

        def get(path: str, **query: str) -> requests.Response:
            url = f"{server.gitee_url}/repos/{NAME}{path}"
            return client.get(url, params=query, timeout=10)

        order = {"state": "all", "sort": "updated", "direction": "asc"}
        first = get("/issues", **order, access_token=TOKEN)
        assert (first.headers["total_count"], first.headers["total_page"]) == (
            str(len(issues)),
            "2",
        )
        assert "link" not in first.headers
        assert first.headers["x-ratelimit-limit"] == "5000"
        rows = first.json() + get("/issues", **order, page="2").json()
        assert {row["id"] for row in rows} == {e.id for e in issues}
        assert {row["state"] for row in rows} == {"open", "progressing", "closed", "rejected"}
        one = rows[3]
        assert get(f"/issues/{one['number']}").json() == one
        comments = get(f"/issues/{one['number']}/comments").json()
        assert len(comments) == one["comments"] > 0
        later = get("/issues", state="all", since=rows[-1]["updated_at"])
        assert rows[-1]["number"] in {row["number"] for row in later.json()}
        whole = get("/issues/comments", per_page="100")
        assert whole.headers["total_count"] == str(sum(e.comments for e in issues))
        assert get("/issues", access_token="wrong").json() == {  # noqa: S106
            "message": "401 Unauthorized: Access token does not exist"
        }
        assert get("/issues/I00000").status_code == 404
        missing = client.get(f"{server.gitee_url}/repos/no/where", timeout=10)
        assert (missing.status_code, missing.json()) == (404, {"message": "Not Found Project"})


# Recordings


def test_a_recording_is_answered_as_it_was_recorded(study_fixtures: Path) -> None:
    path = study_fixtures / "github" / "octokit_paginate-issues.json"
    recording = Recording(path, strict_accept=True)
    accept = {"Accept": "application/vnd.github.v3+json"}
    seen: list[int] = []
    with serving(recording) as server, requests.Session() as client:
        url = f"{server.url}/repos/octokit-fixture-org/paginate-issues/issues?per_page=3"
        assert client.get(url, timeout=10).status_code == 501  # another Accept
        client.headers.update(accept)
        while url:
            answer = client.get(url, timeout=10)
            assert answer.headers["x-ratelimit-reset"] == "1507651200000"
            seen += [issue["number"] for issue in answer.json()]
            url = answer.links.get("next", {}).get("url", "")
        swapped = f"{server.url}/repositories/1000/issues?page=2&per_page=3"
        assert client.get(swapped, timeout=10).status_code == 200
        assert client.get(f"{server.url}/repositories/1000", timeout=10).status_code == 501
    assert seen == list(range(13, 0, -1))


# A process of its own, and the death of others


def test_the_server_runs_as_a_process_until_its_input_ends() -> None:
    folder = Path(__file__).parents[1]
    words = [sys.executable, "-m", "loopback", "--payloads", "generated:1000"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=folder, **pipes) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        answer = requests.get(
            f"{url}/repos/example/large/issues?state=all&per_page=100", timeout=10
        )
        assert len(answer.json()) == 100
        assert answer.links["last"]["url"].endswith("page=10")
        process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize("moment", ["before_response", "mid_body", "after_response"])
def test_a_client_can_be_killed_at_a_chosen_moment(moment: str) -> None:
    world = World.small()
    code = "import sys, requests\nwhile True: requests.get(sys.argv[1], timeout=10)"
    with serving(world) as server:
        words = [sys.executable, "-c", code, f"{server.url}/repos/{NAME}/issues"]
        with subprocess.Popen(words, start_new_session=True) as process:

            def kill(number: int, _request: object) -> None:
                if number == 2:
                    os.killpg(process.pid, signal.SIGKILL)

            setattr(world, moment, kill)
            assert process.wait(timeout=30) == -signal.SIGKILL
        assert len(world.requests) >= 2

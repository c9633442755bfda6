"""What the loopback server sends has GitHub's and Gitee's form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from loopback import TOKEN, World, github_graphql, published, serving
from loopback.payloads import instant
from loopback.schemas import Schemas
from needed import need


@pytest.fixture(scope="module")
def schemas(study_fixtures: Path) -> Schemas:
    return Schemas(study_fixtures)


@pytest.fixture(scope="module")
def datasets(study_fixtures: Path) -> World:
    return World.of_datasets(study_fixtures)


@pytest.fixture
def client() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.headers["Authorization"] = f"token {TOKEN}"
        yield session


def listed(client: requests.Session, url: str) -> list[Any]:
    """All rows of a list, page by page."""
    rows: list[Any] = []
    while url:
        answer = client.get(url, timeout=10)
        assert answer.status_code == 200, answer.text
        rows += answer.json()
        url = answer.links.get("next", {}).get("url", "")
    return rows


def test_all_real_issues_are_sent_as_github_describes_them(
    datasets: World, schemas: Schemas, client: requests.Session
) -> None:
    with serving(datasets) as server:
        issues = listed(
            client, f"{server.url}/repos/huggingface/datasets/issues?state=all&per_page=100"
        )
    assert len({issue["id"] for issue in issues}) == 3655
    assert [problem for issue in issues for problem in schemas.problems("issue", issue)] == []
    assert all(("pull_request" in issue) == ("/pull/" in issue["html_url"]) for issue in issues)


def test_every_issue_has_as_many_comments_as_it_says(
    datasets: World, schemas: Schemas, client: requests.Session
) -> None:
    with serving(datasets) as server:
        url = f"{server.url}/repos/huggingface/datasets/issues/comments?per_page=100"
        comments = listed(client, url)
    found = [p for comment in comments for p in schemas.problems("issue-comment", comment)]
    assert found == []
    assert len({comment["id"] for comment in comments}) == len(comments)
    counts = dict.fromkeys(datasets.tracker.entries, 0)
    for comment in comments:
        number = int(comment["issue_url"].rpartition("/")[2])
        entry = datasets.tracker.entries[number]
        counts[number] += 1
        times = [instant(comment[name]) for name in ("created_at", "updated_at")]
        assert [entry.created, *times, entry.updated] == sorted(
            [entry.created, *times, entry.updated]
        )
    assert counts == {n: entry.comments for n, entry in datasets.tracker.entries.items()}
    writers = {comment["user"]["login"] for comment in comments}
    assert {"ghost", "github-actions[bot]"} < writers
    assert any(comment["id"] > 2**31 for comment in comments)


@pytest.mark.parametrize("world", [World.small(), World.generated(300)], ids=["small", "generated"])
def test_made_up_payloads_are_as_github_describes_them(
    world: World, schemas: Schemas, client: requests.Session
) -> None:
    name = world.tracker.name
    world.add_repositories(200)
    with serving(world) as server:
        issues = listed(client, f"{server.url}/repos/{name}/issues?state=all&per_page=100")
        comments = listed(client, f"{server.url}/repos/{name}/issues/comments?per_page=100")
        repository = client.get(f"{server.url}/repos/{name}", timeout=10).json()
        asked = {"q": f"repo:{name} is:issue"}
        hits = client.get(f"{server.url}/search/issues", params=asked, timeout=10).json()
        asked = {"q": "language:python fork:true", "per_page": "100"}
        wide = client.get(f"{server.url}/search/repositories", params=asked, timeout=10).json()
        limits = client.get(f"{server.url}/rate_limit", timeout=10).json()
    sent = (
        [("issue", issue) for issue in issues]
        + [("issue-comment", comment) for comment in comments]
        + [("repository", repository)]
        + [("issue-search-result-item", hit) for hit in hits["items"]]
        + [("repository", hit) for hit in wide["items"]]
        + [("rate-limit", limits["rate"])]
    )
    assert len(issues) == len(world.tracker.entries)
    assert hits["items"]
    assert wide["items"]
    assert [problem for kind, one in sent for problem in schemas.problems(kind, one)] == []


def test_timelines_are_made_of_parts_that_github_describes(
    schemas: Schemas, client: requests.Session
) -> None:
    world = World.small()
    world.touch(3, labels=["bug"], state="closed", comment="done")
    kinds = set()
    with serving(world) as server:
        for number in world.tracker.entries:
            url = f"{server.url}/repos/{world.tracker.name}/issues/{number}/timeline?per_page=100"
            events = listed(client, url)
            kinds |= {event["event"] for event in events}
            for event in events:
                assert _problems(schemas, event) == []
    assert kinds >= {"labeled", "closed", "commented", "cross-referenced", "renamed", "committed"}


def _problems(schemas: Schemas, event: dict[str, Any]) -> list[str]:
    match event["event"]:
        case "commented":
            return schemas.problems("issue-comment", event)
        case "committed":
            return schemas.problems("verification", event["verification"])
        case "cross-referenced":
            return schemas.problems("issue", event["source"]["issue"])
        case _:
            return schemas.problems("simple-user", event["actor"])


def test_a_payload_that_github_would_not_send_is_noticed(schemas: Schemas) -> None:
    payload = World.small().tracker.payload(1)
    del payload["title"]
    payload["user"]["id"] = "1"
    assert len(schemas.problems("issue", payload)) == 2


def test_gitee_payloads_have_the_fields_of_recorded_ones(
    study_fixtures: Path, client: requests.Session
) -> None:
    world = World.small()
    url = f"/repos/{world.tracker.name}"
    with serving(world) as server:
        ours = {
            part: client.get(server.gitee_url + url + part, timeout=10).json()
            for part in ("", "/issues?state=all", "/issues/comments")
        }
    recorded = {
        part: json.loads((study_fixtures / "gitee" / name).read_text(encoding="utf-8"))
        for part, name in (
            ("", "gitee_repo.json"),
            ("/issues?state=all", "gitee_issues1.json"),
            ("/issues/comments", "gitee_issue1_comments.json"),
        )
    }
    assert ours[""].keys() == recorded[""].keys()
    for part in ("/issues?state=all", "/issues/comments"):
        assert ours[part][0].keys() == recorded[part][0].keys()
        assert ours[part][0]["user"].keys() == recorded[part][0]["user"].keys()
        assert ours[part][0]["updated_at"].endswith("+08:00")


def test_our_graphql_schema_is_a_part_of_the_published_one() -> None:
    file = published.path()
    need(file, "GitHub's published schema is not in the cache folder: .ci/run gets it")
    assert file
    ours, whole = github_graphql.executable(), published.schema(file)
    assert published.differences(ours, whole) == []
    # The comparison sees what it is there for.
    ours.type_map["Issue"].fields["author"].type = ours.type_map["User"]  # type: ignore[attr-defined]
    try:
        assert published.differences(ours, whole) == ["Issue.author: User is Actor"]
    finally:
        github_graphql.executable.cache_clear()

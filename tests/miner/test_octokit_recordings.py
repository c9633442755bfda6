"""Real traffic that octokit recorded, replayed through our client and into a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from loopback import Recording, serving

from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner import projects
from faultatlas.miner.client import Client
from faultatlas.miner.ingest import Ingest
from faultatlas.miner.selection import Selection
from faultatlas.miner.sources.github import issue_row

RECORDED_ACCEPT = "application/vnd.github.v3+json"
RECORDED_TOKEN = "0000000000000000000000000000000000000001"  # noqa: S105  (of the recording)
ISSUES = "/repos/octokit-fixture-org/paginate-issues/issues?per_page=3"

Replayed = tuple[Client, Recording]


@pytest.fixture
def replayed(study_fixtures: Path, alone: None) -> Iterator[Callable[[str], Replayed]]:  # noqa: ARG001
    """A client of a server that answers as recorded, and only what was recorded."""
    with ExitStack() as opened:

        def start(name: str) -> Replayed:
            path = study_fixtures / "github" / f"octokit_{name}.json"
            recording = Recording(path, strict_accept=True)
            url = opened.enter_context(serving(recording)).url
            client = Client(url, RECORDED_TOKEN, accept=RECORDED_ACCEPT, max_wait_s=0)
            opened.callback(client.close)
            return client, recording

        yield start


def test_five_pages_are_followed_to_their_end(replayed: Callable[[str], Replayed]) -> None:
    client, recording = replayed("paginate-issues")
    numbers, url = [], ISSUES
    while url:
        response = client.get(url)
        numbers.append([issue["number"] for issue in response.json()])
        assert response.last_page in (5, None)
        url = response.next_url or ""
    assert numbers == [[13, 12, 11], [10, 9, 8], [7, 6, 5], [4, 3, 2], [1]]
    assert client.sent == 5
    recorded = [(one["method"].upper(), one["path"]) for one in recording.exchanges]
    assert [(request.method, request.target) for request in recording.requests] == recorded
    assert {request.token for request in recording.requests} == {RECORDED_TOKEN}
    assert client.quota is not None
    assert client.quota.left == 4999


def test_five_pages_become_the_rows_of_a_study(
    replayed: Callable[[str], Replayed], tmp_path: Path
) -> None:
    client, recording = replayed("paginate-issues")
    project = projects.find("octokit-fixture-org/paginate-issues", client.api_url)
    study = Study(tmp_path / "study")
    ingest = Ingest(study, client, project, provenance.begin("test", {}))
    selection = Selection()
    # The recording knows no `since`; its issues share one time of update, so links are followed.
    ingest.walk(
        "issues",
        {"kind": "issues", "selection": selection.as_json()},
        lambda _since: ISSUES,
        selection=selection,
    )
    said = [issue for one in recording.exchanges for issue in one["response"]]
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT number, title, state, url, comment_count, node_id FROM issues "
            "JOIN artifacts USING (artifact_id, title) ORDER BY number::INT DESC"
        )
        assert reader.value("SELECT count(*) FROM issues") == len(said) == 13
    names = ("title", "state", "html_url", "comments", "node_id")
    assert [tuple(row.values()) for row in rows] == [
        (str(issue["number"]), *(issue[name] for name in names)) for issue in said
    ]


def test_a_recorded_search_is_read(replayed: Callable[[str], Replayed]) -> None:
    client, recording = replayed("search-issues")
    question = {"q": "sesame repo:octokit-fixture-org/search-issues"}
    said = client.get("/search/issues", question).json()
    (one,) = recording.exchanges
    assert said == one["response"]
    assert said["total_count"] == len(said["items"]) == 2
    rows = [issue_row(item, lambda login: login) for item in said["items"]]
    assert [row and row.artifact_id for row in rows] == [
        f"github:octokit-fixture-org/search-issues#{item['number']}" for item in said["items"]
    ]
    assert client.quota is None  # a search has a quota of its own


def test_a_recorded_repository_is_read(replayed: Callable[[str], Replayed]) -> None:
    client, _recording = replayed("get-repository")
    said = client.get("/repos/octokit-fixture-org/hello-world")
    assert said.json()["full_name"] == "octokit-fixture-org/hello-world"
    assert said.etag == '"00000000000000000000000000000000"'

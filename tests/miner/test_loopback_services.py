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

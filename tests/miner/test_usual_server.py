"""GITHUB_API_URL: the server that commands ask where no --api-url is given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from loopback import TOKEN, World
from loopback.repositories import catalogue
from mining import Mining

from faultatlas.data.errors import StudyError
from faultatlas.miner.issues.command import places
from faultatlas.miner.issues.named import read_file

Start = Callable[..., Mining]


@pytest.fixture
def at(mining: Start, monkeypatch: pytest.MonkeyPatch) -> Mining:
    """A server that the environment names."""
    found = mining(World.small())
    monkeypatch.setenv("GITHUB_API_URL", found.running.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    return found


def run(at: Mining, *words: object) -> CompletedProcess[str]:
    return at.command("miner", *words, "--max-wait", "0", "--study", at.study, "--json")


def test_a_fetch_asks_it_and_its_run_says_so(at: Mining) -> None:
    ended = run(at, "fetch", "example/tensors")
    assert ended.returncode == 0, ended.stderr
    assert at.numbers() == set(at.world.tracker.entries)
    # On this machine it stands for github.com, so that ids are those of the public one.
    assert at.column("SELECT DISTINCT project FROM issues") == ["example/tensors"]
    (arguments,) = at.column("SELECT arguments FROM runs WHERE command = 'miner fetch'")
    assert json.loads(arguments)["api_url"] == at.running.url


def test_a_file_of_addresses_is_fetched_from_it(at: Mining, tmp_path: Path) -> None:
    named = tmp_path / "named.csv"
    named.write_text("url\nhttps://github.com/example/tensors/issues/3\n", encoding="utf-8")
    ended = run(at, "fetch", "--from", named)
    assert ended.returncode == 0, ended.stderr
    assert at.numbers() == {3}


def test_a_plan_and_a_search_ask_it(at: Mining) -> None:
    at.world.catalogue = list(catalogue(7, seed=1))
    planned = json.loads(run(at, "fetch", "example/tensors", "--dry-run").stdout)["data"]
    assert planned["issues"] == len(at.world.tracker.entries)
    searched = run(at, "repos", "stars:>=0", "--forks", "also")
    assert searched.returncode == 0, searched.stderr
    (arguments,) = at.column("SELECT arguments FROM runs WHERE command = 'miner repos'")
    assert json.loads(arguments)["api_url"] == at.running.url
    assert any(request.path == "/search/repositories" for request in at.world.requests)


def test_a_file_may_name_the_private_host_of_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named = tmp_path / "named.csv"
    named.write_text("url\nhttps://git.example.org/team/app/issues/3\n", encoding="utf-8")
    hosts = {"git.example.org": "github"}
    monkeypatch.setenv("GITHUB_API_URL", "https://git.example.org/api/v3")
    ((key, project),) = places(read_file(named, hosts), named, api_url=None)
    assert (key, project.api_url) == (
        "github:git.example.org/team/app",
        "https://git.example.org/api/v3",
    )
    # A server that nobody named gets no request, and no token.
    monkeypatch.delenv("GITHUB_API_URL")
    with pytest.raises(StudyError, match=r"names issues on git\.example\.org"):
        places(read_file(named, hosts), named, api_url=None)

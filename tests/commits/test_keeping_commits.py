"""Commits that are rebuilt, forgotten and merged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from growth import grows_like_its_text

from faultatlas.data.study import Study
from faultatlas.miner.commits.forgetting import message_without

Command = Callable[..., CompletedProcess[str]]
_TABLES = (
    "commits",
    "commit_files",
    "commit_hunks",
    "commit_functions",
    "keyword_hits",
    "git_walks",
)
_ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_NAME": "Cleo",
    "GIT_COMMITTER_EMAIL": "cleo@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0100",
    "GIT_COMMITTER_DATE": "1700000000 +0100",
}


def _git(folder: Path, *words: str, author: str = "Ada <ada@example.org>") -> None:
    name, _, address = author.removesuffix(">").partition(" <")
    who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address}
    subprocess.run(["git", *words], cwd=folder, env=_ENVIRONMENT | who, check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three commits: by Ada, by Ada with Bob, and by somebody with an address of GitHub."""
    folder = tmp_path / "layers"
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "layers.py").write_text("def call(x):\n    return x\n")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", "Add a layer")
    (folder / "layers.py").write_text("def call(x):\n    return x + 1\n")
    message = "Fix the loss\n\nThanks to bob@example.org\nCo-authored-by: Bob <bob@example.org>"
    _git(folder, "commit", "--quiet", "-am", message)
    (folder / "layers.py").write_text("def call(x):\n    return x + 2\n")
    octo = "Octo <7+octo@users.noreply.github.com>"
    _git(folder, "commit", "--quiet", "-am", "Fix the layer", author=octo)
    return folder


@pytest.fixture
def study(command: Command, repository: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    assert command("miner", "commits", repository, "--study", folder).returncode == 0
    return folder


def _contents(study: Path) -> dict[str, list[dict[str, Any]]]:
    with Study(study).reading() as reader:
        return {name: reader.rows(f"SELECT * FROM {name} ORDER BY ALL") for name in _TABLES}


def _rows(study: Path, sql: str) -> list[dict[str, Any]]:
    with Study(study).reading() as reader:
        return reader.rows(sql)


def test_a_rebuild_reads_the_repository_again(command: Command, study: Path) -> None:
    before = _contents(study)
    with Study(study).writing() as writer:
        writer.execute("UPDATE store.commit SET message = 'damaged'")
        writer.execute("DELETE FROM store.commit_hunk")

    done = command("miner", "rebuild", "--study", study, "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"]["commit"] == 3
    assert _contents(study) == before


def test_a_repository_that_is_missing_is_named_and_its_rows_stay(
    command: Command, study: Path, repository: Path
) -> None:
    before = _contents(study)
    shutil.rmtree(repository)

    done = command("miner", "rebuild", "--study", study)

    assert done.returncode == 1
    assert "local/layers: its commits are kept as they are" in " ".join(done.stderr.split())
    assert _contents(study) == before


@pytest.mark.parametrize("name", ["octo", "github:octo", "7+octo@users.noreply.github.com"])
def test_an_author_is_forgotten_with_what_they_wrote(
    command: Command, study: Path, repository: Path, name: str
) -> None:
    done = command("miner", "forget", name, "--study", study)

    assert done.returncode == 0, done.stderr
    for again in (False, True):  # reading it once more does not bring it back
        if again:
            command("miner", "commits", repository, "--all", "--study", study)
            command("miner", "rebuild", "--study", study)
        messages = {row["message"] for row in _rows(study, "SELECT message FROM commits")}
        assert len(messages) == 2
        assert "Fix the layer\n" not in messages
        assert len(_rows(study, "SELECT * FROM commit_files")) == (2 if again else 1)


def test_a_person_who_is_only_named_is_taken_out_of_messages(command: Command, study: Path) -> None:
    done = command("miner", "forget", "bob@example.org", "--study", study)

    assert done.returncode == 0, done.stderr
    for again in (False, True):
        if again:
            command("miner", "rebuild", "--study", study)
        messages = [row["message"] for row in _rows(study, "SELECT message FROM commits")]
        assert len(messages) == 3
        assert "bob" not in "".join(messages).lower()
        assert any("Co-authored-by: forgotten" in message for message in messages)
    assert b"bob@example.org" not in (study / "study.duckdb").read_bytes()


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("Co-authored-by:Bob Smith <bob@x.org>", "Co-authored-by:forgotten"),
        ("Co-authored-by: Smith, Bob <bob@x.org>", "Co-authored-by: forgotten"),
        ("From Bob Smith <bob@x.org>", "From forgotten"),
        ("Fix a crash that Bob van der Smith <bob@x.org> saw", "Fix a crash that forgotten saw"),
        ("fix a crash, thanks to bob smith <bob@x.org>!", "fix a crash, thanks to forgotten!"),
        ("Cc: Ada <ada@x.org>, Bob < bob@x.org >", "Cc: Ada <ada@x.org>, forgotten"),
        ("x\n<bob@x.org> and bob@x.org", "x\nforgotten and forgotten"),
        ("Ada Smith <ada@x.org>", "Ada Smith <ada@x.org>"),
        ("\u674e\u96f7 <bob@x.org>", "forgotten"),
    ],
)
def test_with_an_address_goes_the_name_before_it(message: str, left: str) -> None:
    assert message_without(
        message, {"git bob@x.org"}, lambda host: lambda who: f"{host} {who}"
    ) == (left)


@pytest.mark.parametrize("piece", ["a@b ", "Bob <bob@x.org> ", "<", "Cc: ", "a" * 50 + " ", "."])
def test_names_in_a_long_message_are_found_quickly(piece: str) -> None:
    def read(text: str) -> None:
        message_without(text + "@", {"x"}, lambda _host: lambda _who: "x")

    grows_like_its_text(read, "", piece, 100_000)


def test_a_committer_is_nobody_afterwards(command: Command, study: Path) -> None:
    command("miner", "forget", "cleo@example.org", "--study", study)

    rows = _rows(study, "SELECT committer FROM commits")
    assert [row["committer"] for row in rows] == ["person_unknown"] * 3


def test_a_commit_is_forgotten(command: Command, study: Path) -> None:
    (row,) = _rows(study, "SELECT artifact_id FROM commits WHERE message LIKE 'Fix the layer%'")

    done = command("miner", "forget", row["artifact_id"], "--study", study)

    assert done.returncode == 0, done.stderr
    for view in ("commits", "commit_files", "commit_hunks", "commit_functions", "keyword_hits"):
        rows = _rows(study, f"SELECT artifact_id FROM {view}")
        assert row["artifact_id"] not in {each["artifact_id"] for each in rows}
    (tombstone,) = _rows(study, "SELECT * FROM artifacts WHERE gone_reason = 'forgotten'")
    assert tombstone["artifact_id"] == row["artifact_id"]


def test_studies_of_one_key_are_merged_with_their_commits(
    command: Command, study: Path, repository: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(study / "study.key", other / "study.key")
    command("miner", "commits", repository, "--all", "--study", other)
    (repository / "more.py").write_text("x = 1\n")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "-m", "Fix more")
    command("miner", "commits", repository, "--study", study)

    done = command("miner", "merge", other, "--study", study, "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left_out"] == {}
    assert len(_rows(study, "SELECT * FROM commits")) == 4
    assert len(_rows(study, "SELECT * FROM commit_files")) == 4
    once = _contents(study)
    command("miner", "merge", other, "--study", study)
    assert _contents(study) == once
    command("miner", "rebuild", "--study", study)
    assert len(_rows(study, "SELECT * FROM commit_files")) == 4


def test_what_was_forgotten_here_is_not_taken_from_another_study(
    command: Command, study: Path, repository: Path, tmp_path: Path
) -> None:
    octo = "Octo <7+octo@users.noreply.github.com>"
    for word, who in (("later", octo), ("more", "Ada <ada@example.org>")):
        (repository / f"{word}.py").write_text("x = 1\n")
        _git(repository, "add", ".")
        message = f"Fix {word}\n\nCo-authored-by: Bob <bob@example.org>"
        _git(repository, "commit", "--quiet", "-m", message, author=who)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(study / "study.key", other / "study.key")
    command("miner", "commits", repository, "--study", other)
    ours = {row["artifact_id"] for row in _rows(study, "SELECT artifact_id FROM keyword_hits")}
    for person in ("octo", "bob@example.org"):
        assert command("miner", "forget", person, "--study", study).returncode == 0

    done = command("miner", "merge", other, "--study", study, "--json")

    assert done.returncode == 0, done.stderr
    taken = json.loads(done.stdout)["rows"]
    assert taken["commit"] == 1
    messages = sorted(row["message"] for row in _rows(study, "SELECT message FROM commits"))
    assert [each.partition("\n")[0] for each in messages] == [
        "Add a layer", "Fix more", "Fix the loss",
    ]  # fmt: skip
    assert messages[1].rstrip() == "Fix more\n\nCo-authored-by: forgotten"
    assert "bob" not in "".join(messages).lower()
    for view in ("commit_files", "commit_hunks", "keyword_hits"):
        there = {row["artifact_id"] for row in _rows(study, f"SELECT artifact_id FROM {view}")}
        mine = {row["artifact_id"] for row in _rows(study, "SELECT artifact_id FROM commits")}
        assert there <= mine
    (more,) = _rows(study, "SELECT artifact_id FROM commits WHERE message LIKE 'Fix more%'")
    hits = _rows(study, "SELECT DISTINCT artifact_id, lexicon FROM keyword_hits ORDER BY ALL")
    assert (more["artifact_id"], "bugfix") in {tuple(row.values()) for row in hits}
    assert more["artifact_id"] not in ours
    assert taken["keyword_hit"] >= 1


def test_with_another_key_commits_are_left_out_and_counted(
    command: Command, study: Path, repository: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    command("miner", "commits", repository, "--all", "--study", other)
    before = _contents(study)

    done = command("miner", "merge", other, "--study", study, "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left_out"]["commit"] == 3
    assert _contents(study) == before


def test_a_folder_is_a_clone_of_what_it_is_said_to_be(
    command: Command, repository: Path, tmp_path: Path
) -> None:
    _git(repository, "commit", "--quiet", "--allow-empty", "-m", "Fix #12")
    study = tmp_path / "named"
    for _again in range(2):
        done = command(
            "miner", "commits", repository, "--project", "Keras-Team/keras", "--study", study
        )
        assert done.returncode == 0, done.stderr
    command("miner", "link", "--study", study)

    assert {row["project"] for row in _rows(study, "SELECT project FROM commits")} == {
        "keras-team/keras"
    }
    (link,) = _rows(study, "SELECT to_id, kind FROM links")
    assert link == {"to_id": "github:keras-team/keras#12", "kind": "fixes"}
    (shown,) = json.loads(command("miner", "status", "--json", "--study", study).stdout)["commits"]
    assert (shown["commits"], shown["gone"], shown["unfinished"]) == (4, 0, 0)
    assert "keras-team/keras" in command("miner", "status", "--study", study).stdout
    assert command("miner", "rebuild", "--study", study).returncode == 0
    assert len(_rows(study, "SELECT * FROM commits WHERE project = 'keras-team/keras'")) == 4

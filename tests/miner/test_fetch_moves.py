"""Issues that move, repositories with new names: who is who, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import TOKEN, Fault, World
from mining import Mining

Start = Callable[..., Mining]
NAME = "example/large"


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_transfer_that_keeps_its_number_renames_no_repository(
    mining: Start, token: str | None
) -> None:
    at = mining(World.generated(30))
    at.fetch(NAME, token=TOKEN)
    assert at.world.transfer(1, "other/place") == 1
    found = at.fetch(NAME, "--verify", token=token)
    assert (found["verified"]["missing"], found["verified"]["transferred"]) == (1, 1)
    assert at.rows("SELECT alias, artifact_id, kind FROM artifact_aliases") == [
        (f"github:{NAME}#1", "github:other/place#1", "transfer")
    ]
    assert at.column("SELECT count(*) FROM issues WHERE project = ?", NAME) == [30]
    assert at.column("SELECT moved_to FROM issues WHERE gone_at IS NOT NULL") == [
        "github:other/place#1"
    ]


def test_a_part_that_is_missing_is_asked_about(mining: Start) -> None:
    # As on GitHub: what belongs to a transferred issue is not found, only itself redirects.
    at = mining(World.generated(3))
    at.fetch(NAME, "--no-comments")
    at.world.transfer(2, "other/place")
    at.world.faults.add(Fault.status(404, times=1, on="/issues/2/comments"))
    at.fetch(NAME)
    assert at.rows("SELECT number, gone_reason FROM issues WHERE gone_at IS NOT NULL") == [
        ("2", "transferred")
    ]


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_moved_issue_of_a_file_has_its_comments(
    mining: Start, token: str | None, tmp_path: Path
) -> None:
    at = mining(World.generated(8))
    at.world.transfer(6, "other/place")
    lines = [f"https://github.com/{NAME}/issues/{number}" for number in range(3, 8)]
    (tmp_path / "named.csv").write_text("\n".join(["url", *lines]), encoding="utf-8")
    found = at.fetch("--from", tmp_path / "named.csv", token=token)
    assert found["complete"]
    counts = at.rows(
        "SELECT i.artifact_id, comment_count, count(c.comment_id) FROM issues i "
        "LEFT JOIN comments c USING (artifact_id) GROUP BY ALL"
    )
    assert "github:other/place#1" in [artifact for artifact, _counted, _stored in counts]
    assert [artifact for artifact, counted, stored in counts if counted != stored] == []


def test_an_old_name_goes_on_where_the_new_one_is(mining: Start, tmp_path: Path) -> None:
    at = mining(World.generated(350))
    at.fetch(NAME, token=TOKEN)
    at.world.rename("example/vast")
    at.fetch(NAME, token=TOKEN)
    for name in (NAME, "example/vast"):
        again = at.fetch(name, token=TOKEN)
        assert (again["requests"], again["not_modified"]) == (1, 1)
    assert at.column("SELECT DISTINCT project FROM issues") == ["example/vast"]
    named = tmp_path / "named.csv"
    named.write_text(f"url\nhttps://github.com/{NAME}/issues/7\n", encoding="utf-8")
    assert at.fetch("--from", named, token=TOKEN)["requests"] == 0


def test_a_rebuild_after_a_new_name_has_the_same_rows(mining: Start, tmp_path: Path) -> None:
    at = mining(World.generated(150))
    lines = [f"https://github.com/{NAME}/issues/{number}" for number in range(1, 120)]
    (tmp_path / "named.csv").write_text("\n".join(["url", *lines]), encoding="utf-8")
    at.fetch("--from", tmp_path / "named.csv")
    at.world.rename("example/vast")
    at.world.touch(140)
    at.fetch("example/vast", "--since", "2030-01-01", token=TOKEN)
    at.fetch(NAME, "--state", "closed", token=TOKEN)
    before = at.rows("SELECT * FROM issues ORDER BY ALL"), at.rows("FROM comments ORDER BY ALL")
    assert at.command("miner", "rebuild", "--study", at.study).returncode == 0
    assert (
        at.rows("SELECT * FROM issues ORDER BY ALL"),
        at.rows("FROM comments ORDER BY ALL"),
    ) == before


def test_a_name_that_is_given_to_another_repository_is_no_alias_any_more(mining: Start) -> None:
    at = mining(World.generated(5))
    at.fetch(NAME, token=TOKEN)
    at.world.rename("example/vast")
    at.fetch(NAME, token=TOKEN)
    assert at.column("SELECT alias FROM artifact_aliases WHERE kind = 'repository'") == [NAME]


def test_rows_do_not_depend_on_what_variables_are_called(
    mining: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = mining(World.small())
    monkeypatch.setenv("SOME_TOKEN_HOST", "github.com")
    monkeypatch.setenv("DB_PASSWORD", "tensors")
    found = at.fetch("example/tensors", token=TOKEN)
    assert found["stored"]["issues"] + found["stored"]["pulls"] == len(at.numbers()) > 0

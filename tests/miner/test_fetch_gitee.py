"""Gitee's issues: strings for numbers, its states, labels and priorities, and a hidden token."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from loopback import TOKEN, Fault, World
from loopback.exchange import Reply
from loopback.gitee_payloads import code, state_of
from mining import Mining

from faultatlas.data.study import Study
from faultatlas.miner.archive import replay

Start = Callable[..., Mining]


def mindspore() -> World:
    """Issues and pull requests of `mindspore/mindspore`, as far as Gitee would show them."""
    world = World.generated(40, comments_each=3, name="mindspore/mindspore")
    for number, entry in world.tracker.entries.items():
        entry.labels = ("kind/bug", "device/ascend") if number % 2 else ("kind/feature",)
    world.touch(9, state="closed", state_reason="not_planned")
    for number in range(1, 9):
        world.touch(number, priority=number % 5)
    return world


def test_numbers_states_labels_and_times_arrive(mining: Start) -> None:
    at = mining(mindspore())
    found = at.fetch("mindspore", token=TOKEN, gitee=True)

    tracker = at.world.tracker
    issues = [entry for entry in tracker.entries.values() if not entry.is_pull]
    expected = [
        (
            f"gitee:mindspore/mindspore#{code(entry.number)}",
            code(entry.number),
            state_of(tracker, entry),
            sorted(entry.labels),
            entry.updated,
        )
        for entry in issues
    ]
    rows = at.rows(
        "SELECT artifact_id, number, state, tracker_labels, epoch(updated_at)::BIGINT FROM issues"
    )
    assert sorted(rows) == sorted(expected)
    assert {row[2] for row in rows} == {"open", "progressing", "closed", "rejected"}
    assert not any(at.column("SELECT is_pull FROM issues"))
    comments = sum(entry.comments for entry in issues)
    assert found["stored"]["comment_rows"] == comments
    assert at.rows("FROM comments ANTI JOIN issues USING (artifact_id)") == []
    assert found["complete"]
    assert found["counted"]["issues"] == len(issues)


def test_high_priority_means_what_the_published_study_selected(mining: Start) -> None:
    at = mining(mindspore())
    at.fetch("mindspore", "--high-priority", token=TOKEN, gitee=True)
    # kind/bug, and a priority of 3 (Main) or 4 (Serious).
    assert set(at.column("SELECT number FROM issues")) == {code(number) for number in (3,)}
    assert at.column("SELECT tracker_priority FROM issues") == [3]


@pytest.mark.parametrize(
    ("options", "states"),
    [
        (("--state", "rejected"), {"rejected"}),
        (("--state", "progressing", "--label", "Kind/Bug"), {"progressing"}),
    ],
)
def test_its_own_states_can_be_asked_for(
    mining: Start, options: tuple[str, ...], states: set[str]
) -> None:
    at = mining(mindspore())
    at.fetch("mindspore", *options, token=TOKEN, gitee=True)
    assert set(at.column("SELECT state FROM issues")) == states


def test_the_token_goes_to_gitee_as_a_parameter_and_nowhere_else(mining: Start) -> None:
    at = mining(mindspore())
    at.fetch("mindspore", token=TOKEN, gitee=True)
    assert len(at.asked) >= 2
    for request in at.asked:
        assert request.query["access_token"] == TOKEN
        assert TOKEN not in str(request.headers)
        assert request.target.count(TOKEN) == 1
    stored = at.rows("SELECT url, final_url FROM responses")
    assert stored
    assert "access_token" not in str(stored)
    assert TOKEN not in str(at.rows("FROM store.checkpoint"))
    with Study(at.study).reading() as reader:
        assert not any(TOKEN.encode() in exchange.body for _number, exchange in replay(reader))


def test_a_token_for_github_is_not_shown_to_gitee(
    mining: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = mining(mindspore())
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    at.fetch("mindspore", gitee=True)
    assert TOKEN not in str([(request.target, request.headers) for request in at.asked])


def test_a_second_fetch_brings_what_changed(mining: Start) -> None:
    at = mining(mindspore())
    at.fetch("mindspore", token=TOKEN, gitee=True)
    at.world.touch(3, title="Another title", comment="one more")
    found = at.fetch("mindspore", token=TOKEN, gitee=True)
    assert found["rows"]["issues_new"] == 0
    assert found["rows"]["issues_changed"] == 1
    assert found["rows"]["comments_new"] == 1
    titles = at.column("SELECT title FROM issues WHERE number = ?", code(3))
    assert titles == ["Another title"]


def test_a_plan_is_what_a_fetch_needs(mining: Start) -> None:
    at = mining(mindspore())
    planned = at.fetch("mindspore", "--dry-run", gitee=True)
    assert len(at.asked) <= 3
    assert not at.study.exists()
    found = at.fetch("mindspore", gitee=True)
    assert planned["issues"] == found["stored"]["issues"]
    checks = [request for request in at.asked if request.query["per_page"] == "1"]
    assert planned["plan"]["requests"] == len(at.asked) - len(checks)


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        (("--pulls",), "does not list pull requests"),
        (("--timeline",), "no timeline"),
        (("--state", "merged"), "--state"),
    ],
)
def test_what_gitee_does_not_have_is_refused(
    mining: Start, options: tuple[str, ...], cause: str
) -> None:
    at = mining(mindspore())
    ended = at.run("mindspore", *options, token=TOKEN, gitee=True)
    assert ended.returncode == 1
    assert cause in ended.stderr
    assert at.asked == []


def test_a_refused_token_is_named_and_not_shown(mining: Start) -> None:
    at = mining(mindspore())
    ended = at.run("mindspore", token="0123456789abcdef0123456789abcdef", gitee=True)  # noqa: S106
    assert ended.returncode == 1
    assert "the token in GITEE_TOKEN was refused" in ended.stderr
    assert "0123456789abcdef" not in ended.stderr


def without_counts(reply: Reply) -> None:
    for name in ("total_page", "total_count"):
        reply.headers.pop(name, None)


def test_a_server_that_counts_nothing_is_read_to_its_end(mining: Start) -> None:
    world = World.generated(230, comments_each=1, name="mindspore/mindspore")
    for entry in world.tracker.entries.values():
        entry.is_pull = False
        entry.comments = 0
    world.tracker.entries[7].comments = 100  # exactly a page
    at = mining(world)
    at.world.faults.add(Fault.changed(without_counts, times=None))

    planned = at.fetch("mindspore", "--dry-run", gitee=True)
    assert len(at.asked) <= 3
    assert planned["issues"] == 101
    assert planned["words"].startswith("at least 101 issues; at least ")

    ended = at.run("mindspore", "--json", gitee=True)
    assert ended.returncode == 0, ended.stderr
    assert "plan: at least " in ended.stderr
    assert "not compared with the tracker's count: Gitee did not say" in ended.stderr
    assert at.column("SELECT count(*) FROM issues") == [230]
    assert at.column("SELECT count(*) FROM comments") == [100]


def test_a_page_that_fails_is_asked_for_again(
    mining: Start,
    fake_time: object,  # noqa: ARG001
) -> None:
    at = mining(mindspore())
    at.world.faults.add(Fault.status(502, on="/issues"))
    assert at.fetch("mindspore", token=TOKEN, gitee=True)["complete"]
    assert at.world.faults.pending == []

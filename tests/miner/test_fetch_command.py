"""`miner fetch`: the issues that were asked for, with their comments, at the planned price."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import TOKEN, Fault, World
from loopback.entries import Entry
from loopback.payloads import instant
from mining import Mining

COMMENT_ROWS = (
    "SELECT comment_id, artifact_id, author, author_association, body, created_at, updated_at, "
    "url, gone_at FROM comments WHERE list_contains(?, artifact_id) ORDER BY comment_id"
)
EVENT_ROWS = (
    "SELECT event_id, artifact_id, kind, actor, label, other_id, detail, created_at "
    "FROM issue_events ORDER BY event_id"
)
MIDDLE = "2020-02-20"

Start = Callable[..., Mining]


def small() -> World:
    """26 issues, 5 of them pull requests, with labels that no other label implies."""
    world = World.small()
    for number, labels in ((3, ["question"]), (6, ["bug", "question"]), (9, ["Enhancement"])):
        world.touch(number, labels=labels)
    return world


def has(entry: Entry, *labels: str) -> bool:
    return entry.has(frozenset(labels))


@pytest.mark.parametrize(
    ("options", "is_meant"),
    [
        ((), lambda _: True),
        (("--label", "enhancement"), lambda e: has(e, "enhancement")),
        (("--label", "BUG", "--label", "Question"), lambda e: has(e, "bug", "question")),
        (
            ("--label", "bug", "--label", "question", "--any-label"),
            lambda e: has(e, "bug") or has(e, "question"),
        ),
        (("--state", "open"), lambda e: e.closed is None),
        (("--state", "closed", "--no-pulls"), lambda e: e.closed is not None and not e.is_pull),
        (("--label", "bug", "--no-pulls"), lambda e: has(e, "bug") and not e.is_pull),
        (("--since", MIDDLE), lambda e: e.updated >= instant(MIDDLE)),
    ],
)
def test_exactly_what_was_asked_for_is_stored(
    mining: Start, options: tuple[str, ...], is_meant: Callable[[Entry], bool]
) -> None:
    at = mining(small())
    entries = at.world.tracker.entries.values()
    meant = {entry.number for entry in entries if is_meant(entry)}

    found = at.fetch("example/tensors", *options, token=TOKEN)

    assert at.numbers() == meant
    assert found["complete"]
    assert found["rows"]["issues_new"] == found["stored"]["issues"] + found["stored"]["pulls"]
    assert found["rows"]["comments_new"] == sum(e.comments for e in entries if e.number in meant)
    # The tracker's own count agrees.
    counted = found["counted"]
    assert counted["issues"] + counted["pulls"] == len(meant)


def test_the_document_says_what_was_stored_and_what_it_cost(mining: Start) -> None:
    at = mining(small())
    found = at.fetch("example/tensors")

    entries = at.world.tracker.entries.values()
    comments = sum(entry.comments for entry in entries)
    assert found["project"] == "github:example/tensors"
    assert found["rows"]["issues_new"] == 26
    assert found["rows"]["comments_new"] == comments
    assert found["stored"]["issues"] == 21
    assert found["stored"]["pulls"] == 5
    assert found["stored"]["comment_rows"] == comments
    assert found["requests"] == len(at.asked)
    assert found["plan"]["requests"] == len(at.fetching())
    assert found["quota"]["left"] == 60 - len(at.fetching())
    assert found["missing_comments"] == []
    assert [found["run_id"]] == at.column("SELECT run_id FROM runs WHERE outcome = 'ok'")


def test_a_table_for_people_says_the_same(mining: Start) -> None:
    at = mining(small())
    ended = at.run("example/tensors", "--label", "bug", token=TOKEN)

    assert ended.returncode == 0
    stored = len(at.numbers())
    assert f"issues {stored:>6} {0:>8} {stored:>7}" in ended.stdout
    assert f"{len(at.asked)} requests" in " ".join(ended.stdout.split())
    assert "1 requests" not in ended.stdout + ended.stderr


def test_a_label_that_no_issue_has_is_said_so(mining: Start) -> None:
    at = mining(small())
    ended = at.run("example/tensors", "--label", "bugg", token=TOKEN)
    assert ended.returncode == 0
    assert "lists no such issue: check labels" in ended.stderr


def test_a_comment_that_is_missing_is_said_so(mining: Start) -> None:
    at = mining(small())
    at.world.touch(8, comments=99)  # more than it lists, as GitHub counts hidden ones
    ended = at.run("example/tensors", "--label", "bug", "--label", "question", "--any-label")
    assert ended.returncode == 0  # nothing can be done about it
    assert "of 1 issue the study has fewer comments than the tracker counts" in ended.stderr
    assert "github:example/tensors#8" in ended.stderr


def test_the_real_tracker_gives_exactly_its_bugs(mining: Start, study_fixtures: Path) -> None:
    at = mining(World.of_datasets(study_fixtures))
    entries = at.world.tracker.entries.values()
    bugs = {entry.number for entry in entries if has(entry, "bug")}

    planned = at.fetch("huggingface/datasets", "--label", "bug", "--dry-run", token=TOKEN)
    found = at.fetch("huggingface/datasets", "--label", "bug", token=TOKEN)

    assert len(bugs) == 338
    assert at.numbers() == bugs
    assert found["rows"]["issues_new"] == 338
    assert found["rows"]["comments_new"] == sum(e.comments for e in entries if e.number in bugs)
    assert found["requests"] == len(at.asked)
    assert planned["plan"]["requests"] == found["plan"]["requests"] == len(at.fetching())


@pytest.mark.parametrize(
    ("token", "options"),
    [
        (None, ()),
        (TOKEN, ()),
        (None, ("--label", "question")),
        (TOKEN, ("--label", "question", "--state", "open")),
        (None, ("--no-comments", "--since", MIDDLE)),
    ],
)
def test_a_plan_costs_three_requests_and_is_kept(
    mining: Start, token: str | None, options: tuple[str, ...]
) -> None:
    at = mining(World.generated(210, comments_each=3))

    planned = at.fetch("example/large", *options, "--dry-run", token=token)
    assert len(at.asked) <= 3
    assert planned["requests"] == len(at.asked)
    assert not at.study.exists()

    found = at.fetch("example/large", *options, token=token)
    assert planned["issues"] == found["rows"]["issues_new"]
    assert planned["plan"]["strategy"] == found["plan"]["strategy"]
    assert planned["plan"]["requests"] == len(at.fetching())
    if found["plan"]["is_exact"]:
        assert found["plan"]["requests"] == len(at.fetching())
    else:  # a list of which only the number of pages is known
        assert len(at.fetching()) <= found["plan"]["requests"] <= len(at.fetching()) + 1


@pytest.mark.parametrize("pulls", ["--pulls", "--no-pulls"])
def test_a_list_that_does_not_say_how_long_it_is_is_counted_by_search(
    mining: Start, pulls: str
) -> None:
    world = World.generated(210, comments_each=1)
    world.cursor_only = True
    at = mining(world)

    planned = at.fetch("example/large", "--no-comments", pulls, "--dry-run")
    assert len(at.asked) <= 3
    assert planned["issues"] == 210  # the list has pull requests in it, wanted or not
    is_told = "with pull requests, which are skipped then" in planned["words"]
    assert is_told == (pulls == "--no-pulls")
    assert not planned["plan"]["is_exact"]

    ended = at.run("example/large", "--no-comments", pulls, "--json")
    assert planned["plan"]["requests"] == len(at.fetching())
    assert "plan: at least 2 requests" in ended.stderr


def test_what_nobody_counts_is_said_to_be_at_least(mining: Start) -> None:
    world = World.generated(210, comments_each=1)
    world.cursor_only = True
    at = mining(world)
    at.world.faults.add(Fault.status(422, times=None, on="/search/"))
    planned = at.fetch("example/large", "--dry-run")
    assert len(at.asked) <= 3
    assert planned["words"].startswith("at least 101 issues; at least ")
    assert not planned["plan"]["is_exact"]


@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_thousand_issues_with_two_thousand_comments_take_32_requests(
    mining: Start, token: str | None
) -> None:
    world = World.generated(1000, comments_each=2)
    for entry in world.tracker.entries.values():
        entry.comments = 2
    at = mining(world)

    found = at.fetch("example/large", token=token)

    assert found["stored"]["issues"] + found["stored"]["pulls"] == 1000
    assert found["stored"]["comment_rows"] == 2000
    assert len(at.fetching()) <= 32
    assert found["plan"]["requests"] == len(at.fetching())


def test_comments_are_the_same_whichever_way_was_the_cheapest(mining: Start) -> None:
    world = World.generated(150, comments_each=4)
    rare = {11: 130, 12: 6, 13: 1}  # the first has more comments than a page
    for number, comments in rare.items():
        world.tracker.entries[number].comments = comments
        world.tracker.entries[number].labels = ("rare",)
    world.tracker.entries[13].updated = world.tracker.entries[12].updated
    ids = [f"github:example/large#{number}" for number in rare]
    tables: dict[str, list[Any]] = {}
    ways = (("graphql", TOKEN, ["--label", "rare"]), ("issue", None, ["--label", "rare"]))
    for name, token, options in (*ways, ("repository", None, [])):
        at = same_people(mining(world, name))
        found = at.fetch("example/large", *options, token=token)
        assert found["plan"]["strategy"] == name
        tables[name] = at.rows(COMMENT_ROWS, ids)
    assert len(tables["graphql"]) == sum(rare.values())
    assert tables["graphql"] == tables["issue"] == tables["repository"]


def test_events_are_the_same_with_and_without_a_token(mining: Start) -> None:
    world = World.generated(12, comments_each=0, name="example/tensors")
    world.touch(5, title="another title", state="closed")
    world.to_discussion(7)
    for turn in range(60):  # more events than a page holds
        world.touch(6, labels=["question" if turn % 2 else "bug"])
    tables = []
    for name, token in (("with", TOKEN), ("without", None)):
        at = same_people(mining(world, name))
        found = at.fetch("example/tensors", "--timeline", token=token)
        assert found["rows"]["events_new"] == len(at.rows(EVENT_ROWS)) > 119
        tables.append(at.rows(EVENT_ROWS))
    kinds = {row[2] for row in tables[0]}
    assert kinds >= {"labeled", "unlabeled", "closed", "renamed", "cross-referenced", "referenced"}
    assert tables[0] == tables[1]


@pytest.mark.parametrize("token", [None, TOKEN])
def test_comments_may_come_later(mining: Start, token: str | None) -> None:
    at = mining(small())
    first = at.fetch("example/tensors", "--no-comments", token=token)
    assert first["complete"]
    assert len(at.fetching()) == 1
    assert at.rows("FROM comments") == []

    later = at.fetch("example/tensors", token=token)
    assert later["rows"]["issues_new"] == later["rows"]["issues_changed"] == 0
    entries = at.world.tracker.entries.values()
    assert later["rows"]["comments_new"] == sum(entry.comments for entry in entries)
    assert [request.status for request in at.asked] == [304, 200]


def test_a_wider_selection_asks_for_no_comment_twice(mining: Start) -> None:
    at = mining(small())
    at.fetch("example/tensors", "--label", "question", token=TOKEN)
    stored = at.column("SELECT count(*) FROM comments")[0]
    found = at.fetch("example/tensors", token=TOKEN)
    assert found["rows"]["comments_new"] == found["stored"]["comment_rows"] - stored
    assert found["rows"]["comments_changed"] == 0


def same_people(at: Mining) -> Mining:
    """With one key, people have the same pseudonyms in every study."""
    at.study.mkdir()
    (at.study / "study.key").write_text("5a" * 32, encoding="ascii")
    (at.study / "study.key").chmod(0o600)
    return at

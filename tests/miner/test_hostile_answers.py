"""Answers that no server should give: the wrong type is a missing value, never a crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import World, gitee_payloads

from faultatlas.miner.archive import Exchange
from faultatlas.miner.issues import fetch
from faultatlas.miner.payload import names
from faultatlas.miner.selection import Selection
from faultatlas.miner.sources import tracker

NOON = datetime(2026, 3, 4, 12)  # noqa: DTZ001  (as the study stores it: UTC, no zone)
TEXTS = st.one_of(
    st.text(st.characters(), max_size=8),  # with halves of surrogate pairs
    st.sampled_from(
        [
            "https://[",
            "https://github.com/example/tensors/issues/99999999999999999999",
            "https://github.com/example/other/pull/2",
            "https://gitee.com/example/tensors/issues/I1DACG",
            "9999-12-31T23:59:59-23:59",
            "labeled",
            "bug",
        ]
    ),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def _github_answers() -> dict[str, Any]:
    issue = World.small().tracker.payload(2) | {"labels": [{"name": "bug"}, "bug"]}
    comment = {"id": 1, "html_url": issue["html_url"], "user": {"login": "x"}, "body": "x"}
    event = {
        "event": "labeled",
        "label": {"name": "bug"},
        "actor": {"login": "x"},
        "source": {"issue": {"html_url": issue["html_url"]}},
        "rename": {"to": "x"},
        "created_at": "2020-01-01T00:00:00Z",
    }
    page = {"totalCount": 1, "pageInfo": {"hasNextPage": False, "endCursor": "x"}}
    user = {"__typename": "User", "login": "x"}
    remark = {"fullDatabaseId": "1", "url": issue["html_url"], "author": user, "body": "x"}
    comments = {**page, "nodes": [remark]}
    happened = {"__typename": "LabeledEvent", "label": {"name": "bug"}, "actor": user}
    node = {
        "__typename": "Issue",
        "id": "x",
        "url": issue["html_url"],
        "state": "OPEN",
        "author": user,
        "labels": {"nodes": [{"name": "bug"}]},
        "comments": comments,
        "timelineItems": {**page, "nodes": [happened]},
        "closings": {"nodes": [{"actor": user}]},
    }
    named = {"nameWithOwner": "example/tensors", "n2": node}
    repository = {"id": 1, "html_url": "https://github.com/a/b", "topics": ["x"], "license": {}}
    return {
        "issues": [issue],
        "issue": issue,
        "comments": [comment],
        "issue comments": [comment],
        "timeline": [event],
        "repository": {"html_url": "https://github.com/example/renamed"},
        "repositories": {"total_count": 1, "items": [repository]},
        "commit pulls": [issue],
        "graphql comments": {"data": {"nodes": [node]}},
        "graphql events": {"data": {"nodes": [node]}},
        "graphql issues": {"data": {"repository": named}, "errors": [{"path": ["repository"]}]},
        "graphql commits": {"data": {"repository": {"c0": None}}},
    }


def _gitee_answers() -> dict[str, Any]:
    at = World.small().tracker
    issue = gitee_payloads.issue(at, at.entries[2]) | {"labels": [{"name": "bug"}]}
    comment = {"id": 1, "user": {"login": "x"}, "target": {"issue": {"number": issue["number"]}}}
    return {
        "issues": [issue],
        "issue": issue,
        "comments": [comment],
        "issue comments": [comment],
    }


ANSWERS = {
    (source, kind): answer
    for source, answers in (("github", _github_answers()), ("gitee", _gitee_answers()))
    for kind, answer in answers.items()
}


def places(value: Any) -> list[tuple[Any, ...]]:
    """The paths of everything in an answer, itself included."""
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    return [(), *((name, *rest) for name, item in items for rest in places(item))]


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    if isinstance(value, dict) and place[0] in value:
        return {**value, place[0]: replaced(value[place[0]], place[1:], new)}
    if isinstance(value, list) and isinstance(place[0], int) and place[0] < len(value):
        changed = list(value)
        changed[place[0]] = replaced(value[place[0]], place[1:], new)
        return changed
    return value  # something above it was replaced before


def read(source: str, kind: str, answer: Any) -> Any:
    key = "2" if source == "github" else gitee_payloads.code(2)
    artifact = f"{source}:example/tensors#{key}"
    request = {
        "kind": kind,
        "name": "example/tensors",
        "selection": Selection(labels=("bug",)).as_json(),
        "artifact": artifact,
        "artifacts": [artifact],
        "is_last": True,
        "seen": [],
        "search": "x",
        "turn": 1,
        "slice": "x",
        "leave_out": ["fork", "archived"],
        "commits": ["0" * 40],
        "commit": "0" * 40,
    }
    exchange = Exchange(
        "run", source, f"{source}:example/tensors", request, "/", "/", 200, {}, NOON,
        json.dumps(answer).encode(),
    )  # fmt: skip
    return tracker(source).read(exchange, lambda login: login and login.encode().hex())


def test_the_answers_below_hold_rows() -> None:
    for (source, kind), answer in ANSWERS.items():
        rows = read(source, kind, answer)
        found = [rows.issues, rows.comments, rows.events, rows.repositories, rows.aliases]
        assert any(found) != (kind in ("commit pulls", "graphql commits")), (source, kind)


@pytest.mark.parametrize(("source", "kind"), ANSWERS)
@given(data=st.data())
def test_any_answer_can_be_read(source: str, kind: str, data: st.DataObject) -> None:
    read(source, kind, data.draw(VALUES))
    answer = ANSWERS[source, kind]
    for place in data.draw(st.lists(st.sampled_from(places(answer)[1:]), max_size=4)):
        answer = replaced(answer, place, data.draw(VALUES))
    read(source, kind, answer)


@pytest.mark.parametrize("value", [5, True, {"name": "bug"}, "bug", [{"name": ["x"]}], [[]], None])
def test_labels_of_the_wrong_type_are_none(value: Any) -> None:
    assert names(value) == ()


@pytest.mark.parametrize("body", ["null", '{"message": "x"}', "5", '[5, null, "x"]'])
def test_a_list_that_is_none_has_nothing_to_plan_for(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: Callable[..., Any] = lambda *_: SimpleNamespace(offered=lambda: ["issue"])  # noqa: E731
    monkeypatch.setattr(fetch, "PartReader", offered)
    ingest: Any = SimpleNamespace(
        tracker=SimpleNamespace(pages=lambda _: 1, next_url=lambda _: None, has_pulls=True),
        project=SimpleNamespace(repository="example/tensors"),
    )
    first: Any = SimpleNamespace(json=lambda: json.loads(body))
    planned = fetch.estimate(ingest, first, fetch.Wishes(Selection()))
    assert planned.requests == 1

"""Exchanges without what is forgotten: exactly that is gone, and the rest means what it meant."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from growth import grows_like_its_text
from loopback import World, payloads
from loopback.gitee_payloads import code, comment, issue
from loopback.repositories import catalogue
from loopback.repositories import found as as_found

from faultatlas.miner.archive import Exchange
from faultatlas.miner.keeping.erased_words import Words
from faultatlas.miner.keeping.erasing import Forgotten, emptied, without
from faultatlas.miner.selection import Selection
from faultatlas.miner.sources import tracker

DOROTEA = payloads.USERS[3]
ADA = payloads.USERS[0]
NAME = "example/tensors"
ISSUE = f"github:{NAME}#"


def who(login: str | None) -> str | None:
    """A pseudonym that a reader of these tests can tell."""
    return None if login is None else f"person_{login.lower()}"


PERSON = Forgotten(people=frozenset({"person_dorotea"}))


def exchange(kind: str, said: Any, source: str = "github", **request: Any) -> Exchange:
    asked = {"kind": kind, "name": NAME, "selection": Selection().as_json(), **request}
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return Exchange(
        "run", source, f"{source}:{NAME}", asked, f"/repos/{NAME}/issues", f"/repos/{NAME}/issues",
        200, {"link": "<https://api.github.com/x?page=2>"}, datetime(2024, 1, 1), body,  # noqa: DTZ001
    )  # fmt: skip


def issue_by(author: Any, number: int, **more: Any) -> dict[str, Any]:
    payload = World.small().tracker.payload(number)
    return {**payload, "user": author, "closed_by": None, **more}


def comment_by(author: Any, number: int, own: int, body: str) -> dict[str, Any]:
    return {
        **payloads.comment(NAME, number, own, author, 1_700_000_000, 1_700_000_000),
        "body": body,
    }


def left(made: Exchange, forgotten: Forgotten) -> Exchange:
    rest, _found = without(made, forgotten, who)
    assert rest is not None
    assert without(rest, forgotten, who)[0] is rest  # once is enough
    return rest


def rows(made: Exchange) -> Any:
    return tracker(made.source).read(made, who)


# Artifacts


def test_an_issue_goes_from_a_list_and_the_others_stay_as_they_are() -> None:
    listed = [issue_by(ADA, number) for number in (1, 2, 3)]
    made = exchange("issues", listed)
    rest = left(made, Forgotten(frozenset({f"{ISSUE}2"})))
    assert rest.json() == [listed[0], listed[2]]
    assert rest.response_id != made.response_id
    assert replace(rest, body=made.body) == made


def test_where_nothing_is_found_the_exchange_is_the_same_byte_for_byte() -> None:
    made = exchange("issues", json.dumps([issue_by(ADA, 1)], indent=3).encode())
    assert left(made, Forgotten(frozenset({f"{ISSUE}11"}), frozenset({"person_nobody"}))) is made


def test_its_comments_go_from_the_list_of_all_comments() -> None:
    listed = [comment_by(ADA, 2, 20, "two"), comment_by(ADA, 22, 21, "twenty-two")]
    rest = left(exchange("comments", listed), Forgotten(frozenset({f"{ISSUE}2"})))
    assert [item["body"] for item in rest.json()] == ["twenty-two"]


@pytest.mark.parametrize("kind", ["issue", "issue comments", "timeline"])
@pytest.mark.parametrize("status", [200, 404])
def test_nothing_is_left_of_an_exchange_about_it(kind: str, status: int) -> None:
    made = replace(
        exchange(kind, {"message": "?"}, artifact=f"{ISSUE}2", is_last=True, seen=[]), status=status
    )
    rest, found = without(made, Forgotten(frozenset({f"{ISSUE}2"})), who)
    assert rest is None
    assert found.artifacts == {f"{ISSUE}2"}
    for source in ("github", "gitee"):
        empty = emptied(replace(made, source=source))
        assert rows(empty) == type(rows(empty))()  # no source makes a row of it
        assert "example" not in str(empty.request) + empty.url + empty.final_url


def test_asked_for_by_an_old_name_it_is_still_forgotten() -> None:
    moved = {**issue_by(ADA, 2), "html_url": "https://github.com/other/place/issues/9"}
    made = exchange("issue", moved, artifact=f"{ISSUE}2")
    assert without(made, Forgotten(frozenset({"github:other/place#9"})), who)[0] is None


def test_a_list_of_a_renamed_repository_does_not_bring_it_back() -> None:
    listed = json.dumps([issue_by(ADA, 2), issue_by(ADA, 3)]).replace(NAME, "example/arrays")
    rest = left(exchange("issues", listed.encode()), Forgotten(frozenset({f"{ISSUE}2"})))
    assert [item["number"] for item in rest.json()] == [3]


def test_the_trace_it_left_on_another_issue_goes() -> None:
    events = [
        {"event": "labeled", "actor": ADA, "label": {"name": "bug"}},
        {
            "event": "cross-referenced",
            "actor": ADA,
            "source": {"type": "issue", "issue": issue_by(ADA, 2)},
        },
    ]  # fmt: skip
    made = exchange("timeline", events, artifact=f"{ISSUE}3")
    assert left(made, Forgotten(frozenset({f"{ISSUE}2"}))).json() == events[:1]
    assert left(made, Forgotten(frozenset({f"{ISSUE}22"}))) is made


def test_a_commit_is_not_named_any_more() -> None:
    url = "https://api.github.com/repos/example/tensors/commits/" + "a" * 40
    events = [{"event": "closed", "actor": ADA, "commit_url": url}]
    rest = left(
        exchange("timeline", events, artifact=f"{ISSUE}3"),
        Forgotten(frozenset({f"git:{NAME}@{'a' * 40}"})),
    )
    assert rest.json() == [{"event": "closed", "actor": ADA, "commit_url": None}]


def graphql_node(number: int, author: str = "ada-lindqvist", **more: Any) -> dict[str, Any]:
    return {
        "__typename": "Issue",
        "url": f"https://github.com/{NAME}/issues/{number}",
        "title": f"title {number}",
        "body": "text",
        "author": {"__typename": "User", "login": author},
        "comments": {"totalCount": 0, "pageInfo": {"hasNextPage": False}, "nodes": []},
        **more,
    }


def test_graphql_nodes_keep_their_places() -> None:
    url = f"https://github.com/{NAME}/issues"
    nodes = [{"url": f"{url}/{number}", "comments": {"nodes": []}} for number in (1, 2, 3)]
    errors = [{"path": ["nodes", 1], "message": "2"}, {"path": ["nodes", 2], "message": "3"}]
    made = exchange(
        "graphql comments",
        {"data": {"nodes": nodes}, "errors": errors},
        artifacts=[f"{ISSUE}{n}" for n in (1, 2, 3)],
    )
    rest = left(made, Forgotten(frozenset({f"{ISSUE}2"})))
    assert rest.json()["data"]["nodes"] == [nodes[0], None, nodes[2]]
    assert rest.json()["errors"] == errors[1:]
    assert rest.request["artifacts"] == [f"{ISSUE}1", "forgotten", f"{ISSUE}3"]
    assert rows(rest).all_comments_of.keys() <= {f"{ISSUE}1", f"{ISSUE}3"}


def test_graphql_issues_lose_the_name_that_was_asked_for() -> None:
    said = {
        "data": {"repository": {"n2": graphql_node(2), "n22": graphql_node(22), "n4": None}},
        "errors": [
            {"type": "NOT_FOUND", "path": ["repository", "n4"], "message": "no issue 4"},
            {"type": "NOT_FOUND", "path": ["repository", "n5"], "message": "no issue 5"},
        ],
    }
    made = exchange("graphql issues", said, artifacts=[f"{ISSUE}{n}" for n in (2, 22, 4, 5)])
    rest = left(made, Forgotten(frozenset({f"{ISSUE}2", f"{ISSUE}4"})))
    assert rest.json()["data"]["repository"] == {"n22": graphql_node(22)}
    assert [error["message"] for error in rest.json()["errors"]] == ["no issue 5"]
    found = rows(rest)
    assert [row.artifact_id for row in found.issues] == [f"{ISSUE}22"]


# People


def test_what_a_person_wrote_goes_and_what_they_did_to_others_is_nobodys() -> None:
    listed = [
        issue_by(DOROTEA, 1),
        issue_by(ADA, 2, closed_by=DOROTEA, assignee=DOROTEA, assignees=[ADA, DOROTEA]),
    ]
    made = exchange("issues", listed)
    rest, found = without(made, PERSON, who)
    assert rest is not None
    assert found.written == {f"{ISSUE}1"}
    assert found.people == {"person_dorotea"}
    (kept,) = rest.json()
    assert kept["closed_by"] == kept["assignee"] == {"login": "ghost", "type": "User"}
    assert [each["login"] for each in kept["assignees"]] == ["ada-lindqvist", "ghost"]
    assert b"dorotea" not in rest.body
    assert str(DOROTEA["id"]).encode() not in rest.body
    assert [row.closed_by for row in rows(rest).issues] == ["person_ghost"]


def test_comments_of_a_person_go_and_are_not_asked_for_as_seen() -> None:
    listed = [comment_by(DOROTEA, 2, 20, "mine"), comment_by(ADA, 2, 21, "hers")]
    made = exchange(
        "issue comments", listed, artifact=f"{ISSUE}2", is_last=True,
        seen=["github:comment/18", "github:comment/19"],
    )  # fmt: skip
    rest, found = without(made, PERSON, who)
    assert rest is not None
    assert [item["body"] for item in rest.json()] == ["hers"]
    assert found.comments == {"github:comment/20"}
    known = replace(PERSON, comments=frozenset({"github:comment/18"}))
    assert left(made, known).request["seen"] == ["github:comment/19"]


def test_a_timeline_keeps_the_events_of_a_person_but_not_their_words() -> None:
    events = [
        {"event": "labeled", "actor": DOROTEA, "label": {"name": "bug"}},
        {"event": "commented", "actor": DOROTEA, "user": DOROTEA, "body": "my words"},
        {"event": "reviewed", "user": DOROTEA, "body": "my review"},
        {
            "event": "cross-referenced",
            "actor": ADA,
            "source": {"type": "issue", "issue": issue_by(DOROTEA, 9)},
        },
        {
            "event": "committed",
            "message": "fix",
            "author": {"name": "D. R.", "email": "733104+dorotea@users.noreply.github.com"},
        },
    ]
    rest, found = without(exchange("timeline", events, artifact=f"{ISSUE}2"), PERSON, who)
    assert rest is not None
    assert [event["event"] for event in rest.json()] == ["labeled", "committed"]
    assert rest.json()[0] == {**events[0], "actor": {"login": "ghost", "type": "User"}}
    assert rest.json()[1]["author"] == {"name": "ghost", "email": "ghost"}
    assert found.written == set()  # an issue elsewhere is not the study's


def test_graphql_people_become_nobody() -> None:
    comments = [
        {"fullDatabaseId": "5", "body": "mine", "author": {"login": "Dorotea"}},
        {"fullDatabaseId": "6", "body": "cc @dorotea", "author": {"login": "x"}},
    ]
    events = {"nodes": [{"actor": {"__typename": "User", "login": "dorotea"}}]}
    said = {"data": {"repository": {
        "n1": graphql_node(1, "dorotea"),
        "n2": graphql_node(2, comments={"nodes": comments}, closings=events),
    }}}  # fmt: skip
    made = exchange("graphql issues", said, artifacts=[f"{ISSUE}1", f"{ISSUE}2"])
    rest, found = without(made, PERSON, who)
    assert rest is not None
    assert found.written == {f"{ISSUE}1"}
    assert found.comments == {"github:comment/5"}
    (node,) = rest.json()["data"]["repository"].values()
    assert node["comments"]["nodes"][0] is None
    assert node["comments"]["nodes"][1]["body"] == "cc @ghost"
    assert node["closings"] == {"nodes": [{"actor": None}]}
    assert rest.request["artifacts"] == ["forgotten", f"{ISSUE}2"]


def test_a_bot_has_its_mark_in_one_interface_only() -> None:
    forgotten = Forgotten(people=frozenset({"person_helper[bot]"}))
    node = graphql_node(1, author="helper")
    node["author"]["__typename"] = "Bot"
    made = exchange(
        "graphql issues", {"data": {"repository": {"n1": node}}}, artifacts=[f"{ISSUE}1"]
    )
    assert left(made, forgotten).json() == {"data": {"repository": {}}}
    people = exchange("graphql issues", {"data": {"repository": {"n1": graphql_node(1, "helper")}}})
    assert left(people, forgotten) is people  # a person of that name is somebody else


def test_on_gitee_too() -> None:
    world = World.small()
    entries = [entry for entry in world.tracker.entries.values() if not entry.is_pull][:8]
    listed = [issue(world.tracker, entry) for entry in entries]
    logins = [item["user"]["login"] for item in listed]
    person = next(login for login in logins if login != "ghost")
    forgotten = Forgotten(people=frozenset({f"person_{person}"}))
    rest, found = without(exchange("issues", listed, source="gitee"), forgotten, who)
    assert rest is not None
    assert len(rest.json()) == len(logins) - logins.count(person)
    assert len(found.written) == logins.count(person)
    assert f'"{person}"'.encode() not in rest.body
    assert f"gitee.com/{person}".encode() not in rest.body

    remark = world.tracker.comments_of(entries[0].number)[0]
    said = [{**comment(world.tracker, remark), "body": "on it"}]
    artifact = f"gitee:{NAME}#{code(entries[0].number)}"
    made = exchange("comments", said, source="gitee")
    assert left(made, Forgotten(frozenset({artifact}))).json() == []
    assert left(made, Forgotten(frozenset({f"gitee:{NAME}#I0"}))) is made


def test_the_repositories_of_a_person_are_not_found() -> None:
    items = [as_found(facts) for facts in catalogue(3, seed=1)]
    owner = items[0]["owner"]["login"]
    made = replace(exchange("repositories", {"items": items}), project="github:search/repositories")
    rest = left(made, Forgotten(people=frozenset({f"person_{owner.lower()}"})))
    assert owner.encode() not in rest.body
    assert 0 < len(rest.json()["items"]) < 3


def test_half_a_surrogate_pair_does_not_stop_it() -> None:
    body = json.dumps([issue_by(ADA, 1, body="\ud800 @dorotea"), issue_by(DOROTEA, 2)]).encode()
    assert left(exchange("issues", body), PERSON).json()[0]["body"] == "\ud800 @ghost"


def test_a_page_that_is_no_json_is_words() -> None:
    made = exchange("issue", b"<html>@dorotea is <b>gone</b>", artifact=f"{ISSUE}2")
    assert left(made, PERSON).body == b"<html>@ghost is <b>gone</b>"


# Words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@dorotea, could you look?", "@ghost, could you look?"),
        ("cc @Dorotea/@ada-lindqvist", "cc @ghost/@ada-lindqvist"),
        ("(@dorotea)", "(@ghost)"),
        ("你好@dorotea谢谢", "你好@ghost谢谢"),
        ("ask @dorotea-", "ask @ghost-"),
        ("@dorotea2 and @dorotea-x are others", "@dorotea2 and @dorotea-x are others"),
        ("me@dorotea.example.org", "me@dorotea.example.org"),
        ("dorotea is a word here", "dorotea is a word here"),
        ("see https://github.com/dorotea.", "see https://github.com/ghost."),
        ("https://www.github.com/Dorotea/fork/blob/main/a.py", "https://www.github.com/ghost/fork/blob/main/a.py"),
        ("https://api.github.com/users/dorotea/orgs", "https://api.github.com/users/ghost/orgs"),
        ("git@github.com:dorotea/fork.git", "git@github.com:ghost/fork.git"),
        ("https://gist.github.com/dorotea/1a2b", "https://gist.github.com/ghost/1a2b"),
        ("https://raw.githubusercontent.com/dorotea/x/main/y", "https://raw.githubusercontent.com/ghost/x/main/y"),
        ("https://dorotea.github.io/notes", "https://ghost.github.io/notes"),
        ("https://github.com/dorotea-ml/x", "https://github.com/dorotea-ml/x"),
        ("https://example.org/dorotea", "https://example.org/dorotea"),
        ("by <733104+dorotea@users.noreply.github.com>", "by <ghost@users.noreply.github.com>"),
        ("/search/issues?q=author%3Adorotea+is:open", "/search/issues?q=author%3Aghost+is:open"),
        ("/repos/a/b/issues?creator=dorotea&x=1", "/repos/a/b/issues?creator=ghost&x=1"),
        ("https://github.com/example/tensors/issues/7#issuecomment-1", "https://github.com/example/tensors/issues/0#issuecomment-1"),
        ("https://api.github.com/repos/Example/Tensors/issues/7/comments", "https://api.github.com/repos/Example/Tensors/issues/0/comments"),
        ("/repos/example/tensors/issues/7", "/repos/example/tensors/issues/0"),
        ("example/tensors#7, example/tensors#77", "example/tensors#0, example/tensors#77"),
        ("github:example/tensors#7", "github:example/tensors#0"),
        ("https://gitee.com/example/tensors/issues/7", "https://gitee.com/example/tensors/issues/7"),
        ("https://github.com/other/example/tensors/issues/7", "https://github.com/other/example/tensors/issues/7"),
        ("https://github.com/example/tensors/pull/7.diff", "https://github.com/example/tensors/pull/0.diff"),
        ("#7 stays, it is a number", "#7 stays, it is a number"),
    ],
)  # fmt: skip
def test_words(text: str, expected: str) -> None:
    words = Words(frozenset({f"{ISSUE}7"}), PERSON.people, who, f"github:{NAME}")
    assert words.erased(text) == expected


def test_the_mined_project_keeps_its_name_though_its_owner_is_forgotten() -> None:
    words = Words(frozenset(), PERSON.people, who, "github:dorotea/atlas")
    assert words.erased("https://github.com/dorotea/atlas/issues/1") == (
        "https://github.com/dorotea/atlas/issues/1"
    )
    assert words.erased("/repos/dorotea/atlas/issues") == "/repos/dorotea/atlas/issues"
    assert words.erased("https://github.com/dorotea/other") == "https://github.com/ghost/other"
    assert words.erased("https://github.com/dorotea") == "https://github.com/ghost"


def test_a_private_host_has_people_and_issues_of_its_own() -> None:
    project = "github:git.example.org/team/app"
    words = Words(frozenset({f"{project}#4"}), PERSON.people, who, project)
    assert words.erased("https://git.example.org/dorotea") == "https://git.example.org/ghost"
    assert words.erased("https://github.com/dorotea") == "https://github.com/dorotea"
    api = "https://git.example.org/api/v3/repos/team/app/issues/4"
    assert words.erased(api) == api.removesuffix("4") + "0"
    assert words.erased("https://github.com/team/app/issues/4").endswith("/4")


def test_a_private_host_may_run_gitee() -> None:
    tracker_of, host = World.small().tracker, "git.example.org"
    project = f"gitee:{host}/{NAME}"
    said = json.dumps([issue(tracker_of, tracker_of.entries[number]) for number in (1, 2)])
    listed = replace(
        exchange("issues", said.replace("gitee.com", host).encode(), "gitee"), project=project
    )
    ids = [f"{project}#{code(1)}", f"{project}#{code(2)}"]
    assert [row.artifact_id for row in rows(listed).issues] == ids
    rest = left(listed, Forgotten(frozenset(ids[:1])))
    assert [row.artifact_id for row in rows(rest).issues] == ids[1:]
    words = Words(frozenset(ids[:1]), frozenset(), who, project)
    assert words.erased(f"https://{host}/{NAME}/issues/{code(1)}").endswith("/issues/0")

    number = next(each for each in tracker_of.entries if tracker_of.comments_of(each))
    remarks = [comment(tracker_of, tracker_of.comments_of(number)[0])]
    talk = replace(exchange("comments", remarks, "gitee"), project=project)
    (row,) = rows(talk).comments
    assert row.artifact_id == f"{project}#{remarks[0]['target']['issue']['number']}"
    assert row.comment_id == f"gitee:{host}/comment/{remarks[0]['id']}"


@pytest.mark.parametrize(
    "piece",
    ["@", "@a", "a/", "a.", "/repos/", "github:", "https://github.com/", "1+", "a-", "a/b#"],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_its_length(piece: str) -> None:
    words = Words(frozenset({f"{ISSUE}7"}), PERSON.people, lambda _login: None, f"github:{NAME}")

    def read(text: str) -> None:
        assert len(words.erased(text)) == len(text)

    grows_like_its_text(read, "", piece, 50_000)

"""Rows out of answers of the API: real ones, odd ones, and the same as out of a dump."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import Question
from posting import Posting

from faultatlas.data.old.records import Rows
from faultatlas.miner.archive import Exchange
from faultatlas.miner.posts import naming
from faultatlas.miner.posts.dump_rows import rows_of_dump
from faultatlas.miner.sources import source

Start = Callable[..., Posting]
SITE = "stackoverflow.com"


def read(said: Any, **request: Any) -> Rows:
    exchange = Exchange(
        run_id="r",
        source="stackoverflow",
        project=f"stackoverflow:{SITE}",
        request={"kind": "questions", "answers": True, "comments": True, **request},
        url="/questions",
        final_url="/questions",
        status=200,
        headers={},
        fetched_at=datetime(2026, 1, 1),  # noqa: DTZ001  (UTC)
        body=said if isinstance(said, bytes) else json.dumps(said).encode(),
    )
    return source("stackoverflow").read(exchange, lambda login: login)


@pytest.mark.parametrize(
    "name", ["api_question_page", "api_question_page_2", "api_question_backoff_page"]
)
def test_real_pages_are_understood(study_fixtures: Path, name: str) -> None:
    said = (study_fixtures / "stackexchange" / f"{name}.json").read_bytes()
    rows = read(said)
    items = json.loads(said)["items"]
    assert [post.post_id for post in rows.posts] == [item["question_id"] for item in items]
    assert {reply.comment_id for reply in rows.replies} == {
        *(f"stackoverflow:a/{each['answer_id']}" for item in items for each in item["answers"]),
        *(f"stackoverflow:comment/{c['comment_id']}" for item in items for c in item["comments"]),
    }
    first = rows.posts[0]
    assert (first.author, first.tags, first.view_count) == ("3", ("python", "pandas"), 17)
    assert first.updated_at == datetime(2016, 4, 6, 20, 37, 46)  # noqa: DTZ001  (UTC)
    assert {reply.artifact_id for reply in rows.replies} == {
        post.artifact_id for post in rows.posts
    }


def as_dump(question: Question) -> tuple[bytes, bytes, bytes]:
    """The rows that a dump has of a question, of its answers, and of comments on both."""
    said = question.payload(SITE)

    def time(seconds: int) -> str:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.123"

    def row(**values: Any) -> bytes:
        known = {name: html.escape(str(v)) for name, v in values.items() if v is not None}
        said = " ".join(f'{name}="{value}"' for name, value in known.items())
        return f"<row {said} />".encode()

    def shared(item: dict[str, Any]) -> dict[str, Any]:
        owner = item["owner"]
        gone = "user_id" not in owner
        return {
            "CreationDate": time(item["creation_date"]),
            "Score": item["score"],
            "Body": item["body"].replace("\n", "\x00"),
            "OwnerUserId": owner.get("user_id"),
            "OwnerDisplayName": html.unescape(owner["display_name"]) if gone else None,
            "LastActivityDate": time(item["last_activity_date"]),
            "ContentLicense": item["content_license"],
        }

    asked = row(
        Id=question.number,
        PostTypeId=1,
        AcceptedAnswerId=said.get("accepted_answer_id"),
        ViewCount=said["view_count"],
        Title=html.unescape(said["title"]),
        Tags="".join(f"<{tag}>" for tag in said["tags"]),
        AnswerCount=said["answer_count"],
        **shared(said),
    )
    answers = [
        row(Id=each["answer_id"], PostTypeId=2, ParentId=question.number, **shared(each))
        for each in said["answers"]
    ]
    comments = [
        row(
            Id=each["comment_id"],
            PostId=each["post_id"],
            Score=each["score"],
            Text=html.unescape(each["body_markdown"]),
            CreationDate=time(each["creation_date"]),
            UserId=each["owner"]["user_id"],
            ContentLicense=each["content_license"],
        )
        for item in (said, *said["answers"])
        for each in item["comments"]
    ]
    return (
        asked.replace(b"\x00", b"&#xA;"),
        b"\n".join(answers).replace(b"\x00", b"&#xA;"),
        b"\n".join(comments),
    )


def test_the_api_and_a_dump_give_equal_rows_for_equal_facts() -> None:
    for question in StackExchange.small().questions:
        told = read({"items": [question.payload(SITE)]})
        asked, answers, comments = as_dump(question)
        assert told.posts == rows_of_dump(asked, "dump questions", SITE, lambda each: each).posts
        replies = rows_of_dump(answers, "dump answers", SITE, lambda each: each).replies
        assert [each for each in told.replies if each.is_answer] == replies
        of = {each.post_id: question.number for each in replies}
        remarks = rows_of_dump(comments, "dump comments", SITE, lambda each: each, of).replies
        assert [each for each in told.replies if not each.is_answer] == remarks
        assert "`a` & which" in str(remarks[0].body)


@pytest.mark.parametrize("first", ["api", "dump"])
def test_a_question_of_both_is_one_row_and_the_newer_activity_wins(
    posting: Start, first: str
) -> None:
    at = posting()
    file = at.study.parent / "Posts.xml"
    rows = [as_dump(each) for each in at.world.questions]
    body = b"\n".join(part for parts in rows for part in parts[:2] if part)
    file.write_bytes(b'<?xml version="1.0" encoding="utf-8"?>\n<posts>\n' + body + b"\n</posts>\n")
    at.world.edit(30, title="Edited since the dump")

    def api() -> None:
        at.fetch("--tag", "keras", "--tag", "tensorflow")

    def dump() -> None:
        at.fetch("--tag", "keras", "--tag", "tensorflow", "--from-dump", file)

    for step in (api, dump) if first == "api" else (dump, api):
        step()
    assert len(at.column("SELECT post_id FROM posts")) == len(at.numbers())
    assert at.column("SELECT title FROM posts WHERE post_id = 30") == ["Edited since the dump"]
    writers = dict(at.rows("SELECT count(*), run_id FROM posts GROUP BY 2"))
    # Unchanged rows belong to the run that brought them.
    assert {*writers} == ({12} if first == "api" else {11, 1})


ODD: dict[str, Any] = {
    "nothing": None,
    "no items": {},
    "items that are none": {"items": [1, "a", None, [], {}]},
    "a number that is none": {"items": [{"question_id": "7"}, {"question_id": True}]},
    "a number below one": {"items": [{"question_id": -1}, {"question_id": 2**70}]},
    "wrong types": {
        "items": [
            {
                "question_id": 7,
                "title": 5,
                "body": ["x"],
                "tags": {"a": 1},
                "score": "9",
                "view_count": -4,
                "owner": "me",
                "creation_date": "today",
                "last_activity_date": 10**30,
                "closed_date": -5,
                "answers": {"a": 1},
                "comments": [3, {"comment_id": None}],
                "accepted_answer_id": 1.5,
            }
        ]
    },
    "half a pair": {"items": [{"question_id": 7, "title": "\ud800", "tags": ["a", 4, "\udfff"]}]},
    "answers inside of nothing": {"items": [{"question_id": 7, "answers": [{"body": "x"}, 7]}]},
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_is_no_crash(name: str) -> None:
    rows = read(ODD[name])
    for row in [*map(asdict, rows.posts), *map(asdict, rows.replies)]:
        json.dumps(row, default=str, ensure_ascii=False).encode()
    assert len(rows.posts) <= 1


def test_answers_that_are_not_all_there_mark_none_as_gone() -> None:
    question = StackExchange.small().find(40).payload(SITE)
    assert read({"items": [question]}).all_replies_of == {"stackoverflow:40": True}
    assert read({"items": [{**question, "answers": []}]}).all_replies_of == {}
    assert read({"items": [question]}, answers=False).all_replies_of == {}


def test_an_account_and_a_name_of_the_same_digits_are_two_people() -> None:
    def author(**owner: Any) -> str | None:
        return read({"items": [{"question_id": 1, "owner": owner}]}).posts[0].author

    assert author(user_id=42, display_name="Ada") == "42"
    assert author(display_name="42") != "42"
    assert author(display_name="Zo&#235; &amp; co") == "Zoë & co"
    assert author(user_id=-1) == "-1"
    assert author() is None


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("stackoverflow", "stackoverflow.com"),
        ("https://Stats.StackExchange.com/questions", "stats.stackexchange.com"),
        ("datascience", "datascience.stackexchange.com"),
        ("mathoverflow", "mathoverflow.net"),
        ("www.superuser.com", "superuser.com"),
        ("datascience.meta", "datascience.meta.stackexchange.com"),
    ],
)
def test_sites_by_their_names(text: str, site: str) -> None:
    assert naming.site_of(text) == site


def old_dump(at: Posting) -> Path:
    """The questions, answers and comments as the server has them now, in two files."""
    parts = [as_dump(each) for each in at.world.questions]
    file = at.study.parent / "Posts.xml"
    posts = b"\n".join(part for each in parts for part in each[:2] if part)
    file.write_bytes(b"<posts>\n" + posts + b"\n</posts>\n")
    comments = b"\n".join(each[2] for each in parts if each[2])
    file.with_name("Comments.xml").write_bytes(b"<comments>\n" + comments + b"\n</comments>\n")
    return file


def test_an_older_dump_undoes_nothing_that_the_site_said(posting: Start, tmp_path: Path) -> None:
    at = posting()
    file = old_dump(at)
    text = file.with_name("Comments.xml")
    text.write_bytes(text.read_bytes().replace(b"`a` &amp;amp; which", b"Older words"))
    text.write_bytes(text.read_bytes().replace(b"`a` &amp; which", b"Older words"))
    assert b"Older words" in text.read_bytes()
    # Since then an answer was deleted, votes came, and question 40 was deleted altogether.
    changed = next(each for each in at.world.questions if len(each.answerers) > 1)
    gone = changed.payload(SITE)["answers"][-1]["answer_id"]
    changed.answerers = changed.answerers[:-1]
    changed.changes = {**changed.changes, "score": 777}
    at.world.delete(40)
    named = tmp_path / "named.csv"
    named.write_text("stackoverflow:40\n")
    at.miner("fetch", "--from", named, "--api-url", at.api_url)
    at.fetch("--tag", "keras", "--tag", "tensorflow")
    before = {reply[0]: reply for reply in at.mined()["reply"]}
    posts = at.mined()["post"]
    at.fetch("--from-dump", file)
    assert at.column("SELECT gone_reason FROM posts WHERE post_id = 40") == ["not found"]
    assert [post for post in at.mined()["post"] if post[2] != 40] == posts
    after = {reply[0]: reply for reply in at.mined()["reply"]}
    assert {name: after[name] for name in before} == before
    assert at.column(
        "SELECT gone_at IS NOT NULL FROM store.reply WHERE comment_id = ?",
        f"stackoverflow:a/{gone}",
    ) == [True]
    mined = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == mined


def test_what_is_newer_in_a_file_comes_in(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "keras", "--tag", "tensorflow")
    rows = """<posts>
<row Id="30" PostTypeId="1" Title="Since then" Tags="|tensorflow|" \
LastActivityDate="2035-01-01T00:00:00" />
<row Id="999999" PostTypeId="2" ParentId="30" CreationDate="2035-01-01T00:00:00" Body="new" />
</posts>"""
    file = at.study.parent / "Posts.xml"
    file.write_text(rows)
    at.fetch("--from-dump", file)
    assert at.column("SELECT title FROM posts WHERE post_id = 30") == ["Since then"]
    assert at.column("SELECT gone_at FROM store.reply WHERE post_id = 999999") == [None]


def test_an_older_file_of_the_data_explorer_fills_nothing_that_the_site_left_empty(
    posting: Start,
) -> None:
    at = posting()
    at.fetch("--tag", "keras", "--tag", "tensorflow")
    before = at.mined()
    file = at.study.parent / "query.csv"
    file.write_text("Id,ClosedDate,LastActivityDate\n30,2011-01-01 00:00:00,2011-01-01 00:00:00\n")
    at.fetch("--from-sede", file)
    assert at.mined() == before


def test_tags_that_no_question_of_a_dump_has(posting: Start) -> None:
    at = posting()
    file = old_dump(at)
    ended = at.run("--tag", "kears", "--from-dump", file)
    assert ended.returncode == 1
    assert "no question on stackoverflow.com has the tag kears" in " ".join(ended.stderr.split())
    assert not at.study.exists()
    ended = at.run("--tag", "kears", "--tag", "keras", "--from-dump", file, "--json")
    assert ended.returncode == 1
    found = json.loads(ended.stdout)
    assert found["unknown_tags"] == ["kears"]
    assert found["stored"]["posts"] > 0

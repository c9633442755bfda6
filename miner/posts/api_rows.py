"""Rows out of the questions that the Stack Exchange API gives, with answers and comments inside.

Titles, names and Markdown come escaped for HTML; bodies of questions and answers are HTML, those
of comments Markdown, as dumps have them. What has the wrong type is a missing value.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from faultatlas.data.old.records import DepartureRow, PostRow, ReplyRow, Rows
from faultatlas.miner.payload import Who, entries, entry, integer, text
from faultatlas.miner.posts import naming
from faultatlas.miner.posts.people import author

if TYPE_CHECKING:
    from faultatlas.miner.archive import Exchange

_MOST_SCORE = 2**31 - 1
_MOST_NUMBER = 2**63 - 1
_YEAR_9999 = 253_402_300_799


def read_questions(exchange: Exchange, who: Who) -> Rows:
    """Questions of a list; of those that were asked for by number, also which are missing."""
    site, request, said = exchange.project.partition(":")[2], exchange.request, exchange.json()
    rows = Rows()
    for item in entries(entry(said, "items")):
        post = _post(item, site, who)
        if post is None:
            continue
        rows.posts.append(post)
        if request.get("accepted") and post.accepted_answer_id is None:
            rows.only_known_posts.append(post.artifact_id)
        answers, remarks = _inside(item, post, who)
        rows.replies += answers + remarks
        if request.get("answers") and len(answers) >= (post.answer_count or 0):
            rows.all_replies_of[post.artifact_id] = bool(request.get("comments"))
    rows.listed += [post.artifact_id for post in rows.posts]
    rows.departures += _departures(exchange, said, rows.listed)
    rows.listed += [reply.comment_id for reply in rows.replies if reply.is_answer]
    return rows


def read_answers(exchange: Exchange) -> Rows:
    """Of answers that were asked for by number, which are there and which are missing."""
    site, said = exchange.project.partition(":")[2], exchange.json()
    there = [naming.answer_id(site, number) for number in questions_of(said)]
    return Rows(listed=there, departures=_departures(exchange, said, there))


def questions_of(said: Any) -> dict[int, int]:
    """The question of each answer in a list."""
    found: dict[int, int] = {}
    for item in entries(entry(said, "items")):
        answer, question = _number(item.get("answer_id")), _number(item.get("question_id"))
        if answer and question:
            found[answer] = question
    return found


def numbers_in(said: Any, kind: str) -> set[int | None]:
    """The numbers of the questions or answers in a list; None for what has no number."""
    items = entry(said, "items")
    return {_number(entry(item, f"{kind}_id")) for item in items or ()}


def moment(value: Any) -> datetime | None:
    """Seconds since 1970, as UTC without a zone."""
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _YEAR_9999
    return datetime.fromtimestamp(value, UTC).replace(tzinfo=None) if sound else None


def _departures(exchange: Exchange, said: Any, there: Collection[str]) -> list[DepartureRow]:
    """What was asked for by number and is missing, unless more is to follow."""
    if entry(said, "has_more") is True:
        return []
    asked, found = exchange.request.get("artifacts", ()), {*there}
    return [DepartureRow(each, "not found") for each in asked if each not in found]


def _post(item: Mapping[str, Any], site: str, who: Who) -> PostRow | None:
    number = _number(item.get("question_id"))
    if number is None:
        return None
    tags = item.get("tags")
    return PostRow(
        artifact_id=naming.question_id(site, number),
        site=site,
        post_id=number,
        title=_plain(item.get("title")),
        body=text(item.get("body")),
        tags=tuple(filter(None, map(text, tags))) if isinstance(tags, list) else (),
        score=_score(item.get("score")),
        view_count=integer(item.get("view_count")),
        answer_count=integer(item.get("answer_count")),
        accepted_answer_id=_number(item.get("accepted_answer_id")),
        author=_author(item, who),
        license=text(item.get("content_license")),
        created_at=moment(item.get("creation_date")),
        edited_at=moment(item.get("last_edit_date")),
        closed_at=moment(item.get("closed_date")),
        updated_at=moment(item.get("last_activity_date")),
        url=naming.question_url(site, number),
    )


def _inside(
    item: Mapping[str, Any], post: PostRow, who: Who
) -> tuple[list[ReplyRow], list[ReplyRow]]:
    """The answers to a question, and the comments on it and on them."""
    answers: list[ReplyRow] = []
    remarks = list(_comments(item, post, post.post_id, who))
    for each in entries(item.get("answers")):
        number = _number(each.get("answer_id"))
        if number is None:
            continue
        answers.append(
            ReplyRow(
                comment_id=naming.answer_id(post.site, number),
                artifact_id=post.artifact_id,
                is_answer=True,
                post_id=number,
                author=_author(each, who),
                body=text(each.get("body")),
                score=_score(each.get("score")),
                license=text(each.get("content_license")),
                created_at=moment(each.get("creation_date")),
                edited_at=moment(each.get("last_edit_date")),
                updated_at=moment(each.get("last_activity_date")),
                url=naming.answer_url(post.site, number),
            )
        )
        remarks += _comments(each, post, number, who)
    return answers, remarks


def _comments(item: Mapping[str, Any], post: PostRow, on: int, who: Who) -> Iterator[ReplyRow]:
    for each in entries(item.get("comments")):
        number = _number(each.get("comment_id"))
        if number is None:
            continue
        yield ReplyRow(
            comment_id=naming.comment_id(post.site, number),
            artifact_id=post.artifact_id,
            is_answer=False,
            post_id=on,
            author=_author(each, who),
            body=_plain(each.get("body_markdown")) or text(each.get("body")),
            score=_score(each.get("score")),
            license=text(each.get("content_license")),
            created_at=moment(each.get("creation_date")),
            edited_at=None,
            updated_at=None,
            url=naming.comment_url(post.site, number),
        )


def _author(item: Mapping[str, Any], who: Who) -> str | None:
    user_id = entry(item, "owner", "user_id")
    known = isinstance(user_id, int) and not isinstance(user_id, bool)
    return author(who, user_id if known else None, _plain(entry(item, "owner", "display_name")))


def _plain(value: Any) -> str | None:
    found = text(value)
    return None if found is None else text(html.unescape(found))


def _number(value: Any) -> int | None:
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_NUMBER
    return value if sound else None


def _score(value: Any) -> int | None:
    sound = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_SCORE
    return value if sound else None

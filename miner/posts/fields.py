"""The filter of our requests: which fields the API gives.

A filter with the answers and comments inside the questions brings a hundred questions with all
that belongs to them in one request. The built-in filter `withbody` would need requests for
answers and comments on top, about six times as many, and the quota is what is scarce. Filters
never change and never expire: one is made once for a study, and found among its responses again.
It names every field, so that nothing of people is sent but who they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.miner.payload import entries, entry, text

if TYPE_CHECKING:
    from faultatlas.data.study import Reader
    from faultatlas.miner.posts.ingest import PostIngest
    from faultatlas.miner.posts.selection import PostSelection

_WRAPPER = (
    "backoff", "error_id", "error_message", "error_name", "has_more", "items", "quota_max",
    "quota_remaining",
)  # fmt: skip
_POST = (
    "body", "content_license", "creation_date", "last_activity_date", "last_edit_date", "owner",
    "score",
)  # fmt: skip
_QUESTION = (
    "accepted_answer_id", "answer_count", "closed_date", "closed_reason", "comment_count", "link",
    "question_id", "tags", "title", "view_count",
)  # fmt: skip
_ANSWER = ("answer_id", "comment_count", "is_accepted", "question_id")
_COMMENT = (  # dumps have comments in Markdown
    "body_markdown", "comment_id", "content_license", "creation_date", "edited", "owner", "post_id",
    "score",
)  # fmt: skip
_USER = ("display_name", "user_id", "user_type")


def filter_for(ingest: PostIngest, selection: PostSelection) -> str:
    """The filter, made by one request if the study does not have it."""
    wanted = sorted(_fields(answers=selection.answers, comments=selection.comments))
    if ingest.study.exists:
        # Not reading: the run before may have been killed before there were tables.
        with ingest.study.writing(keep_log=True) as writer:
            known = _known(writer, wanted)
        if known:
            return known
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    response = ingest.client.get(
        "/filters/create", {"base": "none", "include": ";".join(wanted), "unsafe": "false"}
    )
    made = _made(response.json())
    if made is None:
        raise StudyError(
            "the server made no filter for our requests", "Check the address of the API."
        )
    # No study is made for a misspelt tag.
    ingest.waiting.append(ingest.exchange(response, {"kind": "filter", "include": wanted}))
    return made


def _fields(*, answers: bool, comments: bool) -> Iterator[str]:
    yield from (f".{name}" for name in _WRAPPER)
    yield from (f"question.{name}" for name in (*_POST, *_QUESTION))
    yield from (f"shallow_user.{name}" for name in _USER)
    if answers:
        yield "question.answers"
        yield from (f"answer.{name}" for name in (*_POST, *_ANSWER))
    if comments:
        yield "question.comments"
        yield from (f"comment.{name}" for name in _COMMENT)
    if answers and comments:
        yield "answer.comments"


def _known(reader: Reader, wanted: list[str]) -> str | None:
    from faultatlas.miner.archive import exchange_of_row

    rows = reader.rows(
        "SELECT * FROM store.response WHERE source = 'stackoverflow' AND request = ? "
        "ORDER BY number DESC LIMIT 1",
        [json.dumps({"include": wanted, "kind": "filter"}, sort_keys=True)],
    )
    return _made(exchange_of_row(rows[0]).json()) if rows else None


def _made(said: Any) -> str | None:
    names = (text(item.get("filter")) for item in entries(entry(said, "items")))
    return next((name for name in names if name), None)

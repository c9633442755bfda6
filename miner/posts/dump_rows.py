"""Rows of a data dump, read with a real XML parser: what a stored part of a dump means.

A dump is one `<row .../>` after the other, everything in attributes. A part of one is some of
its rows, byte for byte, with a line feed between. No `<` can stand inside an attribute, so a
row begins wherever one is. Only XML's own five entities and character references are
understood: a row comes without a document type, so there is nothing that could expand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, cast
from xml.parsers import expat

from faultatlas.data.old.records import PostRow, ReplyRow, Rows
from faultatlas.miner.posts import naming
from faultatlas.miner.posts.people import author

if TYPE_CHECKING:
    from faultatlas.miner.archive import Exchange
    from faultatlas.miner.payload import Who

Kind = Literal["dump questions", "dump answers", "dump comments"]
KINDS: tuple[Kind, ...] = ("dump questions", "dump answers", "dump comments")

QUESTION, ANSWER = "1", "2"
_OTHER_TYPES = {
    "3": "wiki",
    "4": "tag wiki excerpt",
    "5": "tag wiki",
    "6": "moderator nomination",
    "7": "wiki placeholder",
    "8": "privilege wiki",
}
_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z?")
_OLDEST, _NEWEST = datetime(1970, 1, 1), datetime(2200, 1, 1)  # noqa: DTZ001  (UTC, as stored)
_SMALL = 2**31
_BRACKETED = re.compile(r"<([^<>]+)>")

Attributes = dict[str, str]


class DamagedRow(Exception):  # noqa: N818  (it is what the row is)
    """Why a row cannot be read."""


def read_part(exchange: Exchange, who: Who) -> Rows:
    """The rows of a stored part of a dump."""
    asked = exchange.request
    answers = {int(number): question for number, question in asked.get("answers", {}).items()}
    return rows_of_dump(exchange.body, cast("Kind", exchange.kind), asked["site"], who, answers)


def rows_of_dump(
    body: bytes, kind: Kind, site: str, who: Who, answers: Mapping[int, int] | None = None
) -> Rows:
    """The same of its bytes; `answers` has the questions of answers that comments are on."""
    rows = Rows(is_from_file=True)
    for raw in raw_rows(body):
        try:
            found = attributes(raw)
            if kind == "dump questions":
                rows.posts.append(question_row(found, site, who))
            elif kind == "dump answers":
                rows.replies.append(answer_row(found, site, who))
            else:
                rows.replies.append(comment_row(found, site, who, answers or {}))
        except DamagedRow:  # never stored; a part may have been changed by hand
            continue
    return rows


def raw_rows(body: bytes) -> list[bytes]:
    """The rows that a part is made of."""
    return [b"<" + part.rstrip() for part in body.split(b"<")[1:]]


def attributes(raw: bytes) -> Attributes:
    """The attributes of a row."""
    found: list[tuple[str, Attributes]] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, values: found.append((name, values))
    try:
        parser.Parse(raw if raw.endswith(b"/>") else raw + b"</row>", True)
    except expat.ExpatError as error:
        raise DamagedRow(expat.ErrorString(error.code)) from None
    if len(found) != 1 or found[0][0] != "row":
        raise DamagedRow("not a row")
    return found[0][1]


def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a question in their order: `<a><b>` until 2023, `|a|b|` since."""
    text = text.strip()
    separated = _BRACKETED.findall(text) if text.startswith("<") else text.split("|")
    return tuple(tag.strip() for tag in separated if tag.strip())


def type_name(number: str) -> str:
    """What a post is that is neither question nor answer."""
    return _OTHER_TYPES.get(number, f"post type {number[:9]}")


def question_row(row: Attributes, site: str, who: Who) -> PostRow:
    """A question; `who` is that of the site."""
    number = number_of(row, "Id")
    return PostRow(
        artifact_id=naming.question_id(site, number),
        site=site,
        post_id=number,
        title=row.get("Title"),
        body=row.get("Body"),
        tags=tags_of(row.get("Tags", "")),
        score=_count(row, "Score"),
        view_count=_count(row, "ViewCount"),
        answer_count=_count(row, "AnswerCount"),
        accepted_answer_id=number_of(row, "AcceptedAnswerId")
        if "AcceptedAnswerId" in row
        else None,
        author=_author(row, who, "Owner"),
        license=row.get("ContentLicense"),
        created_at=time_of(row, "CreationDate"),
        edited_at=time_of(row, "LastEditDate"),
        closed_at=time_of(row, "ClosedDate"),
        updated_at=time_of(row, "LastActivityDate"),
        url=naming.question_url(site, number),
    )


def answer_row(row: Attributes, site: str, who: Who) -> ReplyRow:
    """An answer."""
    number = number_of(row, "Id")
    return ReplyRow(
        comment_id=naming.answer_id(site, number),
        artifact_id=naming.question_id(site, number_of(row, "ParentId")),
        is_answer=True,
        post_id=number,
        author=_author(row, who, "Owner"),
        body=row.get("Body"),
        score=_count(row, "Score"),
        license=row.get("ContentLicense"),
        created_at=time_of(row, "CreationDate"),
        edited_at=time_of(row, "LastEditDate"),
        updated_at=time_of(row, "LastActivityDate"),
        url=naming.answer_url(site, number),
    )


def comment_row(row: Attributes, site: str, who: Who, answers: Mapping[int, int]) -> ReplyRow:
    """A comment on a question, or on one of the `answers`, which have their questions."""
    number, post = number_of(row, "Id"), number_of(row, "PostId")
    return ReplyRow(
        comment_id=naming.comment_id(site, number),
        artifact_id=naming.question_id(site, answers.get(post, post)),
        is_answer=False,
        post_id=post,
        author=_author(row, who, "User"),
        body=row.get("Text"),
        score=_count(row, "Score"),
        license=row.get("ContentLicense"),
        created_at=time_of(row, "CreationDate"),
        edited_at=None,
        updated_at=None,
        url=naming.comment_url(site, number),
    )


def number_of(row: Attributes, name: str) -> int:
    """The number of a post."""
    text = row.get(name)
    if text is None:
        raise DamagedRow(f"no {name}")
    if not _NUMBER.fullmatch(text) or int(text) < 1:
        raise DamagedRow(f"{name} is no number")
    return int(text)


def time_of(row: Attributes, name: str) -> datetime | None:
    """A time in whole seconds, as the API tells it; dumps are in UTC and do not say so."""
    text = row.get(name)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text[:19]) if _TIME.fullmatch(text) else None
    except ValueError:
        found = None
    if found is None or not _OLDEST <= found < _NEWEST:
        raise DamagedRow(f"{name} is no time")
    return found


def _count(row: Attributes, name: str) -> int | None:
    text = row.get(name, "")
    value = int(text) if _NUMBER.fullmatch(text) else None
    return value if value is not None and -_SMALL <= value < _SMALL else None


def _author(row: Attributes, who: Who, role: str) -> str | None:
    number = row.get("UserId" if role == "User" else "OwnerUserId", "")
    user = int(number) if _NUMBER.fullmatch(number) else None
    return author(who, user, row.get(f"{role}DisplayName"))

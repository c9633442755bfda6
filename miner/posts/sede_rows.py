"""Rows out of a CSV file of the Stack Exchange Data Explorer: of the table Posts, any columns.

A file may have few columns, and one that is not there says nothing: what the study knows from
elsewhere stays. An empty cell says that there is nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from faultatlas.data.old.records import PostRow, ReplyRow, Rows
from faultatlas.miner.payload import Who, moment, text
from faultatlas.miner.posts import naming
from faultatlas.miner.posts.dump_rows import tags_of
from faultatlas.miner.posts.people import author

LONGEST_CELL = 10_000_000
_NUMBER = re.compile(r"-?[0-9]{1,18}")
QUESTION, ANSWER = 1, 2
_MOST = 2**31 - 1

Cells = Mapping[str, str]

# Columns and what they tell; any other is not even stored: it may hold names.
_FIELDS = {
    "title": "title",
    "body": "body",
    "tags": "tags",
    "score": "score",
    "viewcount": "view_count",
    "answercount": "answer_count",
    "acceptedanswerid": "accepted_answer_id",
    "owneruserid": "author",
    "ownerdisplayname": "author",
    "userlink": "author",
    "contentlicense": "license",
    "creationdate": "created_at",
    "lasteditdate": "edited_at",
    "closeddate": "closed_at",
    "lastactivitydate": "updated_at",
}
KNOWN = frozenset({"id", "postlink", "posttypeid", "parentid", *_FIELDS})


def rows_of_sede(body: bytes, site: str, who: Who) -> Rows:
    """Questions and answers; what is neither is left out."""
    csv.field_size_limit(LONGEST_CELL)
    lines = csv.reader(io.StringIO(body.decode("utf-8", "replace"), newline=""))
    header = columns(next(lines, []))
    rows = Rows(
        is_from_file=True, told=frozenset(_FIELDS[name] for name in header if name in _FIELDS)
    )
    for line in lines:
        cells = dict(zip(header, line, strict=False))
        number, kind = post_number(cells), kind_of(cells)
        if number is None:
            continue
        if kind == QUESTION:
            rows.posts.append(_post(cells, number, site, who))
        elif kind == ANSWER and (question := integer(cells, "parentid")):
            rows.replies.append(_answer(cells, number, question, site, who))
    return rows


def columns(header: Sequence[str]) -> list[str]:
    """The names of columns without case, spaces and marks: `Post Link` is `postlink`."""
    return [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]


def post_number(cells: Cells) -> int | None:
    """The number of a post, which a column `Post Link` has as well."""
    found = integer(cells, "id")
    found = integer(cells, "postlink") if found is None else found
    return found if found and found > 0 else None


def kind_of(cells: Cells) -> int:
    """1 for a question, 2 for an answer; others are of no use here."""
    said = integer(cells, "posttypeid")
    if said is not None:
        return said
    return ANSWER if cells.get("parentid", "").strip() else QUESTION


def integer(cells: Cells, name: str) -> int | None:
    """A whole number in a cell."""
    value = cells.get(name, "").strip()
    return int(value) if _NUMBER.fullmatch(value) else None


def owner(cells: Cells) -> tuple[int | None, str | None]:
    """The number of whoever wrote a post, which a column `User Link` has as well, and a name."""
    number = integer(cells, "owneruserid")
    number = integer(cells, "userlink") if number is None else number
    return number, cells.get("ownerdisplayname")


def _post(cells: Cells, number: int, site: str, who: Who) -> PostRow:
    return PostRow(
        artifact_id=naming.question_id(site, number),
        site=site,
        post_id=number,
        title=_words(cells, "title"),
        body=_words(cells, "body"),
        tags=tags_of(cells.get("tags", "")),
        score=_count(cells, "score"),
        view_count=_count(cells, "viewcount"),
        answer_count=_count(cells, "answercount"),
        accepted_answer_id=integer(cells, "acceptedanswerid"),
        author=_author(cells, who),
        license=_words(cells, "contentlicense"),
        created_at=_time(cells, "creationdate"),
        edited_at=_time(cells, "lasteditdate"),
        closed_at=_time(cells, "closeddate"),
        updated_at=_time(cells, "lastactivitydate"),
        url=naming.question_url(site, number),
    )


def _answer(cells: Cells, number: int, question: int, site: str, who: Who) -> ReplyRow:
    return ReplyRow(
        comment_id=naming.answer_id(site, number),
        artifact_id=naming.question_id(site, question),
        is_answer=True,
        post_id=number,
        author=_author(cells, who),
        body=_words(cells, "body"),
        score=_count(cells, "score"),
        license=_words(cells, "contentlicense"),
        created_at=_time(cells, "creationdate"),
        edited_at=_time(cells, "lasteditdate"),
        updated_at=_time(cells, "lastactivitydate"),
        url=naming.answer_url(site, number),
    )


def _author(cells: Cells, who: Who) -> str | None:
    return author(who, *owner(cells))


def _words(cells: Cells, name: str) -> str | None:
    return text(cells.get(name)) or None


def _count(cells: Cells, name: str) -> int | None:
    found = integer(cells, name)
    return found if found is not None and abs(found) <= _MOST else None


def _time(cells: Cells, name: str) -> datetime | None:
    return naming.to_the_second(moment(cells.get(name, "").strip()))

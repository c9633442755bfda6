"""Data dumps of Stack Exchange that tests make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

SITE = "stackoverflow.com"


def row(**values: Any) -> str:
    """A row as Stack Exchange writes it."""
    said = (f'{name}="{attribute(str(text))}"' for name, text in values.items() if text is not None)
    return f"<row {' '.join(said)} />"


def attribute(text: str) -> str:
    return escape(text, {'"': "&quot;", "\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;"})


def question(number: int, tags: str = "|keras|", body: str = "<p>Why?</p>\n", **more: Any) -> str:
    usual = {
        "AcceptedAnswerId": None,
        "CreationDate": "2020-01-02T03:04:05.678",
        "Score": 3,
        "ViewCount": 40,
        "Body": body,
        "OwnerUserId": 7,
        "LastActivityDate": "2020-02-03T04:05:06.789",
        "Title": "Loss is NaN",
        "Tags": tags,
        "AnswerCount": 1,
        "ContentLicense": "CC BY-SA 4.0",
    }
    return row(Id=number, PostTypeId=1, **{**usual, **more})


def answer(number: int, parent: int, body: str = "<p>So.</p>", **more: Any) -> str:
    usual = {
        "CreationDate": "2020-01-03T03:04:05.678",
        "Score": 1,
        "Body": body,
        "OwnerDisplayName": "Jane",
        "LastActivityDate": "2020-01-03T03:04:05.678",
    }
    return row(Id=number, PostTypeId=2, ParentId=parent, **{**usual, **more})


def comment(number: int, post: int, text: str = "Which version?", **more: Any) -> str:
    usual = {"Score": 0, "Text": text, "CreationDate": "2020-01-04T00:00:00.000", "UserId": 8}
    return row(Id=number, PostId=post, **{**usual, **more})


def document(
    rows: Iterable[str], root: str = "posts", newline: str = "\n", mark: str = "\ufeff"
) -> bytes:
    lines = [f'{mark}<?xml version="1.0" encoding="utf-8"?>', f"<{root}>"]
    lines += [f"  {each}" for each in rows]
    return newline.join([*lines, f"</{root}>"]).encode()


def small_dump() -> list[str]:
    """Sixty questions in both spellings of tags, answers of which some come early, tag wikis."""
    rows = []
    for number in range(1, 61):
        tags = ("|keras|python|", "<tensorflow><c++>", "|pandas|", "<keras-layer>")[number % 4]
        accepted = 1000 + number if number % 3 == 0 else None
        rows += [question(number, tags, f"<p>{'why ' * number}</p>", AcceptedAnswerId=accepted)]
        rows += [answer(1000 + number, number % 50 + 1), answer(2000 + number, 61 - number)]
    return [*rows, row(Id=5000, PostTypeId=4, Body="excerpt"), row(Id=5001, PostTypeId=5)]


def small_comments() -> list[str]:
    posts = [*range(1, 61), *range(1001, 1061), *range(2001, 2061), 9999]
    return [comment(number, post) for number, post in enumerate(posts, 1)]

"""Questions as the Stack Exchange API words them, made up."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

START = 1_500_000_000
_TAGS = (("tensorflow", "python"), ("keras", "python"), ("tensorflow", "keras"))
USERS: dict[int, str] = {
    11: "Ada L.",
    12: "Grace O'Hopper",
    13: "user13",
    14: "Zoë",
}


@dataclass
class Question:
    """What makes a question; the rest follows from its number."""

    number: int
    created: int
    active: int
    tags: tuple[str, ...]
    asker: int | None = 11  # None: the account is gone
    answerers: tuple[int | None, ...] = ()
    accepted: int | None = None  # the place among its answers
    remarks: int = 1  # comments on the question, and on each answer
    changes: dict[str, Any] = field(default_factory=dict)
    answer_changes: dict[int, dict[str, Any]] = field(default_factory=dict)  # by place

    def answer_number(self, place: int) -> int:
        return self.number * 100 + place

    def payload(self, site: str) -> dict[str, Any]:
        answers = [self._answer(place, each, site) for place, each in enumerate(self.answerers)]
        made: dict[str, Any] = {
            "question_id": self.number,
            "title": html.escape(f'Why is loss "nan" in <model> {self.number} & how?'),
            "body": f"<p>Question {self.number}: <code>model.fit(x)</code></p>\n",
            "tags": list(self.tags),
            "score": self.number % 7 - 2,
            "view_count": self.number * 3,
            "answer_count": len(answers),
            "comment_count": self.remarks,
            "creation_date": self.created,
            "last_activity_date": self.active,
            "content_license": "CC BY-SA 4.0",
            "is_answered": bool(answers),
            "link": f"https://{site}/questions/{self.number}/why-is-loss-nan",
            "owner": owner(self.asker),
            "answers": answers,
            "comments": [self._comment(self.number, at) for at in range(self.remarks)],
        }
        if self.accepted is not None:
            made["accepted_answer_id"] = self.answer_number(self.accepted)
        return made | deepcopy(self.changes)

    def _answer(self, place: int, user: int | None, site: str) -> dict[str, Any]:
        number = self.answer_number(place)
        made = {
            "answer_id": number,
            "question_id": self.number,
            "body": f"<p>Answer {number}: lower the rate.</p>\n",
            "score": place,
            "is_accepted": place == self.accepted,
            "creation_date": self.created + 600 + place,
            "last_activity_date": self.created + 600 + place,
            "content_license": "CC BY-SA 4.0",
            "comment_count": self.remarks,
            "link": f"https://{site}/a/{number}",
            "owner": owner(user),
            "comments": [self._comment(number, at) for at in range(self.remarks)],
        }
        return made | deepcopy(self.answer_changes.get(place, {}))

    def _comment(self, on: int, at: int) -> dict[str, Any]:
        return {
            "comment_id": on * 10 + at + (0 if on == self.number else 10_000_000),
            "post_id": on,
            "body": f"Comment {at} on {on}: <code>a</code> &amp; which version?",
            "body_markdown": f"Comment {at} on {on}: `a` &amp; which version?",
            "score": at,
            "edited": False,
            "creation_date": self.created + 700 + at,
            "content_license": "CC BY-SA 4.0",
            "owner": owner(13),
        }


def owner(user: int | None) -> dict[str, Any]:
    """Who wrote something; of a deleted account there is only a name."""
    if user is None:
        return {"user_type": "does_not_exist", "display_name": "user4711"}
    name = USERS.get(user, f"user{user}")
    return {
        "user_type": "registered",
        "user_id": user,
        "display_name": html.escape(name),
        "reputation": 100 + user,
        "profile_image": f"https://i.sstatic.net/{user}.png",
        "link": f"https://stackoverflow.com/users/{user}/somebody",
    }


def generated(
    count: int, first: int = 10, at: int = START, tags: tuple[str, ...] = ()
) -> Iterator[Question]:
    """Questions an hour apart, every third with both tags, some answered and accepted."""
    for index in range(count):
        number, created = first + index * 10, at + index * 3600
        answerers: tuple[int | None, ...] = (12, 14, None)[: index % 4]
        yield Question(
            number,
            created,
            created + (1800 if answerers else 0),
            tags or _TAGS[index % len(_TAGS)],
            asker=None if index % 5 == 4 else 11,
            answerers=answerers,
            accepted=0 if len(answerers) > 1 else None,
        )


def selected(kind: str, item: dict[str, Any], fields: set[str]) -> dict[str, Any]:
    """The fields of an item that a filter lets through."""
    inner = {"owner": "shallow_user", "answers": "answer", "comments": "comment"}
    kept: dict[str, Any] = {}
    for name, value in item.items():
        if f"{kind}.{name}" not in fields:
            continue
        if name not in inner:
            kept[name] = value
        elif isinstance(value, list):
            kept[name] = [selected(inner[name], each, fields) for each in value]
        else:
            kept[name] = selected(inner[name], value, fields)
    return json.loads(json.dumps(kept))  # type: ignore[no-any-return]

"""The GitHub of the tutorial: two dozen made-up issues, served as the real one would."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from loopback import Tracker, World, payloads
from loopback.entries import Entry

_HOUR = 3600


@cache
def issues() -> list[dict[str, Any]]:
    """What `tracker.yaml` says, oldest first."""
    return sorted(_document()["issues"], key=lambda issue: (issue["opened"], issue["number"]))


def item_of(issue: dict[str, Any]) -> str:
    """Its id in a study."""
    return f"github:{_document()['repository']}#{issue['number']}"


def world() -> World:
    """A server's state in which the issues have happened."""
    tracker = Tracker(_document()["repository"], 65_600_975, [])
    for issue in issues():
        number, opened = issue["number"], _second(issue["opened"])
        labels, is_pull = tuple(issue["labels"]), issue.get("pull", False)
        entry = Entry(number, 3_000_000_000 + number, opened, opened, None, 0, labels, is_pull)
        texts = {"title": issue["title"], "body": issue["body"]}
        # Comments are by USERS[number % len(USERS)]: somebody else.
        who = {"user": payloads.USERS[(number + 1) % len(payloads.USERS)]}
        tracker.store(payloads.issue(entry, tracker.name) | texts | who)
        for place, comment in enumerate(issue["comments"], 1):
            tracker.touch(number, opened + place * _HOUR, comment)
        if "closed" in issue:
            tracker.touch(number, _second(issue["closed"]), state="closed")
    return World(tracker)


@cache
def _document() -> dict[str, Any]:
    text = Path(__file__).with_name("tracker.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def _second(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, 9, tzinfo=UTC).timestamp())

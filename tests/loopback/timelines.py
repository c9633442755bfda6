"""Timelines: what happened to an issue, made up from its payload."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from loopback.payloads import API, USERS, WEB, Payload, instant, node_id, zulu

if TYPE_CHECKING:
    from loopback.tracker import Tracker


def timeline(tracker: Tracker, number: int) -> list[Payload]:
    """All events of an issue with its comments, oldest first, as the REST API gives them."""
    events = list(tracker.events.get(number) or made_up(tracker, number))
    for remark in tracker.comments_of(number):
        comment = tracker.comment_payload(remark)
        events.append({**comment, "actor": comment["user"], "event": "commented"})
    return sorted(events, key=_when)


def made_up(tracker: Tracker, number: int) -> list[Payload]:
    """What must have happened to an issue that looks as it does."""
    entry, payload = tracker.entries[number], tracker.payload(number)
    name, last = tracker.name, entry.closed or entry.updated
    events = [
        happening(name, number, "labeled", entry.created + i, USERS[i], label=_short(label))
        for i, label in enumerate(payload["labels"])
    ]
    if number % 9 == 1:
        rename = {"from": f"{payload['title']} ?", "to": payload["title"]}
        events.append(happening(name, number, "renamed", entry.created, USERS[2], rename=rename))
    if entry.is_pull:
        events.append(_commit(name, number, entry.created))
    elif number % 6 == 0:
        sha = _sha(name, number)
        commit = {"commit_id": sha, "commit_url": f"{API}/repos/{name}/commits/{sha}"}
        events.append(happening(name, number, "referenced", last, USERS[1], **commit))
    if number % 4 == 0 and number - 1 in tracker.entries:
        other = tracker.payload(number - 1)
        moment = zulu((entry.created + last) // 2)
        events.append(
            {
                "actor": other["user"],
                "created_at": moment,
                "updated_at": moment,
                "source": {"type": "issue", "issue": other},
                "event": "cross-referenced",
            }
        )
    if entry.closed is not None:
        events.append(_closing(name, payload, entry.closed))
    elif payload.get("state_reason") == "reopened":
        closer = payload["closed_by"]  # GitHub keeps it when an issue is opened again
        events.append(happening(name, number, "closed", entry.created, closer, state_reason=None))
        events.append(happening(name, number, "reopened", entry.updated, USERS[0]))
    return events


def happening(
    name: str, number: int, event: str, at: int, actor: Payload | None, **more: Any
) -> Payload:
    """One event of an issue; every event has an id of its own. Deleted accounts are None."""
    said = f"{name} {number} {event} {at} {more.get('label')}"
    identity = int.from_bytes(hashlib.blake2b(said.encode(), digest_size=4).digest())
    return {
        "id": 9_000_000_000 + identity,
        "node_id": node_id("EV", identity),
        "url": f"{API}/repos/{name}/issues/events/{9_000_000_000 + identity}",
        "actor": actor,
        "event": event,
        "commit_id": None,
        "commit_url": None,
        "created_at": zulu(at),
        **more,
        "performed_via_github_app": None,
    }


def _closing(name: str, payload: Payload, at: int) -> Payload:
    number = payload["number"]
    more: dict[str, Any] = {"state_reason": payload.get("state_reason")}
    if number % 5 == 2:  # by a commit
        sha = _sha(name, number + 1)
        more |= {"commit_id": sha, "commit_url": f"{API}/repos/{name}/commits/{sha}"}
    return happening(name, number, "closed", at, payload["closed_by"], **more)


def _commit(name: str, number: int, at: int) -> Payload:
    """A commit of a pull request: no actor, no time of its own."""
    sha = _sha(name, number)
    person = {"name": "Ada Lindqvist", "email": "ada@example.org", "date": zulu(at)}
    url = f"{API}/repos/{name}/git/commits/{sha}"
    return {
        "sha": sha,
        "node_id": node_id("C", number),
        "url": url,
        "html_url": f"{WEB}/{name}/commit/{sha}",
        "author": person,
        "committer": person,
        "tree": {"sha": sha[::-1], "url": url.replace("commits", "trees")},
        "message": "Handle empty batches",
        "parents": [],
        "verification": {
            "verified": False,
            "reason": "unsigned",
            "signature": None,
            "payload": None,
            "verified_at": None,
        },
        "event": "committed",
    }


def _when(event: Payload) -> int:
    return instant(event.get("created_at") or event["author"]["date"])


def _short(label: Payload) -> Payload:
    return {"name": label["name"], "color": label["color"]}


def _sha(name: str, number: int) -> str:
    return hashlib.sha1(f"{name} {number}".encode(), usedforsecurity=False).hexdigest()

"""Payloads in GitHub's form that the project makes up itself: users, issues, comments.

Everything is a function of numbers, so that a server of 100,000 issues keeps none of them.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from functools import cache
from typing import Any

from loopback.entries import Entry

API = "https://api.github.com"
WEB = "https://github.com"
Payload = dict[str, Any]

PEOPLE = (
    ("ada-lindqvist", 1803211, "User"),
    ("bkowalski", 29417755, "User"),
    ("chen-wei-ml", 40911283, "User"),
    ("dorotea", 733104, "User"),
    ("ghost", 10137, "User"),  # who stands for every deleted account
    ("e-okafor", 61002934, "User"),
    ("github-actions[bot]", 41898282, "Bot"),
    ("fumiko-t", 5582107, "User"),
    ("gradient-gus", 87160042, "User"),
)
ASSOCIATIONS = ("MEMBER", "CONTRIBUTOR", "NONE", "COLLABORATOR", "OWNER")
REMARKS = (
    "I can reproduce this with the latest release.",
    "Could you share the **full** traceback?\n\n```\nRuntimeError: shape mismatch\n```",
    "Thanks! Fixed on the main branch — closing.",
    "Same here: the loss becomes `nan` after the first epoch. 😕",
    "> does it happen on the CPU too?\n\nYes, it does.",
    "",  # GitHub keeps empty comments of old imports
    "我也遇到了同样的问题。",
)
SUBJECTS = (
    "Loss is nan after the first epoch",
    "Wrong output shape with batch size 1",
    "Add a warm-up to the learning rate schedule",
    "Memory grows with every call of `fit`",
    "Documentation: default of `axis` is wrong",
    "“Unicode” in column names crashes the reader",
)


def instant(text: str) -> int:
    """Seconds since 1970 of an ISO 8601 time; without a zone it is UTC."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def zulu(seconds: int) -> str:
    """A time as GitHub writes it."""
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}Z"


def node_id(prefix: str, *numbers: int) -> str:
    """A global id as GitHub's: opaque, unique for the prefix and the numbers."""
    text = ".".join(map(str, numbers)).encode()
    return f"{prefix}_kw{base64.urlsafe_b64encode(text).decode().rstrip('=')}"


def user(login: str, number: int, kind: str = "User") -> Payload:
    url = f"{API}/users/{login}"
    return {
        "login": login,
        "id": number,
        "node_id": node_id("BOT" if kind == "Bot" else "U", number),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{number}?v=4",
        "gravatar_id": "",
        "url": url.replace("[", "%5B").replace("]", "%5D"),
        "html_url": f"{WEB}/apps/{login[:-5]}" if kind == "Bot" else f"{WEB}/{login}",
        **{
            f"{name}_url": f"{url}/{path}".replace("[", "%5B").replace("]", "%5D")
            for name, path in (
                ("followers", "followers"),
                ("following", "following{/other_user}"),
                ("gists", "gists{/gist_id}"),
                ("starred", "starred{/owner}{/repo}"),
                ("subscriptions", "subscriptions"),
                ("organizations", "orgs"),
                ("repos", "repos"),
                ("events", "events{/privacy}"),
                ("received_events", "received_events"),
            )
        },
        "type": kind,
        "user_view_type": "public",
        "site_admin": False,
    }


USERS = tuple(user(*person) for person in PEOPLE)


@cache
def label(repository: str, name: str) -> Payload:
    number = 2_000_000_000 + sum(ord(c) * (i + 1) for i, c in enumerate(name))
    return {
        "id": number,
        "node_id": node_id("LA", number),
        "url": f"{API}/repos/{repository}/labels/{name.replace(' ', '%20')}",
        "name": name,
        "color": f"{number % 0xFFFFFF:06x}",
        "default": name in {"bug", "enhancement", "documentation", "question"},
        "description": "",
    }


def reactions(url: str) -> Payload:
    kinds = ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {"url": f"{url}/reactions", **dict.fromkeys(kinds, 0)}


def issue(entry: Entry, repository: str) -> Payload:
    """The payload of an issue or pull request as lists and single requests give it."""
    n = entry.number
    url = f"{API}/repos/{repository}/issues/{n}"
    kind = "pull" if entry.is_pull else "issues"
    closed = entry.closed is not None
    author = USERS[(n * 7) % len(USERS)]
    made: Payload = {
        "url": url,
        "repository_url": f"{API}/repos/{repository}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{WEB}/{repository}/{kind}/{n}",
        "id": entry.id,
        "node_id": node_id("PR" if entry.is_pull else "I", entry.id),
        "number": n,
        "title": f"{SUBJECTS[n % len(SUBJECTS)]} ({n})",
        "user": author,
        "labels": [label(repository, name) for name in entry.labels],
        "state": entry.state,
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": entry.comments,
        "created_at": zulu(entry.created),
        "updated_at": zulu(entry.updated),
        "closed_at": zulu(entry.closed) if entry.closed is not None else None,
        "author_association": ASSOCIATIONS[(n * 3) % len(ASSOCIATIONS)],
        "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
        "active_lock_reason": None,
    }
    if entry.is_pull:
        pull = f"{WEB}/{repository}/pull/{n}"
        made["draft"] = n % 5 == 0 and not closed
        made["pull_request"] = {
            "url": f"{API}/repos/{repository}/pulls/{n}",
            "html_url": pull,
            "diff_url": f"{pull}.diff",
            "patch_url": f"{pull}.patch",
            "merged_at": made["closed_at"] if n % 3 else None,
        }
    made |= {
        "body": None
        if n % 11 == 0
        else f"### What happens\r\n\r\n{SUBJECTS[n % 6]}.\r\n\r\n{_trace(n)}",
        "closed_by": USERS[n % 4] if closed else None,
        "reactions": reactions(url),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": _reason(entry) if closed and not entry.is_pull else None,
    }
    return made


def _trace(n: int) -> str:
    return f"```python\nmodel.fit(x, y, epochs={n % 9 + 1})\n```\n" * (1 + n % 4)


def _reason(entry: Entry) -> str:
    return "not_planned" if entry.number % 9 == 0 else "completed"


def comment(
    repository: str,
    number: int,
    identity: int,
    author: Payload,
    written: int,
    edited: int,
    *,
    is_pull: bool = False,
) -> Payload:
    """A comment of issue `number`; what it says depends on its id."""
    page = f"{WEB}/{repository}/{'pull' if is_pull else 'issues'}/{number}"
    url = f"{API}/repos/{repository}/issues"
    return {
        "url": f"{url}/comments/{identity}",
        "html_url": f"{page}#issuecomment-{identity}",
        "issue_url": f"{url}/{number}",
        "id": identity,
        "node_id": node_id("IC", identity),
        "user": author,
        "created_at": zulu(written),
        "updated_at": zulu(edited),
        "body": REMARKS[identity % len(REMARKS)],
        "author_association": ASSOCIATIONS[identity % len(ASSOCIATIONS)],
        "reactions": reactions(f"{url}/comments/{identity}"),
        "performed_via_github_app": None,
    }

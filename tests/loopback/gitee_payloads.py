"""Payloads in Gitee's form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from loopback.entries import Entry
from loopback.payloads import USERS, Payload
from loopback.tracker import Remark, Tracker

API = "https://gitee.com/api/v5"
WEB = "https://gitee.com"
CHINA = timezone(timedelta(hours=8))
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FIRST, STEP = 2_300_000, 37  # numbers look like I1DACG and have gaps


def code(number: int) -> str:
    """Gitee's number of an issue."""
    value, text = FIRST + number * STEP, ""
    while value:
        value, digit = divmod(value, 36)
        text = DIGITS[digit] + text
    return f"I{text}"


def number_of(text: str) -> int | None:
    """The issue with that number of Gitee's; upper case counts."""
    if not text.startswith("I") or not set(text[1:]) <= set(DIGITS) or len(text) < 2:
        return None
    number, rest = divmod(int(text[1:], 36) - FIRST, STEP)
    return number if rest == 0 else None


def state_of(tracker: Tracker, entry: Entry) -> str:
    """Gitee knows two kinds of open and two of closed."""
    if entry.closed is None:
        return "progressing" if entry.number % 3 == 0 else "open"
    reason = tracker.payload(entry.number).get("state_reason")
    return "rejected" if reason == "not_planned" else "closed"


def local(time: str | None) -> str | None:
    """A time of GitHub's as Gitee writes it."""
    if time is None:
        return None
    return datetime.fromisoformat(time).astimezone(CHINA).isoformat()


def user(payload: Payload) -> Payload:
    login = payload["login"].removesuffix("[bot]")
    url = f"{API}/users/{login}"
    return {
        "id": payload["id"],
        "login": login,
        "name": login.replace("-", " ").title(),
        "avatar_url": f"{WEB}/assets/no_portrait.png",
        "url": url,
        "html_url": f"{WEB}/{login}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following_url{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": "User",
        "site_admin": False,
    }


def issue(tracker: Tracker, entry: Entry, of: Payload | None = None) -> Payload:
    """An issue; `of` is its repository where the caller has it already."""
    payload = tracker.payload(entry.number)
    number = code(entry.number)
    url = f"{API}/repos/{tracker.name}/issues/{number}"
    state = state_of(tracker, entry)
    return {
        "id": payload["id"],
        "url": url,
        "repository_url": f"{API}/repos/{tracker.name}",
        "labels_url": f"{url}/labels",
        "comments_url": f"{url}/comments",
        "html_url": f"{WEB}/{tracker.name}/issues/{number}",
        "parent_url": None,
        "number": number,
        "state": state,
        "title": payload["title"],
        "body": payload["body"],
        "user": user(payload["user"]),
        "labels": [_label(tracker, label) for label in payload["labels"]],
        "assignee": user(USERS[0]) if state == "progressing" else None,
        "collaborators": [],
        "repository": of or repository(tracker),
        "milestone": None,
        "created_at": local(payload["created_at"]),
        "updated_at": local(payload["updated_at"]),
        "plan_started_at": None,
        "deadline": None,
        "finished_at": local(payload["closed_at"]),
        "scheduled_time": 0.0,
        "comments": payload["comments"],
        "issue_type": "任务" if entry.number % 2 else "Bug-Report",
        "program": None,
        "security_hole": False,
        **({"priority": payload["priority"]} if "priority" in payload else {}),
    }


def comment(tracker: Tracker, remark: Remark) -> Payload:
    payload = tracker.comment_payload(remark)
    about = tracker.payload(remark.number)
    target = {"id": about["id"], "number": code(remark.number), "title": about["title"]}
    return {
        "id": payload["id"],
        "body": payload["body"],
        "user": user(payload["user"]),
        "source": None,
        "target": {"issue": target, "pull_request": None},
        "created_at": local(payload["created_at"]),
        "updated_at": local(payload["updated_at"]),
    }


def repository(tracker: Tracker) -> Payload:
    owner, _, path = tracker.name.partition("/")
    url, web = f"{API}/repos/{tracker.name}", f"{WEB}/{tracker.name}"
    entries = tracker.entries.values()
    start = min((entry.created for entry in entries), default=0)
    created = datetime.fromtimestamp(start, UTC).astimezone(CHINA).isoformat()
    paths: dict[str, Any] = {
        "forks": "/forks", "keys": "/keys{/key_id}",
        "collaborators": "/collaborators{/collaborator}", "hooks": "/hooks",
        "branches": "/branches{/branch}", "tags": "/tags", "blobs": "/blobs{/sha}",
        "stargazers": "/stargazers", "contributors": "/contributors", "commits": "/commits{/sha}",
        "comments": "/comments{/number}", "issue_comment": "/issues/comments{/number}",
        "issues": "/issues{/number}", "pulls": "/pulls{/number}",
        "milestones": "/milestones{/number}",
        "notifications": "/notifications{?since,all,participating}", "labels": "/labels{/name}",
        "releases": "/releases{/id}",
    }  # fmt: skip
    return {
        "id": tracker.id,
        "full_name": tracker.name,
        "human_name": tracker.name,
        "url": url,
        "namespace": {
            "id": tracker.id % 100_000,
            "type": "group",
            "name": owner,
            "path": owner,
            "html_url": f"{WEB}/{owner}",
        },
        "path": path,
        "name": path,
        "owner": user(USERS[0]),
        "description": "",
        "private": tracker.private,
        "public": not tracker.private,
        "internal": False,
        "fork": False,
        "html_url": f"{web}.git",
        "ssh_url": f"git@gitee.com:{tracker.name}.git",
        **{f"{name}_url": url + rest for name, rest in paths.items()},
        "recommend": False,
        "homepage": None,
        "language": "Python",
        "forks_count": 1,
        "stargazers_count": 2,
        "watchers_count": 3,
        "default_branch": "master",
        "open_issues_count": sum(e.closed is None and not e.is_pull for e in entries),
        "has_issues": True,
        "has_wiki": True,
        "issue_comment": False,
        "can_comment": True,
        "pull_requests_enabled": True,
        "has_page": False,
        "license": "Apache-2.0",
        "outsourced": False,
        "project_creator": USERS[0]["login"],
        "members": [USERS[0]["login"]],
        "pushed_at": created,
        "created_at": created,
        "updated_at": created,
        "parent": None,
        "paas": None,
    }


def _label(tracker: Tracker, payload: Payload) -> Payload:
    made = "2020-01-01T08:00:00+08:00"
    return {
        "id": payload["id"],
        "color": payload["color"],
        "name": payload["name"],
        "repository_id": tracker.id,
        "url": f"{API}/repos/{tracker.name}/labels/{payload['name']}",
        "created_at": made,
        "updated_at": made,
    }

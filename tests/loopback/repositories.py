"""Repositories as GitHub describes them, and thousands of them to search in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loopback import payloads
from loopback.entries import START
from loopback.payloads import WEB, Payload, node_id, user, zulu

if TYPE_CHECKING:
    from loopback.tracker import Tracker

DAY_S = 86_400
LANGUAGES = ("Python", "Jupyter Notebook", "C++", "R")
PATHS = {
    "forks": "/forks", "keys": "/keys{/key_id}", "collaborators": "/collaborators{/collaborator}",
    "teams": "/teams", "hooks": "/hooks", "issue_events": "/issues/events{/number}",
    "events": "/events", "assignees": "/assignees{/user}", "branches": "/branches{/branch}",
    "tags": "/tags", "blobs": "/git/blobs{/sha}", "git_tags": "/git/tags{/sha}",
    "git_refs": "/git/refs{/sha}", "trees": "/git/trees{/sha}", "statuses": "/statuses/{sha}",
    "languages": "/languages", "stargazers": "/stargazers", "contributors": "/contributors",
    "subscribers": "/subscribers", "subscription": "/subscription", "commits": "/commits{/sha}",
    "git_commits": "/git/commits{/sha}", "comments": "/comments{/number}",
    "issue_comment": "/issues/comments{/number}", "contents": "/contents/{+path}",
    "compare": "/compare/{base}...{head}", "merges": "/merges",
    "archive": "/{archive_format}{/ref}", "downloads": "/downloads", "issues": "/issues{/number}",
    "pulls": "/pulls{/number}", "milestones": "/milestones{/number}",
    "notifications": "/notifications{?since,all,participating}", "labels": "/labels{/name}",
    "releases": "/releases{/id}", "deployments": "/deployments",
}  # fmt: skip


def described(name: str, identity: int, created: int, pushed: int, **facts: object) -> Payload:
    """A repository's payload; `facts` replace what is made up."""
    owner, _, short = name.partition("/")
    url, web = f"{payloads.API}/repos/{name}", f"{WEB}/{name}"
    made: Payload = {
        "id": identity,
        "node_id": node_id("R", identity),
        "name": short,
        "full_name": name,
        "private": False,
        "owner": user(owner, 9_000_000 + identity % 1_000_000, "Organization"),
        "html_url": web,
        "description": None,
        "fork": False,
        "url": url,
        **{f"{key}_url": url + path for key, path in PATHS.items()},
        "created_at": zulu(created),
        "updated_at": zulu(pushed),
        "pushed_at": zulu(pushed),
        "git_url": f"git://github.com/{name}.git",
        "ssh_url": f"git@github.com:{name}.git",
        "clone_url": f"{web}.git",
        "svn_url": web,
        "homepage": None,
        "size": 1024,
        "stargazers_count": 0,
        "language": "Python",
        "has_issues": True,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": True,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": 0,
        "mirror_url": None,
        "archived": False,
        "disabled": False,
        "open_issues_count": 0,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "public",
        "default_branch": "main",
    }
    made |= facts
    made |= {
        "watchers_count": made["stargazers_count"],
        "watchers": made["stargazers_count"],
        "forks": made["forks_count"],
        "open_issues": made["open_issues_count"],
    }
    return made


def repository(tracker: Tracker) -> Payload:
    """The repository of a tracker."""
    entries = tracker.entries.values()
    return described(
        tracker.name,
        tracker.id,
        created=min((entry.created for entry in entries), default=0),
        pushed=max((entry.updated for entry in entries), default=0),
        private=tracker.private,
        visibility="private" if tracker.private else "public",
        has_issues=tracker.has_issues,
        stargazers_count=1234,
        open_issues_count=sum(entry.closed is None for entry in entries),
    )


@dataclass(slots=True)
class Facts:
    """What searches look at."""

    name: str
    id: int
    created: int
    pushed: int
    stars: int
    language: str
    fork: bool
    archived: bool
    disabled: bool


def facts_of(tracker: Tracker) -> Facts:
    found = repository(tracker)
    entries = tracker.entries.values()
    created = min((entry.created for entry in entries), default=0)
    pushed = max((entry.updated for entry in entries), default=0)
    stars = found["stargazers_count"]
    return Facts(tracker.name, tracker.id, created, pushed, stars, "Python", False, False, False)


def catalogue(count: int, seed: int) -> Iterator[Facts]:
    """Repositories of four hundred days. Every third was created on one and the same day."""
    chance = random.Random(seed)  # noqa: S311 - made-up data, the same each time
    crowded = START + 200 * DAY_S
    for number in range(count):
        start = crowded if number % 3 == 0 else START + chance.randrange(400) * DAY_S
        created = start + chance.randrange(DAY_S)
        yield Facts(
            name=f"lab-{number % 97}/net-{number}",
            id=300_000_000 + number,
            created=created,
            pushed=created + chance.randrange(300 * DAY_S),
            stars=int(chance.paretovariate(0.6)) - 1,
            language=LANGUAGES[0 if chance.random() < 0.7 else chance.randrange(1, 4)],
            fork=number % 11 == 0,
            archived=number % 13 == 0,
            disabled=number % 331 == 1,
        )


def found(facts: Facts) -> Payload:
    """A repository as searches give it."""
    return described(
        facts.name,
        facts.id,
        facts.created,
        facts.pushed,
        stargazers_count=facts.stars,
        language=facts.language,
        fork=facts.fork,
        archived=facts.archived,
        disabled=facts.disabled,
        score=1.0,
    )

"""Names in GitHub's answers: which artifact an address means, and rows of both interfaces."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, parse
from faultatlas.data.old.records import AliasRow, EventRow, IssueRow
from faultatlas.miner.payload import entry, text


def identity(url: Any) -> ArtifactId | None:
    """The issue that an address of a page or of the API names, whatever the host is called."""
    it = _parsed(url)
    return it if it and it.source == "github" else None


def identity_of_any(url: Any) -> str | None:
    """The issue, pull request or commit that an address names."""
    it = _parsed(url)
    return str(it) if it else None


def comment_id(host: str, number: object) -> str:
    """The id of a comment in a study."""
    return f"github:{'' if host == 'github.com' else f'{host}/'}comment/{number}"


def event_row(
    artifact: str,
    kind: str,
    *,
    actor: str | None,
    label: str | None,
    other: str | None,
    detail: str | None,
    created_at: datetime | None,
) -> EventRow:
    """An event. Its id is made of what happened: the two interfaces have no id in common."""
    said = "\n".join(map(str, (artifact, kind, created_at, label, other)))
    own = hashlib.blake2b(said.encode(), digest_size=10).hexdigest()
    return EventRow(f"github:event/{own}", artifact, kind, actor, label, other, detail, created_at)


def login(user: Any) -> str:
    """Who it was; GitHub shows deleted accounts as `ghost`."""
    return text(entry(user, "login")) or "ghost"


def new_name(asked: str, row: IssueRow) -> AliasRow | None:
    """The `owner/name` that a repository's own answer was asked under, where it has another now.

    The host is the answer's: a server may be reached by several names.
    """
    it = parse(row.artifact_id)
    if it.project == asked:
        return None
    old = ArtifactId(it.source, it.host, asked, it.key).repository
    return AliasRow(old, row.project, "repository")


def moved(asked: str, name: str, answered: str) -> AliasRow | None:
    """What an issue was asked for as, where another one answers: it was transferred.

    `name` is the repository's present `owner/name`. The number alone tells nothing: a transferred
    issue may have the same one in its new repository.
    """
    it = parse(answered)
    if answered == asked or (it.project == name and it.key == parse(asked).key):
        return None
    return AliasRow(asked, answered, "transfer")


def _parsed(url: Any) -> ArtifactId | None:
    if not isinstance(url, str):
        return None
    try:
        host = urlsplit(url).netloc.rpartition("@")[2].lower().removeprefix("api.")
        return parse(url, hosts={host: "github"} if host else None)
    except (StudyError, ValueError):
        return None

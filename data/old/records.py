"""The rows that miners make, before they know which run and response they belong to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any


@dataclass(frozen=True, slots=True)
class IssueRow:
    """An issue or pull request, as `store.issue` holds it."""

    artifact_id: str
    source: str
    project: str
    number: str
    is_pull: bool
    node_id: str | None
    title: str | None
    body: str | None
    author: str | None
    author_association: str | None
    state: str | None
    state_reason: str | None
    tracker_labels: tuple[str, ...]
    tracker_type: str | None
    tracker_priority: int | None
    milestone: str | None
    comment_count: int | None
    reaction_count: int | None
    is_locked: bool | None
    is_draft: bool | None
    created_at: datetime | None
    updated_at: datetime | None
    closed_at: datetime | None
    merged_at: datetime | None
    closed_by: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class CommentRow:
    """A comment on an issue, as `store.comment` holds it."""

    comment_id: str
    artifact_id: str
    author: str | None
    author_association: str | None
    body: str | None
    created_at: datetime | None
    updated_at: datetime | None
    url: str | None


@dataclass(frozen=True, slots=True)
class PostRow:
    """A question, as `store.post` holds it."""

    artifact_id: str
    site: str
    post_id: int
    title: str | None
    body: str | None
    tags: tuple[str, ...]
    score: int | None
    view_count: int | None
    answer_count: int | None
    accepted_answer_id: int | None
    author: str | None
    license: str | None
    created_at: datetime | None
    edited_at: datetime | None
    closed_at: datetime | None
    updated_at: datetime | None
    url: str | None


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """An answer, or a comment on a question or answer, as `store.reply` holds it."""

    comment_id: str
    artifact_id: str
    is_answer: bool
    post_id: int  # of an answer its own; of a comment the question or answer that it is on
    author: str | None
    body: str | None
    score: int | None
    license: str | None
    created_at: datetime | None
    edited_at: datetime | None
    updated_at: datetime | None
    url: str | None


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event in an issue's timeline, as `store.issue_event` holds it."""

    event_id: str
    artifact_id: str
    kind: str
    actor: str | None
    label: str | None
    other_id: str | None
    detail: str | None
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class DepartureRow:
    """An artifact that the source no longer has under that name."""

    artifact_id: str
    reason: str
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class AliasRow:
    """Another name of an artifact or of a project."""

    alias: str
    artifact_id: str
    kind: str


@dataclass(frozen=True, slots=True)
class RepositoryRow:
    """A repository, as `store.repository` holds it."""

    repository_id: str
    source: str
    project: str
    url: str | None
    description: str | None
    language: str | None
    stars: int | None
    forks: int | None
    open_issues: int | None
    topics: tuple[str, ...]
    license: str | None
    is_fork: bool | None
    is_archived: bool | None
    is_disabled: bool | None
    size_kb: int | None
    default_branch: str | None
    created_at: datetime | None
    pushed_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A repository that a search found, as `store.search_result` holds it."""

    search: str
    turn: int
    slice: int
    repository_id: str
    project: str
    left_out: str | None  # why it is counted and not kept


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A paper, as `store.paper` holds it."""

    artifact_id: str
    title: str
    year: int | None
    venue: str | None
    doi: str | None
    authors: tuple[str, ...]
    abstract: str | None
    publication_type: str | None
    url: str | None
    cited_by: int | None


@dataclass(frozen=True, slots=True)
class PaperRecordRow:
    """What one search or file says of a paper, as `store.paper_record` holds it."""

    record_id: str
    own_id: str
    source: str
    search: str
    record_key: str
    position: int
    title: str
    title_key: str
    year: int | None
    venue: str | None
    doi: str | None
    authors: tuple[str, ...]
    abstract: str | None
    publication_type: str | None
    url: str | None
    cited_by: int | None


@dataclass(frozen=True, slots=True)
class KnownPaperRow:
    """A paper of a list that searches are judged by, as `store.known_paper` holds it."""

    list: str
    position: int
    title: str
    title_key: str
    year: int | None
    doi: str | None


@dataclass
class Rows:
    """What one response says."""

    issues: list[IssueRow] = field(default_factory=list)
    comments: list[CommentRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    posts: list[PostRow] = field(default_factory=list)
    replies: list[ReplyRow] = field(default_factory=list)
    departures: list[DepartureRow] = field(default_factory=list)
    aliases: list[AliasRow] = field(default_factory=list)
    repositories: list[RepositoryRow] = field(default_factory=list)
    found: list[FoundRow] = field(default_factory=list)
    papers: list[PaperRecordRow] = field(default_factory=list)
    known_papers: list[KnownPaperRow] = field(default_factory=list)
    # Artifacts of which every comment is here or among these ids: what else is stored is gone.
    all_comments_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Names that repositories have now: what was an old name of another one is not any more.
    current_projects: list[str] = field(default_factory=list)
    # The same for events; these have no mark, so what else is stored is deleted.
    all_events_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Questions of which every answer is here, and whether every comment is: others are gone.
    all_replies_of: dict[str, bool] = field(default_factory=dict)
    # Posts and replies out of a file, which may be older than what the site has said.
    is_from_file: bool = False
    # The fields of posts and replies that a file has; None for all of them.
    told: frozenset[str] | None = None
    # Questions that are not selected: they only change what is known of them.
    only_known_posts: list[str] = field(default_factory=list)
    # Questions and answers that the site lists: whatever was said before, they are there.
    listed: list[str] = field(default_factory=list)
    # (artifact, label): fetched for a label that it no longer has.
    lost_labels: list[tuple[str, str]] = field(default_factory=list)
    # Comments may speak of issues that were not asked for; those are kept in the response only.
    only_known_issues: bool = False
    # A list of everything, asked for because it is cheaper than the few that a file named.
    only_wanted_issues: bool = False


# GitHub's two interfaces differ in them for the same issue.
NOT_COMPARED = frozenset({"node_id", "tracker_type"})


def row_hash(row: Any) -> int:
    """Of the row's values: tells a changed row from the same one without reading its text."""
    values = repr(_compared(type(row).__name__, type(row))(row))
    return int.from_bytes(hashlib.blake2b(values.encode(), digest_size=8).digest(), "big")


_getters: dict[str, attrgetter[Any]] = {}


def _compared(name: str, kind: Any) -> attrgetter[Any]:
    if name not in _getters:
        wanted = [item.name for item in fields(kind) if item.name not in NOT_COMPARED]
        _getters[name] = attrgetter(*wanted)
    return _getters[name]

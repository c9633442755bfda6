"""What the study has of artifacts: their texts, comments, answers and changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import url_of

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

FIRST_REPLIES, LAST_REPLIES = 30, 20  # of a long discussion: how it began and how it ended
FILES = 40
_READ = 60_000  # characters of a comment, or of a file's changes
_MAINTAINERS = {"OWNER", "MEMBER", "COLLABORATOR"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A comment or answer; who wrote it stands for no name."""

    role: str  # author, maintainer 1, other 2, ...
    created_at: datetime | None
    body: str
    size: int  # of the whole body
    is_answer: bool = False
    is_accepted: bool = False


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changes."""

    path: str
    old_path: str | None
    change: str
    added: int | None
    deleted: int | None
    changes: str = ""  # hunks as git prints them, where they were read
    size: int = 0


@dataclass(frozen=True, slots=True)
class ArtifactText:
    """An artifact as a rater gets to see it. Without `kind`, the study has no text of it."""

    artifact_id: str
    url: str | None = None
    kind: str | None = None
    project: str | None = None
    title: str = ""
    body: str = ""
    created_at: datetime | None = None
    state: str | None = None
    tags: tuple[str, ...] = ()
    gone_reason: str | None = None
    replies: tuple[Reply, ...] = ()
    replies_left_out: int = 0  # in the middle, behind the first ones
    files: tuple[ChangedFile, ...] = ()
    files_left_out: int = 0


def texts_of(reader: Reader, artifact_ids: Iterable[str]) -> dict[str, ArtifactText]:
    """The texts of artifacts, by the ids that were asked for; also of those without a text."""
    wanted = list(dict.fromkeys(artifact_ids))
    found = {row["wanted"]: row for row in reader.rows(_ARTIFACTS, [wanted])}
    replies = _grouped(reader.rows(_REPLIES, [wanted, FIRST_REPLIES, LAST_REPLIES, _READ]))
    files = _grouped(reader.rows(_FILES, [wanted, FILES, _READ]))
    return {
        name: _text(name, found.get(name), replies.get(name, []), files.get(name, []))
        for name in wanted
    }


# An id may be an older name of an artifact. Forgotten ones have a row without a kind.
_WANTED = """
WITH asked AS (SELECT unnest(?::VARCHAR[]) AS wanted),
wanted AS (
    SELECT wanted, coalesce(min(alias.artifact_id), wanted) AS artifact_id
    FROM asked LEFT JOIN artifact_aliases alias ON alias.alias = wanted GROUP BY wanted
)
"""
_ARTIFACTS = (
    _WANTED
    + """
SELECT wanted, a.artifact_id, a.kind, a.project, a.title, a.body, a.created_at, a.url,
    a.gone_reason, i.state, i.state_reason, coalesce(i.tracker_labels, p.tags, []) AS tags
FROM wanted JOIN artifacts a USING (artifact_id)
LEFT JOIN issues i USING (artifact_id) LEFT JOIN posts p USING (artifact_id)
ORDER BY a.kind NULLS FIRST
"""
)
_REPLIES = (
    _WANTED
    + """
, ordered AS (
    SELECT wanted, c.author, a.author AS first_author, c.author_association, c.created_at,
        left(c.body, $4) AS body, length(c.body) AS size, c.is_answer, c.is_accepted,
        row_number() OVER (PARTITION BY wanted ORDER BY c.created_at, c.comment_id) AS place,
        count(*) OVER (PARTITION BY wanted) AS number
    FROM wanted JOIN comments c USING (artifact_id) JOIN artifacts a USING (artifact_id)
    WHERE c.gone_at IS NULL AND c.body IS NOT NULL AND a.kind IS NOT NULL
)
SELECT * FROM ordered WHERE place <= $2 OR place > number - $3 OR number <= $2 + $3 OR is_accepted
ORDER BY wanted, place
"""
).replace("unnest(?", "unnest($1")
_FILES = (
    _WANTED
    + """
, hunks AS (
    SELECT artifact_id, file, sum(length(text)) AS size, left(string_agg(
        '@@ -' || old_start || ',' || old_lines || ' +' || new_start || ',' || new_lines || ' @@ '
        || coalesce(section, '') || chr(10) || left(text, $3), chr(10) ORDER BY position
    ), $3) AS changes
    FROM commit_hunks WHERE artifact_id IN (SELECT artifact_id FROM wanted) GROUP BY ALL
)
SELECT wanted, f.path, f.old_path, f.change, f.added, f.deleted, h.changes, h.size,
    c.files AS number
FROM wanted JOIN commit_files f USING (artifact_id) JOIN commits c USING (artifact_id)
LEFT JOIN hunks h ON h.artifact_id = f.artifact_id AND h.file = f.position
WHERE f.position <= $2 ORDER BY wanted, f.position
"""
).replace("unnest(?", "unnest($1")


def _grouped(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["wanted"], []).append(row)
    return groups


def _text(
    name: str,
    row: dict[str, Any] | None,
    replies: Sequence[dict[str, Any]],
    files: Sequence[dict[str, Any]],
) -> ArtifactText:
    if row is None or row["kind"] is None:
        return ArtifactText(name, _address(name), gone_reason=row["gone_reason"] if row else None)
    state = " as ".join(part for part in (row["state"], row["state_reason"]) if part)
    return ArtifactText(
        artifact_id=name,
        url=row["url"] or _address(row["artifact_id"]),
        kind=row["kind"],
        project=row["project"],
        title=row["title"] or "",
        body=row["body"] or "",
        created_at=row["created_at"],
        state=state.replace("_", " ") or None,
        tags=tuple(row["tags"]),
        gone_reason=row["gone_reason"],
        replies=_replies(replies),
        replies_left_out=replies[0]["number"] - len(replies) if replies else 0,
        files=tuple(_file(file) for file in files),
        files_left_out=max(files[0]["number"] - len(files), 0) if files else 0,
    )


def _address(name: str) -> str | None:
    try:
        return url_of(name)
    except StudyError:
        return None


def _replies(rows: Sequence[dict[str, Any]]) -> tuple[Reply, ...]:
    roles: dict[str, str] = {}
    made = []
    for row in rows:
        author = row["author"]
        if author is not None and author == row["first_author"]:
            role = "author"
        elif author is None:
            role = "somebody"
        else:
            kind = "maintainer" if row["author_association"] in _MAINTAINERS else "other"
            role = roles.setdefault(author, f"{kind} {len(roles) + 1}")
        made.append(
            Reply(
                role, row["created_at"], row["body"], row["size"], row["is_answer"],
                row["is_accepted"],
            )
        )  # fmt: skip
    return tuple(made)


def _file(row: dict[str, Any]) -> ChangedFile:
    return ChangedFile(
        row["path"], row["old_path"], row["change"], row["added"], row["deleted"],
        row["changes"] or "", int(row["size"] or 0),
    )  # fmt: skip

"""Payloads of the REST API as objects of the GraphQL API.

Objects are dictionaries; what is costly is a function, called only where a query asks for it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from loopback.payloads import WEB, Payload, node_id
from loopback.timelines import timeline
from loopback.tracker import Tracker

if TYPE_CHECKING:
    from loopback.world import World

Object = dict[str, Any]
MOST = 100
LARGEST = 2**31 - 1
EVENTS = {
    "closed": "ClosedEvent",
    "converted_to_discussion": "ConvertedToDiscussionEvent",
    "cross-referenced": "CrossReferencedEvent",
    "commented": "IssueComment",
    "labeled": "LabeledEvent",
    "marked_as_duplicate": "MarkedAsDuplicateEvent",
    "referenced": "ReferencedEvent",
    "renamed": "RenamedTitleEvent",
    "reopened": "ReopenedEvent",
    "transferred": "TransferredEvent",
    "unlabeled": "UnlabeledEvent",
}


def refusal(kind: str, message: str) -> GraphQLError:
    """An error with the type that GitHub gives."""
    return GraphQLError(message, extensions={"type": kind})


def actor(user: Payload | None) -> Object | None:
    """Who did something: None for deleted accounts, bots without their mark."""
    if user is None or user["login"] == "ghost":
        return None
    return {
        "__typename": user["type"],
        "databaseId": user["id"],
        "id": user["node_id"],
        "login": user["login"].removesuffix("[bot]"),
        "url": user["html_url"],
    }


def repository(world: World, tracker: Tracker) -> Object:
    return {
        "__typename": "Repository",
        "databaseId": tracker.id,
        "id": node_id("R", tracker.id),
        "isPrivate": tracker.private,
        "nameWithOwner": tracker.name,
        "url": f"{WEB}/{tracker.name}",
        "issueOrPullRequest": lambda _info, number: numbered(world, tracker, number),
    }


def numbered(world: World, tracker: Tracker, number: int) -> Object:
    if number not in tracker.entries:
        what = f"an issue or pull request with the number of {number}."
        raise refusal("NOT_FOUND", f"Could not resolve to {what}")
    return issue(world, tracker, number)


def issue(world: World, tracker: Tracker, number: int) -> Object:
    """An Issue or PullRequest."""
    payload = tracker.payload(number)
    pull = payload.get("pull_request")
    made: Object = {
        "__typename": "PullRequest" if pull else "Issue",
        "author": actor(payload["user"]),
        "authorAssociation": payload["author_association"],
        "body": payload["body"] or "",
        "closed": payload["state"] == "closed",
        "closedAt": payload["closed_at"],
        "comments": lambda _info, **asked: connection(
            "comments",
            tracker.comments_of(number),
            lambda remark: comment(world, tracker, tracker.comment_payload(remark), number),
            asked,
        ),
        "createdAt": payload["created_at"],
        "databaseId": _small(payload["id"]),
        "fullDatabaseId": str(payload["id"]),
        "id": payload["node_id"],
        "labels": lambda _info, **asked: connection("labels", payload["labels"], _label, asked),
        "locked": payload["locked"],
        "milestone": _milestone(payload["milestone"]),
        "number": number,
        "reactions": {"totalCount": payload["reactions"]["total_count"]},
        "repository": lambda _info: repository(world, tracker),
        "state": payload["state"].upper(),
        "timelineItems": lambda _info, **asked: _timeline(world, tracker, number, asked),
        "title": payload["title"],
        "updatedAt": payload["updated_at"],
        "url": payload["html_url"],
    }
    if pull:
        merged = pull.get("merged_at")
        made |= {"isDraft": bool(payload.get("draft")), "mergedAt": merged, "merged": bool(merged)}
        made["state"] = "MERGED" if merged else made["state"]
    else:
        made["stateReason"] = lambda _info, **asked: _state_reason(payload, **asked)
    return made


def _state_reason(payload: Payload, *, enableDuplicate: bool = False) -> str | None:  # noqa: N803
    """Duplicates are shown as such only to those who ask for it."""
    reason = payload["state_reason"]
    if reason == "duplicate" and not enableDuplicate:
        return "NOT_PLANNED"
    return reason.upper() if reason else None


def comment(world: World, tracker: Tracker, payload: Payload, number: int) -> Object:
    def issue_of(_info: Any) -> Object:
        return issue(world, tracker, number)

    is_pull = tracker.entries[number].is_pull
    return {
        "__typename": "IssueComment",
        "author": actor(payload["user"]),
        "authorAssociation": payload["author_association"],
        "body": payload["body"],
        "createdAt": payload["created_at"],
        "databaseId": _small(payload["id"]),
        "fullDatabaseId": str(payload["id"]),
        "id": payload["node_id"],
        "issue": issue_of,
        "pullRequest": issue_of if is_pull else None,
        "reactions": {"totalCount": payload["reactions"]["total_count"]},
        "updatedAt": payload["updated_at"],
        "url": payload["html_url"],
    }


def connection(
    name: str, rows: Sequence[Any], make: Callable[[Any], Any], asked: dict[str, Any]
) -> Object:
    """A page of rows. Nodes need `first` or `last`; a count does not."""
    first, last = asked.get("first"), asked.get("last")
    for value in (first, last):
        if value is not None and not 1 <= value <= MOST:
            raise refusal(
                "EXCESSIVE_PAGINATION",
                f"Requesting {value} records on the `{name}` connection exceeds the `first` limit "
                f"of {MOST} records.",
            )
    start = _place(asked["after"]) if asked.get("after") else 0
    end = _place(asked["before"]) - 1 if asked.get("before") else len(rows)
    if first is not None:
        end = min(end, start + first)
    elif last is not None:
        start = max(start, end - last)

    def nodes(_info: Any) -> list[Any]:
        if first is None and last is None:
            raise refusal(
                "MISSING_PAGINATION_BOUNDARIES",
                f"You must provide a `first` or `last` value to properly paginate the `{name}` "
                "connection.",
            )
        return [make(row) for row in rows[start:end]]

    return {
        "nodes": nodes,
        "totalCount": len(rows),
        "filteredCount": len(rows),
        "pageInfo": {
            "startCursor": _cursor(start + 1) if start < end else None,
            "endCursor": _cursor(end) if start < end else None,
            "hasPreviousPage": start > 0,
            "hasNextPage": end < len(rows),
        },
    }


def _timeline(world: World, tracker: Tracker, number: int, asked: dict[str, Any]) -> Object:
    wanted = {name.replace("_", "").lower() for name in asked.get("itemTypes") or ()}
    rows = [
        event
        for event in timeline(tracker, number)
        if event["event"] in EVENTS and (not wanted or EVENTS[event["event"]].lower() in wanted)
    ]
    return connection("timelineItems", rows, lambda row: _event(world, tracker, number, row), asked)


def _event(world: World, tracker: Tracker, number: int, row: Payload) -> Object:
    kind = EVENTS[row["event"]]
    if kind == "IssueComment":
        return comment(world, tracker, row, number)
    made: Object = {
        "__typename": kind,
        "actor": actor(row["actor"]),
        "createdAt": row["created_at"],
        "id": row.get("node_id") or node_id("CRE", number, tracker.id),
        "commit": _commit(tracker, row.get("commit_id")),
        "closer": _commit(tracker, row.get("commit_id")),
    }
    if "label" in row:
        made["label"] = _label({**row["label"], "node_id": node_id("LA", len(row["label"]))})
    if "rename" in row:
        made |= {"currentTitle": row["rename"]["to"], "previousTitle": row["rename"]["from"]}
    if row.get("state_reason"):
        made["stateReason"] = row["state_reason"].upper()
    if "source" in row:
        source = row["source"]["issue"]
        is_pull = source.get("pull_request") is not None
        made["source"] = {
            "__typename": "PullRequest" if is_pull else "Issue",
            "url": source["html_url"],
            "number": source["number"],
            "title": source["title"],
            "id": source["node_id"],
        }
    return made


def _commit(tracker: Tracker, sha: str | None) -> Object | None:
    if sha is None:
        return None
    return {
        "__typename": "Commit",
        "id": f"C_{sha}",
        "oid": sha,
        "url": f"{WEB}/{tracker.name}/commit/{sha}",
    }


def _label(payload: Payload) -> Object:
    return {"color": payload["color"], "id": payload["node_id"], "name": payload["name"]}


def _milestone(payload: Payload | None) -> Object | None:
    if payload is None:
        return None
    return {"id": payload["node_id"], "number": payload["number"], "title": payload["title"]}


def _small(number: int) -> int | None:
    """A database id where a 32-bit integer can hold it; that is why there are full ones."""
    return number if number <= LARGEST else None


def _cursor(place: int) -> str:
    return base64.b64encode(f"cursor:v2:{place}".encode()).decode()


def _place(cursor: str) -> int:
    try:
        return int(base64.b64decode(cursor, validate=True).decode().rpartition(":")[2])
    except ValueError:
        raise refusal(
            "INVALID_CURSOR_ARGUMENTS", f"`{cursor}` does not appear to be a valid cursor."
        ) from None

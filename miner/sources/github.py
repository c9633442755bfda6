"""GitHub's issues, pull requests, comments and events, from its REST and GraphQL interfaces.

An issue is listed, never asked for one by one: the list gives every column. GitHub counts pull
requests among the issues. Comments come for the whole repository, for one issue, or for a
hundred issues at once by GraphQL (`miner.sources.github_graphql`); the rows are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from faultatlas.data.identity import ArtifactId
from faultatlas.data.old.records import AliasRow, CommentRow, DepartureRow, EventRow, IssueRow, Rows
from faultatlas.miner.archive import Exchange
from faultatlas.miner.http import Response
from faultatlas.miner.payload import Who, boolean, entries, entry, integer, moment, names, text
from faultatlas.miner.selection import Selection, selection_of
from faultatlas.miner.sources import PAGE
from faultatlas.miner.sources import github_graphql as graphql
from faultatlas.miner.sources.github_names import (
    comment_id,
    event_row,
    identity,
    identity_of_any,
    login,
    moved,
    new_name,
)
from faultatlas.miner.sources.github_repositories import read_repositories

# What the status of a single issue means for it.
GONE = {404: "not found", 410: "deleted", 451: "blocked"}

# Events that say how a defect was handled; the rest of a timeline is chatter.
EVENTS = (
    "labeled",
    "unlabeled",
    "closed",
    "reopened",
    "cross-referenced",
    "referenced",
    "transferred",
    "renamed",
    "marked_as_duplicate",
    "converted_to_discussion",
)


class GitHub:
    """GitHub and GitHub Enterprise."""

    name = "github"
    has_pulls = True
    has_timeline = True
    states = ("all", "open", "closed")

    def issues_url(self, project: str, selection: Selection, since: str | None) -> str:
        """The list of issues from a time of update on, oldest update first."""
        asked = {"labels": ",".join(selection.labels)} if selection.labels else {}
        return _url(
            f"/repos/{project}/issues",
            {"state": selection.state, "sort": "updated", "direction": "asc", **asked},
            since or selection.since,
        )

    def comments_url(self, project: str, since: str | None) -> str:
        """The list of all comments of a project from a time of update on, oldest update first."""
        order = {"sort": "updated", "direction": "asc"}
        return _url(f"/repos/{project}/issues/comments", order, since)

    def issue_url(self, project: str, number: str) -> str:
        """One issue."""
        return f"/repos/{project}/issues/{number}"

    def issue_comments_url(self, project: str, number: str) -> str:
        """The comments of one issue, oldest first."""
        return f"/repos/{project}/issues/{number}/comments?per_page={PAGE}"

    def timeline_url(self, project: str, number: str) -> str:
        """The events of one issue, oldest first."""
        return f"/repos/{project}/issues/{number}/timeline?per_page={PAGE}"

    def next_url(self, response: Response) -> str | None:
        """The page that follows, if there is one."""
        return response.next_url

    def pages(self, response: Response) -> int | None:
        """How many pages the list has in all; a server that gives cursors does not say."""
        return response.last_page or (None if response.next_url else 1)

    def read(self, exchange: Exchange, who: Who) -> Rows:
        """The rows that an answer holds."""
        if exchange.kind.startswith("graphql "):
            return graphql.read(exchange, who)
        rows = Rows()
        if exchange.status in GONE:
            if exchange.kind == "issue":  # a part that is missing proves nothing about the issue
                asked = exchange.request["artifact"]
                rows.departures.append(DepartureRow(asked, GONE[exchange.status]))
            return rows
        _READERS[exchange.kind](rows, exchange, exchange.json(), who)
        return rows


def issue_row(said: Mapping[str, Any], who: Who) -> IssueRow | None:
    """An issue as the REST interface gives it, or None for what is none."""
    it = identity(said.get("html_url"))
    if it is None:
        return None
    pull = said.get("pull_request")
    kind = said.get("type")
    return IssueRow(
        artifact_id=str(it),
        source=it.source,
        project=it.repository,
        number=it.key,
        is_pull=bool(pull),
        node_id=text(said.get("node_id")),
        title=text(said.get("title")),
        body=text(said.get("body")) or None,
        author=who(login(said.get("user"))),
        author_association=text(said.get("author_association")),
        state=text(said.get("state")),
        state_reason=text(said.get("state_reason")),
        tracker_labels=names(said.get("labels")),
        tracker_type=text(entry(kind, "name")),
        tracker_priority=None,
        milestone=text(entry(said, "milestone", "title")),
        comment_count=integer(said.get("comments")),
        reaction_count=integer(entry(said, "reactions", "total_count")),
        is_locked=boolean(said.get("locked")),
        is_draft=boolean(said.get("draft")) if pull else None,
        created_at=moment(said.get("created_at")),
        updated_at=moment(said.get("updated_at")),
        closed_at=moment(said.get("closed_at")),
        merged_at=moment(entry(pull, "merged_at")),
        closed_by=who(login(said["closed_by"])) if said.get("closed_by") else None,
        url=text(said.get("html_url")),
    )


def _url(path: str, parameters: Mapping[str, str], since: str | None) -> str:
    asked = {**parameters, "per_page": str(PAGE), **({"since": since} if since else {})}
    return f"{path}?{urlencode(sorted(asked.items()))}"


def _read_list(rows: Rows, exchange: Exchange, said: Any, who: Who) -> None:
    selection = selection_of(exchange.request["selection"])
    rows.only_wanted_issues = bool(exchange.request.get("only_wanted"))
    found = [row for row in (issue_row(item, who) for item in entries(said)) if row]
    name = exchange.request["name"]
    if len({row.project for row in found}) == 1:
        # A list is of one repository: where its rows have another name, it has that now.
        rows.current_projects.append(found[0].project)
        rows.aliases.extend(filter(None, [new_name(name, found[0])]))
    else:
        found = [row for row in found if new_name(name, row) is None]
    rows.issues.extend(row for row in found if selection.accepts(row))


def _read_single(rows: Rows, exchange: Exchange, said: Any, who: Who) -> None:
    asked = str(exchange.request["artifact"])
    row = issue_row(said, who) if isinstance(said, Mapping) else None
    if row is None:
        rows.departures.append(DepartureRow(asked, "not found"))
        return
    rows.issues.append(row)
    if alias := moved(asked, exchange.request["name"], row.artifact_id):
        rows.aliases.append(alias)
        rows.departures.append(DepartureRow(asked, "transferred", row.artifact_id))
    elif exchange.request.get("selection"):
        missing = selection_of(exchange.request["selection"]).missing_labels(row)
        rows.lost_labels.extend((row.artifact_id, label) for label in missing)


def _read_name(rows: Rows, exchange: Exchange, said: Any, _who: Who) -> None:
    """The name that a repository gives itself."""
    it = identity(f"{entry(said, 'html_url')}/issues/1")
    name = exchange.request["name"]
    if it is not None and it.project != name:
        old = ArtifactId(it.source, it.host, name, it.key).repository
        rows.aliases.append(AliasRow(old, it.repository, "repository"))


def _read_issue_comments(rows: Rows, exchange: Exchange, said: Any, who: Who) -> None:
    asked = exchange.request["artifact"]
    found = list(_comments(said, who))
    artifacts = [row.artifact_id for row in found]
    number = asked.rpartition("#")[2]
    if other := next((each for each in artifacts if not each.endswith(f"#{number}")), None):
        # A redirect led to where the issue was transferred; there it is another artifact.
        rows.departures.append(DepartureRow(asked, "transferred", other))
        rows.aliases.append(AliasRow(asked, other, "transfer"))
        return
    # Under a repository's new name it is the same issue.
    rows.comments.extend(replace(row, artifact_id=asked) for row in found)
    if exchange.request["is_last"]:
        rows.all_comments_of[exchange.request["artifact"]] = tuple(exchange.request["seen"])


def _comments(said: Any, who: Who) -> Iterator[CommentRow]:
    for item in entries(said):
        it = identity(item.get("html_url")) or identity(item.get("issue_url"))
        number = item.get("id")
        if it is None or not isinstance(number, int):
            continue
        yield CommentRow(
            comment_id=comment_id(it.host, number),
            artifact_id=str(it),
            author=who(login(item.get("user"))),
            author_association=text(item.get("author_association")),
            body=text(item.get("body")) or None,
            created_at=moment(item.get("created_at")),
            updated_at=moment(item.get("updated_at")),
            url=text(item.get("html_url")),
        )


def _events(artifact: str, said: Any, who: Who) -> Iterator[EventRow]:
    for item in entries(said):
        kind = item.get("event")
        if kind in EVENTS:
            other = entry(item, "source", "issue", "html_url") or item.get("commit_url")
            yield event_row(
                artifact,
                str(kind),
                actor=who(login(item.get("actor"))),
                label=text(entry(item, "label", "name")),
                other=identity_of_any(other),
                detail=text(item.get("state_reason")) or text(entry(item, "rename", "to")),
                created_at=moment(item.get("created_at")),
            )


def _read_comments(rows: Rows, _exchange: Exchange, said: Any, who: Who) -> None:
    rows.only_known_issues = True
    rows.comments.extend(_comments(said, who))


def _read_timeline(rows: Rows, exchange: Exchange, said: Any, who: Who) -> None:
    artifact = exchange.request["artifact"]
    rows.events.extend(_events(artifact, said, who))
    if exchange.request.get("is_last"):
        rows.all_events_of[artifact] = tuple(exchange.request["seen"])


def _read_nothing(_rows: Rows, _exchange: Exchange, _said: Any, _who: Who) -> None:
    """An answer that is kept for what others will read in it."""


_READERS = {
    "issues": _read_list,
    "issue": _read_single,
    "comments": _read_comments,
    "issue comments": _read_issue_comments,
    "timeline": _read_timeline,
    "repository": _read_name,
    "repositories": read_repositories,
    "commit pulls": _read_nothing,
    "forgotten": _read_nothing,
}

TRACKER = GitHub()

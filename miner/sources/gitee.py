"""Gitee's issues and comments, from its API v5.

Unlike GitHub's: numbers are strings such as I65G7B, pages are counted and no page names the
next one, pull requests are numbered apart and not among the issues, times are in China's zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, parse
from faultatlas.data.old.records import CommentRow, DepartureRow, IssueRow, Rows
from faultatlas.miner.archive import Exchange
from faultatlas.miner.http import Response
from faultatlas.miner.payload import Who, entries, entry, integer, moment, names, text
from faultatlas.miner.selection import Selection, selection_of
from faultatlas.miner.sources import PAGE

GONE = {404: "not found", 410: "deleted", 451: "blocked"}


class Gitee:
    """Gitee."""

    name = "gitee"
    has_pulls = False
    has_timeline = False
    states = ("all", "open", "progressing", "closed", "rejected")

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
        return f"/repos/{project}/issues/{number}/comments?order=asc&page=1&per_page={PAGE}"

    def timeline_url(self, project: str, number: str) -> str:
        """Gitee has no timeline that could be told apart from comments."""
        raise StudyError(
            f"Gitee gives no timeline of {project}#{number}", "Fetch without --timeline."
        )

    def next_url(self, response: Response) -> str | None:
        """The page that follows, if there is one."""
        parts = urlsplit(response.url)
        asked = dict(parse_qsl(parts.query))
        page, pages = int(asked.get("page", "1")), self.pages(response)
        if pages is None and not _is_full(response, int(asked.get("per_page", PAGE))):
            return None
        if pages is not None and page >= pages:
            return None
        return f"{parts.path}?{urlencode(sorted((asked | {'page': str(page + 1)}).items()))}"

    def pages(self, response: Response) -> int | None:
        """How many pages the list has in all."""
        said = response.headers.get("total_page", "")
        return int(said) if re.fullmatch(r"[0-9]{1,9}", said) else None

    def read(self, exchange: Exchange, who: Who) -> Rows:
        """The rows that an answer holds."""
        rows = Rows()
        if exchange.status in GONE:
            if exchange.kind == "issue":  # a part that is missing proves nothing about the issue
                asked = exchange.request["artifact"]
                rows.departures.append(DepartureRow(asked, GONE[exchange.status]))
            return rows
        said = exchange.json()
        match exchange.kind:
            case "issues":
                selection = selection_of(exchange.request["selection"])
                rows.only_wanted_issues = bool(exchange.request.get("only_wanted"))
                found = (_issue_row(item, exchange, who) for item in entries(said))
                rows.issues.extend(row for row in found if row and selection.accepts(row))
            case "issue":
                _read_single(rows, exchange, said, who)
            case "comments":
                rows.only_known_issues = True
                rows.comments.extend(_comments(exchange, said, who))
            case "issue comments":
                rows.comments.extend(_comments(exchange, said, who))
                if exchange.request["is_last"]:
                    artifact = exchange.request["artifact"]
                    rows.all_comments_of[artifact] = tuple(exchange.request["seen"])
        return rows


def comment_id(host: str, number: object) -> str:
    """The id of a comment in a study."""
    return f"gitee:{'' if host == 'gitee.com' else f'{host}/'}comment/{number}"


def _is_full(response: Response, rows: int) -> bool:
    """Whether more may follow, where the server does not say how many pages there are."""
    said = response.json() if response.body else None
    return isinstance(said, list) and len(said) >= rows


def _read_single(rows: Rows, exchange: Exchange, said: Any, who: Who) -> None:
    asked = str(exchange.request["artifact"])
    row = _issue_row(said, exchange, who) if isinstance(said, Mapping) else None
    if row is None:
        rows.departures.append(DepartureRow(asked, "not found"))
        return
    rows.issues.append(row)
    if row.artifact_id != asked:
        rows.departures.append(DepartureRow(asked, "transferred", row.artifact_id))
    elif exchange.request.get("selection"):
        missing = selection_of(exchange.request["selection"]).missing_labels(row)
        rows.lost_labels.extend((row.artifact_id, label) for label in missing)


def _url(path: str, parameters: Mapping[str, str], since: str | None) -> str:
    paged = {"page": "1", "per_page": str(PAGE), **({"since": since} if since else {})}
    return f"{path}?{urlencode(sorted({**parameters, **paged}.items()))}"


def _issue_row(said: Mapping[str, Any], exchange: Exchange, who: Who) -> IssueRow | None:
    it = _identity(said.get("html_url"), _host_of(exchange))
    if it is None:
        return None
    return IssueRow(
        artifact_id=str(it),
        source=it.source,
        project=it.repository,
        number=it.key,
        is_pull=False,
        node_id=str(said["id"]) if isinstance(said.get("id"), int) else None,
        title=text(said.get("title")),
        body=text(said.get("body")) or None,
        author=who(text(entry(said, "user", "login"))),
        author_association=None,
        state=text(said.get("state")),
        state_reason=None,
        tracker_labels=names(said.get("labels")),
        tracker_type=text(said.get("issue_type")),
        tracker_priority=integer(said.get("priority")),
        milestone=text(entry(said, "milestone", "title")),
        comment_count=integer(said.get("comments")),
        reaction_count=None,
        is_locked=None,
        is_draft=None,
        created_at=moment(said.get("created_at")),
        updated_at=moment(said.get("updated_at")),
        closed_at=moment(said.get("finished_at")),
        merged_at=None,
        closed_by=None,
        url=text(said.get("html_url")),
    )


def _comments(exchange: Exchange, said: Any, who: Who) -> Iterator[CommentRow]:
    for item in entries(said):
        number, own = entry(item, "target", "issue", "number"), item.get("id")
        artifact = exchange.request.get("artifact") or _in_project(exchange, number)
        if artifact is None or not isinstance(own, int):
            continue
        yield CommentRow(
            comment_id=comment_id(_host_of(exchange), own),
            artifact_id=artifact,
            author=who(text(entry(item, "user", "login"))),
            author_association=None,
            body=text(item.get("body")) or None,
            created_at=moment(item.get("created_at")),
            updated_at=moment(item.get("updated_at")),
            url=text(item.get("html_url")),
        )


def _in_project(exchange: Exchange, number: Any) -> str | None:
    name, key = exchange.request["name"], str(number).upper()
    try:
        return str(ArtifactId("gitee", _host_of(exchange), name, key))
    except StudyError:
        return None  # a comment on a pull request


def _identity(url: Any, host: str) -> ArtifactId | None:
    try:
        it = parse(url, hosts={host: "gitee"}) if isinstance(url, str) else None
    except StudyError:
        return None
    return it if it and it.source == "gitee" else None


def _host_of(exchange: Exchange) -> str:
    """Of the server that answered: its projects are gitee:owner/name on gitee.com only."""
    return parse(f"{exchange.project}#I1").host


TRACKER = Gitee()

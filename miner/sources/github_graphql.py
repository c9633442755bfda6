"""GitHub's GraphQL interface: what a hundred issues have, in one request.

Comments and events are asked for by the node ids that the list gave; issues that a file names
are asked for by number. The rows are those that the REST interface would give, so it does not
matter to a study which of the two was cheaper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from faultatlas.data.old.records import CommentRow, DepartureRow, EventRow, IssueRow, Rows
from faultatlas.miner import ratelimit
from faultatlas.miner.archive import Exchange
from faultatlas.miner.payload import Who, boolean, entries, entry, integer, moment, names, text
from faultatlas.miner.selection import selection_of
from faultatlas.miner.sources import github_names as github

BATCH = 100  # nodes in a request: the most that `nodes(ids:)` takes

_COMMENTS = """
fragment Comments on IssueCommentConnection {
  totalCount
  pageInfo { hasNextPage endCursor }
  nodes {
    fullDatabaseId url body createdAt updatedAt authorAssociation
    author { __typename login }
  }
}
"""

COMMENTS_QUERY = f"""
query Comments($ids: [ID!]!, $after: String) {{
  nodes(ids: $ids) {{
    __typename
    ... on Issue {{ url comments(first: 100, after: $after) {{ ...Comments }} }}
    ... on PullRequest {{ url comments(first: 100, after: $after) {{ ...Comments }} }}
  }}
}}
{_COMMENTS}"""

# Name in the REST interface: type in this one.
_EVENT_TYPES = {
    "LabeledEvent": "labeled",
    "UnlabeledEvent": "unlabeled",
    "ClosedEvent": "closed",
    "ReopenedEvent": "reopened",
    "CrossReferencedEvent": "cross-referenced",
    "ReferencedEvent": "referenced",
    "TransferredEvent": "transferred",
    "RenamedTitleEvent": "renamed",
    "MarkedAsDuplicateEvent": "marked_as_duplicate",
    "ConvertedToDiscussionEvent": "converted_to_discussion",
}
_WANTED_EVENTS = (
    "LABELED_EVENT, UNLABELED_EVENT, CLOSED_EVENT, REOPENED_EVENT, CROSS_REFERENCED_EVENT, "
    "REFERENCED_EVENT, TRANSFERRED_EVENT, RENAMED_TITLE_EVENT, MARKED_AS_DUPLICATE_EVENT, "
    "CONVERTED_TO_DISCUSSION_EVENT"
)
_EVENTS = """
    pageInfo { hasNextPage endCursor }
    nodes {
      __typename
      ... on LabeledEvent { createdAt actor { __typename login } label { name } }
      ... on UnlabeledEvent { createdAt actor { __typename login } label { name } }
      ... on ClosedEvent {
        createdAt actor { __typename login } stateReason
        closer { ... on Commit { url } ... on PullRequest { url } }
      }
      ... on ReopenedEvent { createdAt actor { __typename login } }
      ... on CrossReferencedEvent {
        createdAt actor { __typename login }
        source { ... on Issue { url } ... on PullRequest { url } }
      }
      ... on ReferencedEvent { createdAt actor { __typename login } commit { url } }
      ... on TransferredEvent { createdAt actor { __typename login } }
      ... on RenamedTitleEvent { createdAt actor { __typename login } currentTitle }
      ... on MarkedAsDuplicateEvent {
        createdAt actor { __typename login }
        canonical { ... on Issue { url } ... on PullRequest { url } }
      }
      ... on ConvertedToDiscussionEvent { createdAt actor { __typename login } }
    }"""

EVENTS_QUERY = f"""
query Events($ids: [ID!]!, $after: String) {{
  nodes(ids: $ids) {{
    __typename
    ... on Issue {{
      url timelineItems(first: 100, after: $after, itemTypes: [{_WANTED_EVENTS}]) {{{_EVENTS}
    }} }}
    ... on PullRequest {{
      url timelineItems(first: 100, after: $after, itemTypes: [{_WANTED_EVENTS}]) {{{_EVENTS}
    }} }}
  }}
}}
"""

_ISSUE_FIELDS = """
      id url title body locked createdAt updatedAt closedAt authorAssociation
      author { __typename login }
      labels(first: 100) { nodes { name } }
      milestone { title }
      reactions { totalCount }
      comments(first: 100) { ...Comments }
      closings: timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) {
        nodes { ... on ClosedEvent { actor { __typename login } } }
      }"""

COUNT_QUERY = """
query Count($all: String!, $commented: String!, $long: String!) {
  all: search(type: ISSUE, query: $all, first: 1) { issueCount }
  commented: search(type: ISSUE, query: $commented, first: 1) { issueCount }
  long: search(type: ISSUE, query: $long, first: 1) { issueCount }
}
"""


def issues_query(numbers: Iterable[int]) -> str:
    """A query for the issues and pull requests of one repository with these numbers."""
    asked = "\n".join(
        f"    n{number}: issueOrPullRequest(number: {number}) {{ ...Asked }}" for number in numbers
    )
    return f"""
query Issues($owner: String!, $name: String!) {{
  repository(owner: $owner, name: $name) {{
    nameWithOwner
{asked}
  }}
}}
fragment Asked on IssueOrPullRequest {{
  __typename
  ... on Issue {{
      state stateReason(enableDuplicate: true){_ISSUE_FIELDS}
  }}
  ... on PullRequest {{
      pullState: state isDraft mergedAt{_ISSUE_FIELDS}
  }}
}}
{_COMMENTS}"""


def commits_query(hashes: Iterable[str]) -> str:
    """A query for the pull requests that brought commits, and the issues that these close."""
    asked = "\n".join(
        f'    c{number}: object(expression: "{sha}") {{ ...Asked }}'
        for number, sha in enumerate(hashes)
    )
    return f"""
query Commits($owner: String!, $name: String!) {{
  repository(owner: $owner, name: $name) {{
{asked}
  }}
}}
fragment Asked on Commit {{
  oid
  associatedPullRequests(first: 10) {{
    nodes {{ url closingIssuesReferences(first: 20) {{ nodes {{ url }} }} }}
  }}
}}
"""


def read(exchange: Exchange, who: Who) -> Rows:
    """The rows that an answer holds."""
    rows, answer = Rows(), _Answer(exchange)
    match exchange.kind:
        case "graphql comments":
            for artifact, node in answer.nodes():
                _read_comments(rows, answer, artifact, node, who, now=artifact)
        case "graphql events":
            for artifact, node in answer.nodes():
                _read_events(rows, answer, artifact, node, who)
        case "graphql issues":
            _read_issues(rows, answer, who)
    return rows


def unread(exchange: Exchange, part: str) -> tuple[list[str], dict[str, str]]:
    """Artifacts that the answer left out, if only in part, and those with more pages, with where
    these begin.
    """
    missing, unfinished = [], {}
    answer = _Answer(exchange)
    nodes = dict(answer.nodes())
    for artifact in exchange.request["artifacts"]:
        node = nodes.get(artifact)
        page = entry(node, part, "pageInfo")
        if node is None or not answer.is_sound(artifact, node, part):
            missing.append(artifact)
        elif page["hasNextPage"]:
            unfinished[artifact] = page["endCursor"]
    return missing, unfinished


def with_unread(exchange: Exchange, missing: Collection[str]) -> Exchange:
    """The exchange with what its answer left out, by places.

    That is told once and for all: of an answer from which something is erased later, it could
    not be told any more.
    """
    places = [at for at, each in enumerate(exchange.request["artifacts"]) if each in missing]
    return replace(exchange, request={**exchange.request, "missing": places})


def is_too_much(exchange: Exchange) -> bool:
    """Whether the server left something out because the query was too much for it."""
    return ratelimit.is_too_much(_Answer(exchange).errors)


class _Answer:
    """An answer, which may lack some of what was asked for."""

    def __init__(self, exchange: Exchange) -> None:
        said = exchange.json()
        self.request = exchange.request
        self.data = entry(said, "data")
        self.errors = list(entries(entry(said, "errors")))
        self._by_number = exchange.kind == "graphql issues"

    def nodes(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The answered nodes with the artifacts that they were asked for as."""
        asked, found = self.request["artifacts"], entry(self.data, "nodes")
        if isinstance(found, list) and len(found) == len(asked):
            for artifact, node in zip(asked, found, strict=True):
                if isinstance(node, Mapping):
                    yield artifact, node

    def is_sound(self, asked: str, node: Mapping[str, Any], part: str) -> bool:
        """Whether the page of a part lacks nothing; the last one, whether no page did."""
        if "missing" in self.request:
            return self.request["artifacts"].index(asked) not in self.request["missing"]
        page, listed = entry(node, part, "pageInfo"), entry(node, part, "nodes")
        if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
            return False
        if any(self._touches(error, asked) for error in self.errors):
            return False
        if entry(page, "hasNextPage") is not False:
            return entry(page, "hasNextPage") is True and bool(text(entry(page, "endCursor")))
        if part != "comments":
            return True
        found = {row.comment_id for row in _comments(asked, listed, lambda login: login)}
        found.update(self.request.get("seen", ()))
        return len(found) == integer(entry(node, part, "totalCount"))

    def is_whole(self, asked: str, node: Mapping[str, Any], part: str) -> bool:
        """Whether this is the last page of a part, and nothing of the part is missing."""
        is_last = entry(node, part, "pageInfo", "hasNextPage") is False
        return is_last and self.is_sound(asked, node, part)

    def _touches(self, error: Mapping[str, Any], asked: str) -> bool:
        """Whether an error may be about an artifact; one without a path is about all of them."""
        path = error.get("path")
        if not isinstance(path, list):
            return ratelimit.is_too_much([error])
        node: list[Any] = ["nodes", self.request["artifacts"].index(asked)]
        if self._by_number:
            node = ["repository", f"n{asked.rpartition('#')[2]}"]
        return path[:2] == node[: len(path)]


def _read_comments(
    rows: Rows, answer: _Answer, asked: str, node: Mapping[str, Any], who: Who, *, now: str
) -> None:
    rows.comments.extend(_comments(now, entry(node, "comments", "nodes"), who))
    if answer.is_whole(asked, node, "comments"):
        rows.all_comments_of[now] = tuple(answer.request.get("seen", ()))


def _read_events(
    rows: Rows, answer: _Answer, artifact: str, node: Mapping[str, Any], who: Who
) -> None:
    rows.events.extend(_events(artifact, entry(node, "timelineItems", "nodes"), who))
    if answer.is_whole(artifact, node, "timelineItems"):
        rows.all_events_of[artifact] = tuple(answer.request.get("seen", ()))


def _comments(artifact: str, said: Any, who: Who) -> Iterator[CommentRow]:
    for item in entries(said):
        it = github.identity(item.get("url"))
        number = text(item.get("fullDatabaseId")) or item.get("fullDatabaseId")
        if it is None or number is None:
            continue
        yield CommentRow(
            comment_id=github.comment_id(it.host, number),
            artifact_id=artifact,
            author=who(_login(item.get("author"))),
            author_association=text(item.get("authorAssociation")),
            body=text(item.get("body")) or None,
            created_at=moment(item.get("createdAt")),
            updated_at=moment(item.get("updatedAt")),
            url=text(item.get("url")),
        )


def _events(artifact: str, said: Any, who: Who) -> Iterator[EventRow]:
    for item in entries(said):
        kind = _EVENT_TYPES.get(str(item.get("__typename")))
        if kind is None:
            continue
        other = (
            entry(item, "source", "url")
            or entry(item, "closer", "url")
            or entry(item, "commit", "url")
            or entry(item, "canonical", "url")
        )
        reason = text(item.get("stateReason"))
        yield github.event_row(
            artifact,
            kind,
            actor=who(_login(item.get("actor"))),
            label=text(entry(item, "label", "name")),
            other=github.identity_of_any(other),
            detail=reason.lower() if reason else text(item.get("currentTitle")),
            created_at=moment(item.get("createdAt")),
        )


def _read_issues(rows: Rows, answer: _Answer, who: Who) -> None:
    answered = entry(answer.data, "repository")
    name = (text(entry(answered, "nameWithOwner")) or answer.request["name"]).lower()
    # What is missing here is asked for once more, by itself: only that answer says why.
    for artifact in answer.request["artifacts"]:
        node = entry(answered, f"n{artifact.rpartition('#')[2]}")
        if isinstance(node, Mapping) and (row := _issue_row(node, who)):
            rows.issues.append(row)
            if name != answer.request["name"] and row.project.endswith(name):
                rows.aliases.extend(filter(None, [github.new_name(answer.request["name"], row)]))
            if alias := github.moved(artifact, name, row.artifact_id):
                rows.aliases.append(alias)
                rows.departures.append(DepartureRow(artifact, "transferred", row.artifact_id))
            elif answer.request.get("selection"):
                missing = selection_of(answer.request["selection"]).missing_labels(row)
                rows.lost_labels.extend((row.artifact_id, label) for label in missing)
            _read_comments(rows, answer, artifact, node, who, now=row.artifact_id)


def _issue_row(said: Mapping[str, Any], who: Who) -> IssueRow | None:
    it = github.identity(said.get("url"))
    if it is None:
        return None
    is_pull = said.get("__typename") == "PullRequest"
    state = text(said.get("pullState" if is_pull else "state")) or ""
    reason = text(said.get("stateReason"))
    closings = list(entries(entry(said, "closings", "nodes")))
    # As the REST interface has it: who closed it last, also when it is open again.
    closer = closings[-1].get("actor") if closings else None
    return IssueRow(
        artifact_id=str(it),
        source=it.source,
        project=it.repository,
        number=it.key,
        is_pull=is_pull,
        node_id=text(said.get("id")),
        title=text(said.get("title")),
        body=text(said.get("body")) or None,
        author=who(_login(said.get("author"))),
        author_association=text(said.get("authorAssociation")),
        state="closed" if state in ("CLOSED", "MERGED") else state.lower() or None,
        state_reason=reason.lower() if reason else None,
        tracker_labels=names(entry(said, "labels", "nodes")),
        tracker_type=None,  # the published schema has none
        tracker_priority=None,
        milestone=text(entry(said, "milestone", "title")),
        comment_count=integer(entry(said, "comments", "totalCount")),
        reaction_count=integer(entry(said, "reactions", "totalCount")),
        is_locked=boolean(said.get("locked")),
        is_draft=boolean(said.get("isDraft")) if is_pull else None,
        created_at=moment(said.get("createdAt")),
        updated_at=moment(said.get("updatedAt")),
        closed_at=moment(said.get("closedAt")),
        merged_at=moment(said.get("mergedAt")),
        closed_by=who(_login(closer)) if closer else None,
        url=text(said.get("url")),
    )


def _login(author: Any) -> str:
    """The name that the REST interface gives: bots carry a mark there, deleted accounts a name."""
    found = text(entry(author, "login"))
    if not found:
        return "ghost"
    is_bot = entry(author, "__typename") == "Bot" and not found.endswith("[bot]")
    return f"{found}[bot]" if is_bot else found

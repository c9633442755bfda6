"""`--dry-run`: what a fetch would cost, learnt with at most three requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from faultatlas.miner.issues import plan
from faultatlas.miner.issues.completeness import search_text
from faultatlas.miner.issues.plan import Parts, Plan
from faultatlas.miner.payload import entries, entry, integer
from faultatlas.miner.refusals import Refused
from faultatlas.miner.sources import Tracker, tracker
from faultatlas.miner.sources import github_graphql as graphql

if TYPE_CHECKING:
    from faultatlas.miner.client import Client
    from faultatlas.miner.issues.fetch import Wishes
    from faultatlas.miner.projects import Project
    from faultatlas.miner.selection import Selection


@dataclass(frozen=True)
class Preview:
    """The plan, and how many issues it is for."""

    plan: Plan
    issues: int


def preview(client: Client, project: Project, wishes: Wishes) -> Preview:
    """Count what there is, and plan for it as a fetch into an empty study would."""
    selection, source = wishes.selection, tracker(project.source)
    by_graphql = project.source == "github" and client.has_token
    if by_graphql:
        counts = _counted_by_graphql(client, project, selection)
    else:
        counts = _counted_by_lists(client, source, project, selection)
    issues, parts, comments = counts.issues, counts.parts, counts.comments
    strategy: plan.Strategy = "none"
    comment_requests = 0
    if wishes.comments:
        singly: plan.Strategy = "graphql" if by_graphql else "issue"
        strategy = plan.cheapest(parts, [singly, "repository"], comments)
        comment_requests = plan.part_requests(parts, strategy, comments)
        # A fetch asks the list of all comments how long it is, and may then leave it.
        comment_requests += strategy == "issue" and comments is not None and selection.labels != ()
    events = plan.part_requests(Parts(issues, issues), "graphql" if by_graphql else "issue")
    return Preview(
        Plan(
            strategy,
            plan.walk_requests(issues),
            comment_requests,
            events if wishes.events else 0,
            is_exact=counts.is_exact and not (selection.any_label or wishes.events),
            is_least=counts.is_least,
        ),
        issues,
    )


@dataclass(frozen=True)
class _Counts:
    """What a source says that there is."""

    issues: int
    parts: Parts
    comments: int | None = None  # of the whole repository, where a list told
    is_exact: bool = True
    is_least: bool = False


def _counted_by_graphql(client: Client, project: Project, selection: Selection) -> _Counts:
    # The list has pull requests in it, wanted or not; their comments are read only if wanted.
    kind = () if selection.pulls else ("is:issue",)
    asked = {
        "all": search_text(project.name, selection),
        "commented": search_text(project.name, selection, *kind, "comments:>0"),
        "long": search_text(project.name, selection, *kind, "comments:>100"),
    }
    said = entry(client.graphql(graphql.COUNT_QUERY, asked).json(), "data")
    found = {name: integer(entry(said, name, "issueCount")) or 0 for name in asked}
    if not found["all"]:
        client.get(f"/repos/{project.name}")  # a search finds nothing in what is not there
    parts = Parts(found["commented"], found["commented"] + found["long"])
    return _Counts(found["all"], parts)


def _counted_by_lists(
    client: Client, source: Tracker, project: Project, selection: Selection
) -> _Counts:
    address = source.issues_url(project.name, selection, None)
    issues = _length(client, source, address)
    if issues is None:
        return _counted_otherwise(client, source, project, selection, address)
    comments = _length(client, source, source.comments_url(project.name, None))
    commented = None
    if project.source == "github":
        kind = () if selection.pulls else ("is:issue",)
        commented = _found(client, search_text(project.name, selection, *kind, "comments:>0"))
    rows = issues if commented is None else commented
    return _Counts(issues, Parts(rows, rows), comments, is_exact=comments is not None)


def _counted_otherwise(
    client: Client, source: Tracker, project: Project, selection: Selection, address: str
) -> _Counts:
    """A list that gives cursors does not say how long it is: a search may, with its two kinds.

    That leaves no request for the comments, so any issue may have some.
    """
    issues = None
    if project.source == "github":
        issues = _found(client, search_text(project.name, selection, "is:issue"))
    if issues is None:
        first = client.get(address)
        has_more = source.next_url(first) is not None
        rows = len(list(entries(first.json()))) + has_more
        return _Counts(rows, Parts(rows, rows), is_exact=False, is_least=has_more)
    pulls = _found(client, search_text(project.name, selection, "is:pr"))
    rows = issues + (pulls or 0)
    return _Counts(rows, Parts(rows, rows), is_exact=False, is_least=pulls is None)


def _found(client: Client, text: str) -> int | None:
    """How many a search finds, where the server searches."""
    url = f"/search/issues?{urlencode({'per_page': 1, 'q': text})}"
    try:
        return integer(entry(client.get(url).json(), "total_count"))
    except Refused:
        return None


def _length(client: Client, source: Tracker, url: str) -> int | None:
    """Rows of a list, from a page of one row: its last page's number, if the server tells it."""
    response = client.get(url.replace("per_page=100", "per_page=1"))
    if not list(entries(response.json())):
        return 0
    return source.pages(response)

"""`--plan`: what a fetch would cost, learnt with at most three requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from miner import graphql, plan
from miner.completeness import search_text
from miner.payload import entry, integer
from miner.plan import Parts, Plan
from miner.refusals import Refused
from miner.sources import Tracker, tracker

if TYPE_CHECKING:
    from miner.client import Client
    from miner.fetching import Options
    from miner.projects import Project
    from miner.selection import Selection


@dataclass(frozen=True)
class Preview:
    """The plan, and how many issues it is for."""

    plan: Plan
    issues: int


def preview(client: Client, project: Project, selection: Selection, options: Options) -> Preview:
    """Count what there is, and plan for it as a fetch into an empty study would."""
    source = tracker(project.source)
    if project.source == "github" and client.has_token:
        issues, parts = _counted_by_graphql(client, project, selection)
        comments = None
    else:
        issues, parts, comments = _counted_by_lists(client, source, project, selection)
    by_graphql = project.source == "github" and client.has_token
    strategy: plan.Strategy = "none"
    comment_requests = 0
    if options.comments:
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
            events if options.timeline else 0,
            is_exact=not (selection.any_label or options.timeline),
        ),
        issues,
    )


def _counted_by_graphql(
    client: Client, project: Project, selection: Selection
) -> tuple[int, Parts]:
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
    return found["all"], Parts(found["commented"], found["commented"] + found["long"])


def _counted_by_lists(
    client: Client, source: Tracker, project: Project, selection: Selection
) -> tuple[int, Parts, int | None]:
    issues = _length(client, source, source.issues_url(project.name, selection, None))
    comments = _length(client, source, source.comments_url(project.name, None))
    commented: int | None = None
    if project.source == "github":
        text = search_text(project.name, selection, "comments:>0")
        url = f"/search/issues?{urlencode({'per_page': 1, 'q': text})}"
        try:
            commented = integer(entry(client.get(url).json(), "total_count"))
        except Refused:  # not every server searches
            commented = None
    rows = issues if commented is None else commented
    return issues, Parts(rows, rows), comments


def _length(client: Client, source: Tracker, url: str) -> int:
    """Rows of a list, from a page of one row: its last page's number."""
    response = client.get(url.replace("per_page=100", "per_page=1"))
    said: Any = response.json()
    if not said:
        return 0
    return source.pages(response) or plan.rows_of_pages(1)

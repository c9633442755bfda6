"""`miner fetch`: a project's issues with their comments and events, complete and no dearer than
they must be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.ingest import Ingest
from faultatlas.miner.issues import completeness, plan, scope
from faultatlas.miner.issues.comments import read_comments
from faultatlas.miner.issues.parts import COMMENTS, EVENTS, PartReader
from faultatlas.miner.issues.plan import Parts, Plan
from faultatlas.miner.issues.verify import Verified, verify
from faultatlas.miner.payload import entries, integer
from faultatlas.miner.selection import Selection
from faultatlas.miner.sources import PAGE

if TYPE_CHECKING:
    from faultatlas.miner.client import Client
    from faultatlas.miner.http import Response
    from faultatlas.miner.issues.scope import Scope


@dataclass(frozen=True)
class Wishes:
    """What a user asks for."""

    selection: Selection
    comments: bool = True
    events: bool = False
    verification: bool = False


@dataclass
class Fetched:
    """What a fetch did."""

    plan: Plan
    stored: dict[str, int]  # issues, pulls and comments that the study has of the selection now
    is_changed: bool
    gaps: list[dict[str, Any]] = field(default_factory=list)
    counted: completeness.Counted | None = None
    verified: Verified | None = None


def fetch(ingest: Ingest, wishes: Wishes, tell: Callable[[str], None]) -> Fetched:
    """Bring a project's issues into the study, or what changed since the last time."""
    before = ingest.client.sent
    is_changed = False
    for selection in wishes.selection.streams():
        is_changed |= _read_list(ingest, selection, wishes, tell)
    listing = ingest.client.sent - before
    # Before comments: of what is gone there are none to ask for.
    verified = verify(ingest, wishes.selection) if wishes.verification else None
    area = scope.of_selection(ingest.project.repository, wishes.selection)
    made = read_parts(ingest, area, wishes, listing, tell)
    done = finish(ingest, area, wishes, made, is_changed=is_changed)
    return replace(done, verified=verified)


def _read_list(
    ingest: Ingest, selection: Selection, wishes: Wishes, tell: Callable[[str], None]
) -> bool:
    def say_plan(first: Response) -> bool:
        planned = estimate(ingest, first, wishes)
        ingest.planned = ingest.client.sent - 1 + planned.requests
        tell(f"plan: {planned.words()}")
        return True

    return ingest.walk(
        "issues",
        {"kind": "issues", "selection": selection.as_json()},
        lambda since: ingest.tracker.issues_url(ingest.name, selection, since),
        selection=selection,
        on_first=say_plan,
    )


def estimate(ingest: Ingest, first: Response, wishes: Wishes) -> Plan:
    """The plan as far as the first page of a list tells: the rest may be unlike it."""
    listed = list(entries(first.json()))
    pages = ingest.tracker.pages(first)
    is_least = pages is None and ingest.tracker.next_url(first) is not None
    rows = len(listed) + is_least if pages in (1, None) else plan.rows_of_pages(pages or 1)
    growth = rows / len(listed) if listed else 0.0
    counts = [integer(item.get("comments")) or 0 for item in listed]
    commented = round(growth * sum(count > 0 for count in counts))
    parts = Parts(commented, max(commented, round(growth * sum(counts) / PAGE)))
    ways = PartReader(ingest, scope.of_project(ingest.project.repository), COMMENTS).offered()
    strategy: plan.Strategy = "none"
    in_all = round(growth * sum(counts)) if is_whole(ingest, wishes.selection) else None
    if wishes.comments:
        strategy = plan.cheapest(parts, [*ways, "repository"], in_all)
    return Plan(
        strategy,
        plan.walk_requests(rows),
        plan.part_requests(parts, strategy, in_all),
        plan.part_requests(Parts(rows, rows), ways[0]) if wishes.events else 0,
        is_exact=False,
        is_least=is_least,
    )


def is_whole(ingest: Ingest, selection: Selection) -> bool:
    """Whether a selection is all that a repository has, so that its comments are counted."""
    return selection == Selection() and ingest.tracker.has_pulls


def read_parts(
    ingest: Ingest, area: Scope, wishes: Wishes, listing: int, tell: Callable[[str], None]
) -> Plan:
    """Comments and events of what the list brought; the plan that was followed."""
    strategy: plan.Strategy = "none"
    comment_requests = event_requests = 0
    is_exact = True
    if wishes.comments:
        everything = is_whole(ingest, wishes.selection)
        strategy, comment_requests, is_exact = read_comments(
            ingest, area, is_whole=everything, tell=tell
        )
    if wishes.events:
        event_requests = read_events(ingest, area)
        is_exact = False  # nothing tells beforehand which issues have more than a page of events
    return Plan(strategy, listing, comment_requests, event_requests, is_exact)


def read_events(ingest: Ingest, area: Scope) -> int:
    """Read the events that are pending; the requests that it should take."""
    events = PartReader(ingest, area, EVENTS)
    with ingest.study.reading() as study:
        parts = area.pending(study, EVENTS.name)
    how = plan.cheapest(parts, events.offered())
    cost = plan.part_requests(parts, how)
    ingest.planned = ingest.client.sent + cost
    events.read(how)
    return cost


def finish(ingest: Ingest, area: Scope, wishes: Wishes, made: Plan, *, is_changed: bool) -> Fetched:
    """Check what was fetched against what the tracker counts."""
    counted = completeness.check(ingest, wishes.selection) if is_changed else None
    with ingest.study.reading() as reader:
        stored = area.count(reader) | area.count_parts(reader)
        stored |= forgetting.counts(reader, ingest.project.key)
        gaps = area.gaps(reader) if wishes.comments else []
    return Fetched(made, stored, is_changed, gaps, counted)


def client_words(client: Client) -> str:
    """What an anonymous fetch means."""
    if client.has_token:
        return ""
    if client.kind == "gitee":
        return "without GITEE_TOKEN: Gitee's quota for everybody behind this address holds"
    if urlsplit(client.api_url).hostname != "api.github.com":
        return "without GITHUB_TOKEN: with one the quota is larger, and comments cost less"
    return "without GITHUB_TOKEN: 60 requests an hour; with one it is 5,000, and comments cost less"

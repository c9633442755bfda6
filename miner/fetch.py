"""`miner fetch`: a project's issues with their comments and events, complete and no dearer than
they must be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from miner import completeness, plan, scope
from miner.comments import read_comments
from miner.ingest import Ingest
from miner.parts import COMMENTS, EVENTS, PartReader
from miner.plan import Parts, Plan
from miner.selection import Selection

if TYPE_CHECKING:
    from miner.client import Client
    from miner.http import Response
    from miner.scope import Scope


@dataclass(frozen=True)
class Wishes:
    """What a user asks for."""

    selection: Selection
    comments: bool = True
    events: bool = False


@dataclass
class Fetched:
    """What a fetch did."""

    plan: Plan
    stored: dict[str, int]  # issues, pulls and comments that the study has of the selection now
    is_changed: bool
    gaps: list[dict[str, Any]] = field(default_factory=list)
    counted: completeness.Counted | None = None


def fetch(ingest: Ingest, wishes: Wishes, tell: Callable[[str], None]) -> Fetched:
    """Bring a project's issues into the study, or what changed since the last time."""
    before = ingest.client.sent
    is_changed = False
    for selection in wishes.selection.streams():
        is_changed |= _read_list(ingest, selection, wishes, tell)
    listing = ingest.client.sent - before
    area = scope.of_selection(ingest.project.repository, wishes.selection)
    made = read_parts(ingest, area, wishes, listing, tell)
    return finish(ingest, area, wishes, made, is_changed=is_changed)


def _read_list(
    ingest: Ingest, selection: Selection, wishes: Wishes, tell: Callable[[str], None]
) -> bool:
    def say_plan(first: Response) -> bool:
        tell(f"plan: {estimate(ingest, first, wishes).words()}")
        return True

    return ingest.walk(
        "issues",
        {"kind": "issues", "selection": selection.as_json()},
        lambda since: ingest.tracker.issues_url(ingest.name, selection, since),
        selection=selection,
        on_first=say_plan,
    )


def estimate(ingest: Ingest, first: Response, wishes: Wishes) -> Plan:
    """The plan as far as the first page of a list tells."""
    pages = ingest.tracker.pages(first)
    listed = first.json()
    commented = sum(1 for item in listed if isinstance(item, dict) and item.get("comments"))
    rows = len(listed) if pages in (1, None) else plan.rows_of_pages(pages or 1)
    share = commented / len(listed) if listed else 0.0
    parts = Parts(round(rows * share), round(rows * share))
    reader = PartReader(ingest, scope.of_project(ingest.project.repository), COMMENTS)
    strategy = plan.cheapest(parts, reader.offered())
    return Plan(
        strategy if wishes.comments else "none",
        plan.walk_requests(rows),
        plan.part_requests(parts, strategy) if wishes.comments else 0,
        plan.part_requests(Parts(rows, rows), "graphql" if ingest.client.has_token else "issue")
        if wishes.events
        else 0,
        is_exact=False,
    )


def read_parts(
    ingest: Ingest, area: Scope, wishes: Wishes, listing: int, tell: Callable[[str], None]
) -> Plan:
    """Comments and events of what the list brought; the plan that was followed."""
    strategy: plan.Strategy = "none"
    comment_requests = event_requests = 0
    if wishes.comments:
        is_whole = wishes.selection == Selection() and ingest.tracker.has_pulls
        strategy, comment_requests = read_comments(ingest, area, is_whole=is_whole, tell=tell)
    if wishes.events:
        events = PartReader(ingest, area, EVENTS)
        with ingest.study.reading() as study:
            parts = area.pending(study, EVENTS.name)
        how = plan.cheapest(parts, events.offered())
        event_requests = plan.part_requests(parts, how)
        events.read(how)
    return Plan(strategy, listing, comment_requests, event_requests)


def finish(ingest: Ingest, area: Scope, wishes: Wishes, made: Plan, *, is_changed: bool) -> Fetched:
    """Check what was fetched against what the tracker counts."""
    counted = completeness.count(ingest, wishes.selection) if is_changed else None
    with ingest.study.reading() as reader:
        stored = area.count(reader) | area.count_parts(reader)
        gaps = area.gaps(reader) if wishes.comments else []
    return Fetched(made, stored, is_changed, gaps, counted)


def client_words(client: Client) -> str:
    """What an anonymous fetch means."""
    if client.has_token:
        return ""
    if client.kind == "gitee":
        return "without GITEE_TOKEN: Gitee's quota for everybody behind this address holds"
    return "without GITHUB_TOKEN: 60 requests an hour; with one it is 5,000, and comments cost less"

"""What a fetch will cost in requests, and the cheapest way to get comments.

Never a request for each issue for what a list has given already: issues come from lists. Their
comments come from the list of all comments of the repository, issue by issue, or a hundred
issues at a time by GraphQL, which GitHub gives only with a token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from faultatlas.miner.sources import PAGE
from faultatlas.report.formatting import counted

Strategy = Literal["none", "repository", "graphql", "issue"]

WORDS: dict[Strategy, str] = {
    "none": "no comments",
    "repository": "the comments of the whole repository, page by page",
    "graphql": "the comments of a hundred issues at a time, by GraphQL",
    "issue": "comments issue by issue",
}


@dataclass(frozen=True)
class Parts:
    """Issues whose comments (or events) are to be read."""

    issues: int = 0
    pages: int = 0  # of a hundred, issue by issue

    @property
    def further_pages(self) -> int:
        """Beyond the first of each issue."""
        return self.pages - self.issues


@dataclass(frozen=True)
class Plan:
    """How a project is fetched, and how many requests that takes if nothing goes wrong."""

    strategy: Strategy
    list_requests: int
    comment_requests: int
    event_requests: int = 0
    is_exact: bool = True
    is_least: bool = False  # the source does not say how long a list is; there may be far more

    @property
    def requests(self) -> int:
        """In all."""
        return self.list_requests + self.comment_requests + self.event_requests

    def words(self) -> str:
        """For a reader."""
        about = "at least " if self.is_least else "" if self.is_exact else "about "
        said = f"{about}{counted(self.requests, 'request')}: {self.list_requests:,} for the list"
        if self.strategy == "issue" and not self.is_exact and not self.is_least:
            said += (
                f", at most {self.comment_requests:,} for comments: issue by issue, or all of the "
                "repository's where that is cheaper"
            )
        elif self.strategy != "none":
            said += f", {self.comment_requests:,} for {WORDS[self.strategy]}"
        if self.event_requests:
            said += f", {self.event_requests:,} for events"
        return said

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "requests": self.requests}


def walk_requests(rows: int) -> int:
    """Pages of a list walked by time: each begins with the last row of the one before."""
    return 1 if rows <= PAGE else 1 + math.ceil((rows - PAGE) / (PAGE - 1))


def rows_of_pages(pages: int) -> int:
    """The most rows that so many counted pages hold."""
    return pages * PAGE


def part_requests(parts: Parts, strategy: Strategy, repository_rows: int | None = None) -> int:
    """Requests for the comments or events of issues."""
    match strategy:
        case "none":
            return 0
        case "repository":
            return walk_requests(repository_rows or 0)
        case "graphql":
            return math.ceil(parts.issues / PAGE) + parts.further_pages
        case "issue":
            return parts.pages


def cheapest(
    parts: Parts, offered: Sequence[Strategy], repository_rows: int | None = None
) -> Strategy:
    """The strategy with the fewest requests; the first offered of those that cost the same."""
    if parts.issues == 0:
        return "none"
    known = [each for each in offered if each != "repository" or repository_rows is not None]
    return min(known, key=lambda each: part_requests(parts, each, repository_rows))

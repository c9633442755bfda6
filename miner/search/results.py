"""What a search of repositories will cost, how far it is, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from faultatlas.data.old.results import Column, Table
from faultatlas.miner.search.slices import Slice


@dataclass(frozen=True)
class SearchPlan:
    """What a search will cost."""

    search: str
    counts: Mapping[str, int]  # by query
    slices: int
    requests: int
    requests_a_minute: int  # that the source grants

    @property
    def minutes(self) -> int:
        """How long it takes at least."""
        return -(-self.requests // self.requests_a_minute)

    def words(self) -> str:
        """For a reader."""
        about = "about " if self.slices > len(self.counts) else ""
        return (
            f"{sum(self.counts.values()):,} repositories in {about}{self.slices:,} slices: "
            f"{about}{self.requests:,} requests, {self.minutes:,} min at "
            f"{self.requests_a_minute} a minute"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "minutes": self.minutes}


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is."""

    found: int  # different repositories in this turn
    total: int | None  # None until every query was counted
    pages: int  # of this run
    slices_left: int


@dataclass(frozen=True)
class SearchResult:
    """What a search found, in its newest turn."""

    search: str
    turn: int
    was_resumed: bool
    total: int  # as the source counted at the beginning
    found: int  # different repositories
    kept: int
    left_out: Mapping[str, int]
    no_longer_found: int  # kept in an earlier turn
    new: int  # rows of this run
    changed: int
    pages: int
    requests: int
    slices: tuple[Slice, ...]

    @property
    def missing(self) -> int:
        """Results that were counted and not given."""
        return sum(each.missing for each in self.slices)

    @property
    def is_complete(self) -> bool:
        """Whether the source gave all that it counted."""
        return all(each.state in ("complete", "split") for each in self.slices)

    def words(self) -> str:
        """For a reader."""
        out = [f"{count:,} {kind}" for kind, count in self.left_out.items() if count]
        said = (
            f"{self.search}: {self.found:,} repositories found, {self.kept:,} kept "
            f"({self.new:,} new, {self.changed:,} changed)"
        )
        said += f", left out: {', '.join(out)}" if out else ""
        asked = sum(each.pages > 0 for each in self.slices)
        return f"{said}; {asked:,} slice{'s' * (asked != 1)}, {self.requests:,} requests"

    def problems(self) -> list[str]:
        """Why the search is not complete: the cause, then what to do."""
        told = {
            "truncated": "had more than 1,000 results in one second, of which GitHub gives 1,000; "
            "narrow the query, for example by language or stars",
            "incomplete": "were not searched to the end by GitHub, also not after several "
            "attempts; run the same command again later",
            "short": "gave fewer repositories than GitHub counted, twice; run the same command "
            "again later",
        }
        counted = {state: [s for s in self.slices if s.state == state] for state in told}
        return [
            f"{len(found):,} of {len(self.slices):,} slices {told[state]} "
            f"({sum(each.missing for each in found):,} repositories missing)"
            for state, found in counted.items()
            if found
        ]

    def table(self) -> Table:
        """The slices, oldest first."""
        columns = (
            Column("query", "Query", "code", aside=True),
            Column("created_from", "Created from", "code"),
            Column("created_to", "to (UTC)", "code"),
            Column("total_count", "Counted", "count"),
            Column("found_count", "Found", "count"),
            Column("pages", "Pages", "count"),
            Column("state", "State"),
        )
        asked = [each for each in self.slices if each.pages]
        rows = tuple(
            (
                each.query,
                f"{each.created_from:%Y-%m-%d %H:%M:%S}",
                f"{each.end:%Y-%m-%d %H:%M:%S}",
                each.total_count,
                each.found_count,
                each.pages,
                each.state,
            )
            for each in sorted(asked, key=lambda each: (each.query, each.created_from, each.number))
        )
        note = "Split: more than 1,000 results, asked for again in parts."
        return Table("slices", f"Slices of {self.search}", columns, rows, note, folded=True)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "search": self.search,
            "turn": self.turn,
            "complete": self.is_complete,
            "resumed": self.was_resumed,
            "total": self.total,
            "found": self.found,
            "kept": self.kept,
            "left_out": dict(self.left_out),
            "missing": self.missing,
            "no_longer_found": self.no_longer_found,
            "new": self.new,
            "changed": self.changed,
            "pages": self.pages,
            "requests": self.requests,
            "problems": self.problems(),
            "slices": self.table().records(),
        }

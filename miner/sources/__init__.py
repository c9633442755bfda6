"""Where evidence comes from: one file a source, found by its name.

A source has `TRACKER`, which knows the addresses of lists and reads an exchange into rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol

from data.errors import StudyError

if TYPE_CHECKING:
    from data.records import Rows
    from miner.archive import Exchange
    from miner.http import Response
    from miner.payload import Who
    from miner.selection import Selection

PAGE = 100  # rows in a page: the most that GitHub and Gitee give


class Tracker(Protocol):
    """An issue tracker's addresses, and what its answers mean."""

    name: str
    has_pulls: bool  # whether its list of issues holds pull requests
    has_timeline: bool
    states: tuple[str, ...]  # that a list can be asked for

    def issues_url(self, project: str, selection: Selection, since: str | None) -> str:
        """The list of issues from a time of update on, oldest update first."""

    def comments_url(self, project: str, since: str | None) -> str:
        """The list of all comments of a project from a time of update on, oldest update first."""

    def issue_url(self, project: str, number: str) -> str:
        """One issue."""

    def issue_comments_url(self, project: str, number: str) -> str:
        """The comments of one issue, oldest first."""

    def timeline_url(self, project: str, number: str) -> str:
        """The events of one issue, oldest first."""

    def next_url(self, response: Response) -> str | None:
        """The page that follows, if there is one."""

    def pages(self, response: Response) -> int | None:
        """How many pages the list has in all, as far as the answer says."""

    def read(self, exchange: Exchange, who: Who) -> Rows:
        """The rows that an answer holds."""


@cache
def trackers() -> Mapping[str, Tracker]:
    """All sources by name."""
    found: dict[str, Tracker] = {}
    for module in iter_modules(__path__):
        tracker = getattr(import_module(f"{__name__}.{module.name}"), "TRACKER", None)
        if tracker is not None:
            found[tracker.name] = tracker
    return found


def tracker(name: str) -> Tracker:
    """The source of that name."""
    if name not in trackers():
        known = ", ".join(sorted(trackers()))
        raise StudyError(f"there is no source {name!r}", f"Sources are {known}.")
    return trackers()[name]

"""Where evidence comes from: one file a source, found by its name.

A source has `TRACKER`, which knows the addresses of lists and reads an exchange into rows; one
that is no issue tracker has `SOURCE`, which only reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol, TypeVar

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.old.records import Rows
    from faultatlas.miner.archive import Exchange
    from faultatlas.miner.http import Response
    from faultatlas.miner.payload import Who
    from faultatlas.miner.selection import Selection

_Found = TypeVar("_Found")

PAGE = 100  # rows in a page: the most that GitHub and Gitee give


class Source(Protocol):
    """What the answers of a source mean."""

    name: str

    def read(self, exchange: Exchange, who: Who) -> Rows:
        """The rows that an answer holds."""


class Tracker(Source, Protocol):
    """An issue tracker's addresses, and what its answers mean."""

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


@cache
def sources() -> Mapping[str, Source]:
    """All sources by name."""
    modules = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
    found = [getattr(each, "SOURCE", None) for each in modules]
    return {**trackers(), **{each.name: each for each in found if each is not None}}


@cache
def trackers() -> Mapping[str, Tracker]:
    """The issue trackers among them."""
    modules = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
    found = [getattr(each, "TRACKER", None) for each in modules]
    return {each.name: each for each in found if each is not None}


def source(name: str) -> Source:
    """The source of that name."""
    return _named(name, sources())


def tracker(name: str) -> Tracker:
    """The issue tracker of that name."""
    return _named(name, trackers())


def _named(name: str, known: Mapping[str, _Found]) -> _Found:
    if name not in known:
        raise StudyError(f"there is no source {name!r}", f"Known: {', '.join(sorted(known))}.")
    return known[name]

"""What an index of papers is to us: its addresses, its key, and what its answers mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from faultatlas.miner.papers.entries import Entry
from faultatlas.miner.tokens import Wanted


@dataclass(frozen=True)
class Query:
    """A question to an index."""

    text: str  # as the index takes it, years included
    name: str = ""  # in a template
    notes: tuple[str, ...] = ()  # what the index cannot be asked


@dataclass(frozen=True)
class Page:
    """What a page of results says beside its papers."""

    items: Sequence[Mapping[str, Any]]
    total: int | None  # results in all, as the index counts them
    following: str | None  # the address of the next page


@dataclass(frozen=True)
class Manner:
    """How a list is asked for; a key may not allow every manner."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None  # results that can be reached
    loss: str = ""  # what it does not give, for a reader


class Service(Protocol):
    """An index with an API."""

    name: Wanted
    title: str  # as a user calls it
    api: str
    key_header: str  # '' where the key goes into the address
    key_parameter: str
    kind: str  # of its exchanges
    longest_wait_s: float  # for which its quota may be used up

    def query(self, text: str, since: int | None, until: int | None) -> Query:
        """A question of the user's."""

    def manners(self, *, has_key: bool) -> Sequence[Manner]:
        """Manners of asking, the best first."""

    def first_url(self, query: Query, manner: Manner) -> str:
        """The first page."""

    def page(self, said: Any, url: str) -> Page | None:
        """What an answer holds; None for what is no list."""

    def entries(self, items: Sequence[Mapping[str, Any]]) -> list[Entry | None]:
        """Papers by item; None for what is none."""

    def error_words(self, said: Any) -> str:
        """What an error says."""

    def is_not_allowed(self, status: int, words: str) -> bool:
        """Whether another manner may be allowed."""

    def refusal(self, status: int, words: str, *, key_name: str, has_key: bool) -> tuple[str, str]:
        """Why it refuses, and the next step."""

    def seconds_to_reset(self, header: float, now_s: float) -> float:
        """What its header `X-RateLimit-Reset` means, in seconds from now."""

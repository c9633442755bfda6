"""The ways in which a fetch gets comments, each with a small world that makes it the cheapest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopback.exchange import Request
from loopback.world import TOKEN, World

PLENTY = 100_000  # requests


def hundreds() -> World:
    """Two pages of issues, two batches of comments; one issue has three pages of them."""
    world = World.generated(130, comments_each=1)
    for entry in world.tracker.entries.values():
        entry.comments = 1
    world.tracker.entries[31].comments = 230
    return world


def few() -> World:
    """Fewer pages of all comments than issues; one timestamp fills more than a page."""
    world = World.generated(11, comments_each=1)
    world.page_limit = 4
    for number in range(3, 8):
        world.tracker.entries[number].updated = world.tracker.entries[7].updated
    return world


def rare() -> World:
    """Few issues with the label among many comments; one of them has three pages of comments."""
    world = World.generated(40, comments_each=2)
    world.page_limit = 3
    for number, entry in world.tracker.entries.items():
        entry.labels = ("crash",) if number in {6, 11, 13, 22} else ()
    world.tracker.entries[11].comments = 7
    return world


@dataclass(frozen=True)
class Way:
    """Its world, the options of the fetch, and the requests if nothing goes wrong.

    These are L list of issues, G GraphQL, C comments of the repository (c: only asked for its
    length), I comments of an issue, S search.
    """

    make: Callable[[], World]
    kinds: str
    arguments: tuple[str, ...]
    token: str | None = None

    def world(self) -> World:
        """A new one, where no quota is in the way."""
        made = self.make()
        for token in (None, TOKEN):
            for resource in ("core", "search", "graphql"):
                made.quota(token, resource).remaining = PLENTY
        return made


WAYS = {
    "graphql": Way(hundreds, "LLGGGGGGS", ("--timeline", "--no-pulls"), TOKEN),
    "repository": Way(few, "LLLLLLCCCS", ("--no-pulls",)),
    "issue": Way(rare, "LLcIIIIIIS", ("--label", "crash", "--no-pulls")),
}
PATHS = {
    "L": "/issues?",
    "G": "/graphql",
    "C": "/issues/comments?",
    "c": "/issues/comments?",
    "I": "/comments?per_page",
    "S": "/search/",
}
UNSTORED = "cS"


def asked(requests: list[Request]) -> list[tuple[str, bytes]]:
    """What tells a page from another."""
    return [(request.target, request.body) for request in requests]

"""`--plan`: what it would cost to fetch questions; one request for each list, nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from faultatlas.miner.payload import entry, integer
from faultatlas.miner.sources import PAGE
from faultatlas.report.formatting import count, counted

if TYPE_CHECKING:
    from faultatlas.miner.posts.client import Client
    from faultatlas.miner.posts.selection import PostSelection

_A_DAY = {True: 10_000, False: 300}  # requests with a key and without


@dataclass(frozen=True)
class PostPlan:
    """Questions of each list, as the site counts them."""

    site: str
    questions: dict[str, int]
    has_key: bool

    @property
    def requests(self) -> int:
        """Each page after the first begins with the last question of the one before."""
        return 1 + sum(max(1, -(-number // (PAGE - 1))) for number in self.questions.values())

    @property
    def days(self) -> int:
        """How many days the quota makes of it."""
        return -(-self.requests // _A_DAY[self.has_key])

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "site": self.site,
            "questions": self.questions,
            "requests": self.requests,
            "requests_a_day": _A_DAY[self.has_key],
            "days": self.days,
            "words": self.words(),
        }

    def words(self) -> str:
        """For a reader."""
        found = ", ".join(f"{tags}: {count(number)}" for tags, number in self.questions.items())
        quota = f"{count(_A_DAY[self.has_key])} a day {'with' if self.has_key else 'without'} a key"
        spread = "" if self.days <= 1 else f", so {counted(self.days, 'day')}"
        return (
            f"{self.site}: questions {found}; about {counted(self.requests, 'request')} "
            f"({quota}{spread})"
        )


def plan_posts(client: Client, selection: PostSelection) -> PostPlan:
    """Ask for the number of questions of each list."""
    questions = {}
    for tags in selection.walks:
        parameters: dict[str, str | int] = {
            "filter": "total",
            "site": selection.site,
            "tagged": ";".join(tags),
        }
        if selection.since is not None:
            parameters["fromdate"] = int(selection.since.replace(tzinfo=UTC).timestamp())
        said = client.get("/questions", parameters).json()
        questions[" and ".join(tags)] = integer(entry(said, "total")) or 0
    return PostPlan(selection.site, questions, client.has_key)

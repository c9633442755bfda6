"""Which questions of a site are meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown
from faultatlas.miner.posts.naming import STACK_OVERFLOW
from faultatlas.miner.selection import since_text

_TAG = re.compile(r"[^\s;|<>,/?&]{1,64}")


@dataclass(frozen=True)
class PostSelection:
    """Tags (any of them, or all), accepted answers only, and the oldest day of asking."""

    site: str = STACK_OVERFLOW
    tags: tuple[str, ...] = ()
    all_tags: bool = False
    accepted: bool = False
    since: datetime | None = None  # UTC without a zone
    answers: bool = True
    comments: bool = True

    @property
    def walks(self) -> list[tuple[str, ...]]:
        """Lists that the API can give: of questions that have all tags of the list."""
        return [self.tags] if self.all_tags else [(tag,) for tag in self.tags]

    def as_json(self, tags: tuple[str, ...]) -> dict[str, Any]:
        """Plain values, the same for the same list."""
        return {
            "tags": sorted(tags),
            "accepted": self.accepted,
            "since": since_text(self.since),
            "answers": self.answers,
            "comments": self.comments,
        }


def checked_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags as sites spell them, each once."""
    found = tuple(dict.fromkeys(tag.strip().lower() for tag in tags))
    for tag in found:
        if not _TAG.fullmatch(tag):
            raise StudyError(
                f"{shown(tag)} is no tag", "Write one tag with each --tag: --tag tensorflow."
            )
    return found

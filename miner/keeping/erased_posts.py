"""Text on a site of Stack Exchange without forgotten people and posts.

There a person is the number of an account, which addresses of user pages have. A number that
stands alone is none: it may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from faultatlas.miner.keeping.erased_words import Words
from faultatlas.miner.payload import Who


class PostWords(Words):
    """What may be said of one site's people and of all artifacts."""

    def __init__(
        self,
        artifacts: frozenset[str],
        people: frozenset[str],
        who: Who,
        project: str,
        on_person: Callable[[str], object] = lambda _pseudonym: None,
    ) -> None:
        super().__init__(artifacts, people, who, project, on_person)
        self.host = project.partition(":")[2]
        self._project = ""

    def erased_argument(self, text: str) -> str:
        """What was typed or computed; an account's number is not a word of its own."""
        return self.erased(text) if text.lstrip("-").isdecimal() else super().erased_argument(text)

    def _erased(self, text: str) -> str:
        if self._people and "/users/" in text:
            text = _user_pages(self.host).sub(self._without_user, text)
        return super()._erased(text)

    def _without_user(self, match: re.Match[str]) -> str:
        return f"{match[1]}0" if self.is_forgotten(match[2]) else match[0]


def words_of(artifacts: frozenset[str], people: frozenset[str], who: Who, project: str) -> Words:
    """The words for a project, such as github:pytorch/pytorch or stackoverflow:superuser.com."""
    kind = PostWords if project.startswith("stackoverflow:") else Words
    return kind(artifacts, people, who, project)


@cache
def _user_pages(site: str) -> re.Pattern[str]:
    """A user's page with the name behind the number, also without scheme or host in front."""
    return re.compile(
        rf"((?:(?<![A-Za-z0-9_.-])(?:www\.)?{re.escape(site)}|(?<![A-Za-z0-9_./-]))/users/)"
        r"(-?[0-9]{1,18}+)"
        r"(?:/[^\s\"'<>()&]{0,300}+)?",
        re.IGNORECASE,
    )

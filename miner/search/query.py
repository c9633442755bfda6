"""What `miner repos` looks for: a query in GitHub's words, and what to leave out of its results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from faultatlas.data.clock import utc_time
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown

Forks = Literal["no", "also", "only"]

_FORK_QUALIFIERS: dict[Forks, str] = {"no": "", "also": "fork:true", "only": "fork:only"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBERS = re.compile(r"([0-9]{1,9})?(\.\.)?([0-9]{1,9})?")


@dataclass(frozen=True)
class Times:
    """From a second to a second, both included; None is open."""

    first: datetime | None = None
    last: datetime | None = None

    def qualifier(self, name: str) -> str:
        """In GitHub's words; empty for all times."""
        first, last = (
            f"{each:%Y-%m-%dT%H:%M:%SZ}" if each else "" for each in (self.first, self.last)
        )
        if first and last:
            return f"{name}:{first}..{last}"
        return f"{name}:>={first}" if first else f"{name}:<={last}" if last else ""


ALWAYS = Times()


@dataclass(frozen=True)
class RepositoryQuery:
    """A query and its options; `repository_query` makes one of what a user types.

    GitHub does not say how it combines two languages, so each language is a query of its own.
    """

    text: str
    languages: tuple[str, ...] = ()
    pushed: Times = ALWAYS
    created: Times = ALWAYS
    stars: str = ""
    forks: Forks = "no"
    with_disabled: bool = False
    with_archived: bool = True

    @property
    def queries(self) -> tuple[str, ...]:
        """What GitHub is asked for, without the time of creation."""
        options = (self.pushed.qualifier("pushed"), self.stars, _FORK_QUALIFIERS[self.forks])
        words = " ".join(word for word in (self.text, *options) if word)
        return tuple(f"{words} {each}".strip() for each in self.languages) or (words,)

    @property
    def leave_out(self) -> tuple[str, ...]:
        """Kinds of repositories that are counted and not kept.

        GitHub leaves forks out by itself, but what it finds is not always up to date.
        """
        wanted = self.forks != "no" or re.search(r"(?:^|\s)fork:(?:true|only)\b", self.text.lower())
        kinds = (
            ("fork", not wanted),
            ("disabled", not self.with_disabled),
            ("archived", not self.with_archived),
        )
        return tuple(kind for kind, is_out in kinds if is_out)

    @property
    def name(self) -> str:
        """The search in one line, the same for the same search: its name in the study."""
        words = (
            self.text,
            *self.languages,
            self.pushed.qualifier("pushed"),
            self.created.qualifier("created"),
            self.stars,
            _FORK_QUALIFIERS[self.forks],
            "(with disabled)" if self.with_disabled else "",
            "" if self.with_archived else "(without archived)",
        )
        return " ".join(word for word in words if word)


def repository_query(
    text: str,
    *,
    languages: Iterable[str] = (),
    pushed: str | None = None,
    created: str | None = None,
    stars: str | None = None,
    forks: str = "no",
    with_disabled: bool = False,
    with_archived: bool = True,
) -> RepositoryQuery:
    """The query that a user typed."""
    words = " ".join(text.split())
    if re.search(r"(?:^|\s)-?created:", words.lower()):
        raise StudyError(
            f"the query {shown(words)} holds created:, by which long searches are cut into slices",
            "Give the range as an option: --created 2019-01-01..2021-08-30.",
        )
    if forks not in get_args(Forks):
        raise StudyError(f"{shown(forks)} is no choice for forks", "Choose no, also or only.")
    made = RepositoryQuery(
        words,
        tuple(sorted({_language(each) for each in languages}, key=str.casefold)),
        times(pushed) if pushed else ALWAYS,
        times(created) if created else ALWAYS,
        _stars(stars) if stars else "",
        "also" if forks == "also" else "only" if forks == "only" else "no",
        with_disabled,
        with_archived,
    )
    if not any(made.queries):
        raise StudyError(
            "the query is empty", "Write what to look for, such as: tensorflow, or topic:keras."
        )
    return made


def times(text: str) -> Times:
    """`2019-01-01..2021-08-30`; either end may be missing, one day alone is that day. In UTC."""
    first, dots, last = text.strip().partition("..")
    if not (first or last):
        raise StudyError(
            f"{shown(text)} is no range of days", "Write it like 2019-01-01..2021-08-30."
        )
    found = Times(
        utc_time(first) if first not in ("", "*") else None,
        _end(last if dots else first) if (last if dots else first) not in ("", "*") else None,
    )
    if found.first and found.last and found.first > found.last:
        raise StudyError(
            f"the range {shown(text)} ends before it begins", "Write the earlier day first."
        )
    return found


def _end(text: str) -> datetime:
    """The last second of a day, or the time itself."""
    found = utc_time(text)
    return found + timedelta(days=1, seconds=-1) if _DAY.fullmatch(text.strip()) else found


def _stars(text: str) -> str:
    parts = _NUMBERS.fullmatch(text.strip())
    least, dots, most = parts.groups() if parts else (None, None, None)
    if not parts or not (least or most) or (least and most and int(least) > int(most)):
        raise StudyError(
            f"{shown(text)} is no number of stars", "Write 10.. (at least), 10..50 or ..50."
        )
    if least and most:
        return f"stars:{least}..{most}"
    return f"stars:<={most}" if most else f"stars:>={least}" if dots else f"stars:{least}"


def _language(text: str) -> str:
    plain = " ".join(text.replace('"', " ").split())
    if not plain:
        raise StudyError("a language without a name", "Write it as GitHub does, such as Python.")
    return f'language:"{plain}"' if " " in plain else f"language:{plain}"

"""A sign of a threat: what the data show, and the number behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from faultatlas.data.old.results import Claim
from faultatlas.report.sections import Point

_MOST_NAMED = 8


@dataclass(frozen=True)
class Sign:
    """A threat as the study's own data show it."""

    point: Point
    claims: tuple[Claim, ...] = ()


def sign(key: str, title: str, text: str, command: str = "", *claims: Claim) -> Sign:
    """A sign, with its claims."""
    return Sign(Point(key, title, text, command), claims)


def listed(names: Iterable[object], most: int = _MOST_NAMED) -> str:
    """Names in a sentence: the first of them, and how many more there are."""
    every = [str(name) or "(empty)" for name in names]
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")

"""A number in what a pattern found."""

from __future__ import annotations

import re

_NUMBER = re.compile(
    r"[-+]?(?:(?<![A-Za-z_])(?:nan|inf(?:inity)?)(?![A-Za-z_])"
    r"|\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?"  # thousands with commas
    r"|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)",  # a unit may follow: 12.5s, 250ms
    re.IGNORECASE,
)


def number_in(text: str) -> float | None:
    """The first number of a text; None where there is none. NaN and infinity are numbers here."""
    found = _NUMBER.search(text[:200])
    return float(re.sub("[_,]", "", found[0])) if found else None

"""The day of a bug, from what its files say; '' where they say nothing."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from itertools import pairwise

# Numbers of questions grow with time. Between these days (rounded to weeks) it is a straight line.
_POSTS = (
    (1, "2008-07-31"),
    (1_700_000, "2009-11-09"),
    (11_200_000, "2012-06-26"),
    (20_000_000, "2013-11-15"),
    (30_000_000, "2015-05-02"),
    (40_000_000, "2016-10-12"),
    (50_000_000, "2018-04-24"),
    (60_000_000, "2020-01-31"),
    (70_000_000, "2021-11-17"),
)
_CREATED = re.compile(
    r"Created on (?:\w{3,9},? )?(?P<month>[A-Z][a-z]{2})[a-z]* +(?P<day>\d{1,2})"
    r".{0,24}?(?P<year>20\d\d)"
)
_POST = re.compile(r"(?:stackoverflow\.com/(?:questions|q)/|\A)(\d{6,8})(?:\D|\Z)")


def day_of_post(number: int) -> str:
    """About when a question of Stack Overflow was asked, by its number; '' beyond what is known."""
    for (low, first), (high, last) in pairwise(_POSTS):
        if low <= number <= high:
            begin, end = date.fromisoformat(first), date.fromisoformat(last)
            return (begin + (end - begin) * ((number - low) / (high - low))).isoformat()
    return ""


def post_number(text: str) -> int:
    """The number of a question, in an address or at the beginning of a name; 0 if there is none."""
    found = _POST.search(text)
    return int(found[1]) if found else 0


def day_of_script(text: str) -> str:
    """The day that an editor wrote on top of a script."""
    found = _CREATED.search(text[:3000])
    if not found:
        return ""
    try:
        written = f"{found['day']} {found['month']} {found['year']}"
        return datetime.strptime(written, "%d %b %Y").replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        return ""

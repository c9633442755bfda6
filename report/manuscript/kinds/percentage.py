"""A share against the count and the total that it is of."""

from __future__ import annotations

from operator import truediv

from faultatlas.report.manuscript.comparing import compared
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "percentage"
ABOUT = "a share against its count and total; several counts are added"
FIELDS = {"count": "the part, or several parts", "total": "the whole, or parts of it"}
EXAMPLE = """
printed = "40.0 %"
count = "154"
total = "385"
"""


def check(entry: Entry) -> Outcome:
    """The share of the counts in the total."""
    count = sum(each.value for each in entry.numbers("count"))
    total = sum(each.value for each in entry.numbers("total"))
    share = entry.guarded(truediv, count, total)
    return compared(entry, share, fraction=True)

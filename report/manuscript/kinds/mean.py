"""A mean of printed numbers."""

from __future__ import annotations

from statistics import fmean

from faultatlas.report.manuscript.comparing import computed_from
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "mean"
ABOUT = "a mean against the numbers that it is of"
FIELDS = {"values": "the numbers"}
EXAMPLE = """
printed = "227"
values = ["244", "210"]
"""


def check(entry: Entry) -> Outcome:
    """Their mean."""
    return computed_from(entry, entry.numbers("values"), fmean)

"""Check marks, counted: how many of them, or what share they are."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import compared
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "marks"
ABOUT = "a count or a share of marks in a table: FFPPF"
FIELDS = {
    "marks": "a sign for each row; spaces do not count",
    "counted": "the sign that is counted",
    "of": "count unless told, or share (optional)",
}
EXAMPLE = """
printed = "60 %"
marks = "F F P P F"
counted = "F"
of = "share"
"""


def check(entry: Entry) -> Outcome:
    """How often the sign stands there."""
    marks = "".join(entry.words("marks").split())
    counted = entry.words("counted")
    if len(counted) != 1 or not marks:
        raise entry.error("marks is a row of signs and counted one of them")
    share = entry.choice("of", ("count", "share")) == "share"
    if not share and any(each.percent for each in entry.printed()):
        raise entry.error("a share is printed", 'of = "share"')
    count = marks.count(counted)
    outcome = compared(entry, count / len(marks) if share else count, fraction=share)
    reason = f"{count} of {len(marks)} are {counted}; {outcome.reason}"
    return Outcome(outcome.verdict, outcome.computed, outcome.rule, reason, outcome.value)

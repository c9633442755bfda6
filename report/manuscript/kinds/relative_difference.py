"""How much less: (before - after) / before; of several pairs, the mean."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from faultatlas.report.manuscript.comparing import computed_from
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "relative-difference"
ABOUT = "(before - after) / before; of several pairs, the mean of these"
FIELDS = {
    "before": "the value that is compared with, or several",
    "after": "the other value, or as many",
    "increase": "true: (after - before) / before (optional)",
}
EXAMPLE = """
printed = "31.59 %"
before = "0.459"
after = "0.314"
"""


def check(entry: Entry) -> Outcome:
    """The difference, relative to the first value."""
    before, after = entry.numbers("before"), entry.numbers("after")
    if len(before) != len(after):
        raise entry.error(f"{len(before)} before and {len(after)} after", "as many of each")
    sign = -1 if entry.flag("increase") else 1

    def difference(values: Sequence[float]) -> float:
        first, second = values[: len(before)], values[len(before) :]
        return fmean(sign * (a - b) / a for a, b in zip(first, second, strict=True))

    return computed_from(entry, [*before, *after], difference, fraction=True)

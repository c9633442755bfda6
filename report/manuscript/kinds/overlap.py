"""Parts of a whole that may overlap: what was found by several keywords is counted once."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import shown
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "overlap"
ABOUT = "a total of parts that may overlap, also after a further step of selection"
FIELDS = {
    "parts": "the sizes of the parts",
    "earlier_parts": "the same parts before the selection (optional)",
    "earlier_total": "their printed total (optional)",
}
EXAMPLE = """
printed = "365"
parts = ["101", "65", "53", "20", "34", "90", "45", "37", "19", "30"]
"""
RULE = (
    "at least the largest part and at most the sum; exactly the sum if the parts before the "
    "selection added up, since parts of disjoint parts are disjoint"
)


def check(entry: Entry) -> Outcome:
    """Whether any overlap explains the total."""
    total = entry.only_printed()
    parts = [each.value for each in entry.numbers("parts")]
    least, most = max(parts), sum(parts)
    if entry.has("earlier_parts") or entry.has("earlier_total"):
        earlier = sum(each.value for each in entry.numbers("earlier_parts"))
        before = entry.number("earlier_total").value
        if earlier == before and total.value != most:
            reason = (
                f"before the selection the parts add up ({shown(before, digits=0)}), so that they "
                f"do not overlap; then the total is {shown(most, digits=0)}, not {total.text}"
            )
            return Outcome(failed(entry), shown(most, digits=0), RULE, reason, most)
    computed = f"{shown(least, digits=0)} to {shown(most, digits=0)}"
    if least <= total.value <= most:
        reason = f"{total.text} lies between the largest part and the sum"
        return Outcome("consistent", computed, RULE, reason)
    return Outcome(failed(entry), computed, RULE, f"no overlap gives {total.text}")

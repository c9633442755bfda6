"""Shares of a whole that must be whole counts: the total that they imply."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome
from faultatlas.report.manuscript.whole_counts import (
    LARGEST,
    nearest_total,
    shares_of,
    whole_counts,
)

NAME = "shares"
ABOUT = "a total against the shares of all its parts, each of which is a whole number of it"
FIELDS = {
    "shares": "the shares in percent, of all the parts",
    "digits": "decimals of the shares, if they are padded with zeros (optional)",
}
EXAMPLE = """
printed = "384"
shares = ["35.2 %", "13.3 %", "27.3 %", "5.5 %", "14.3 %", "4.4 %"]
"""
RULE = "each share must be a whole number of the total, rounded or cut, and these must add up to it"


def check(entry: Entry) -> Outcome:
    """Whether the total allows the shares; if not, the nearest that does."""
    printed = entry.only_printed()
    shares = shares_of(entry, "shares")
    total = int(printed.value)
    if not 0 < total <= LARGEST:
        raise entry.error(f"printed = {printed.text}", f"a total of 1 to {LARGEST:,}")
    if whole_counts(shares, total) is not None:
        reason = f"whole counts of {total:,} give all {len(shares)} shares"
        return Outcome("consistent", f"{total:,}", RULE, reason, float(total))
    nearest = nearest_total(shares, total)
    if nearest is None:
        reason = f"no total near {printed.text} gives these shares"
        return Outcome(failed(entry), "-", RULE, reason)
    found = whole_counts(shares, nearest) or []
    listed = " + ".join(str(each[0]) if len(each) == 1 else "..." for each in found)
    reason = f"no whole counts of {printed.text} give these shares; {listed} of {nearest:,} do"
    return Outcome(failed(entry), f"{nearest:,}", RULE, reason, float(nearest))

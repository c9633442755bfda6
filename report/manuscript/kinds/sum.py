"""A total against its parts."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, shown, slack
from faultatlas.report.manuscript.outcomes import Outcome, together

NAME = "sum"
ABOUT = "a printed total against the sum of its parts"
FIELDS = {"parts": "what is added"}
EXAMPLE = """
printed = "86"
parts = ["17", "28", "41"]
"""
RULE = "whole numbers add up exactly; rounded parts may be off by half a last digit each"


def check(entry: Entry) -> Outcome:
    """The sum, against the total in each place that prints it."""
    parts = entry.numbers("parts")
    printed = entry.printed()
    if not printed:
        raise entry.error("sum needs printed", "the total")
    return together([added(entry, total, parts) for total in printed])


def added(entry: Entry, total: Printed, parts: list[Printed]) -> Outcome:
    """One total against its parts."""
    value = sum(each.value for each in parts)
    finest = min((*parts, total), key=lambda each: each.unit)
    words = shown(value, Printed("", value, finest.unit, percent=total.percent))
    gap = abs(value - total.value)
    if gap <= slack(value, finest.unit):
        return Outcome("consistent", words, RULE, f"{total.text} adds up", value)
    rounding = sum(0.0 if each.exact else each.half for each in parts)
    rounding += 0.0 if total.exact and not rounding else total.half
    reason = f"printed {total.text}, the {len(parts)} parts add up to {words}"
    if gap <= rounding * (1 + 1e-9):
        return Outcome("near", words, RULE, f"{reason}, which rounding explains", value)
    return Outcome(failed(entry), words, RULE, reason, value)

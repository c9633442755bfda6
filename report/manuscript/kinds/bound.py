"""A claim about all of several numbers: below 33 %, all above 0.7."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import within
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "bound"
ABOUT = "a bound (<33 %, >=0.7) that all of several numbers must keep"
FIELDS = {"values": "the numbers", "names": "what each of them is of (optional)"}
EXAMPLE = """
printed = "<1000"
values = ["586.818", "994.100"]
"""
RULE = "every printed value must keep the bound as it is printed"


def check(entry: Entry) -> Outcome:
    """Those that break the bound."""
    limit = entry.only_printed()
    if limit.sign in ("", "~"):
        raise entry.error(f"printed = {limit.text!r} is no bound", "such as: <33 %, >=0.7")
    values = entry.numbers("values")
    names = entry.texts("names") if entry.has("names") else [""] * len(values)
    if len(names) != len(values):
        raise entry.error(f"{len(names)} names for {len(values)} values")
    percent = {each.percent for each in (limit, *values)}
    if len(percent) > 1:
        raise entry.error("some are in percent and some are not", "write them alike")
    extreme = (max if limit.sign[0] == "<" else min)(values, key=lambda each: each.value)
    broken = [
        f"{value.text} ({name})" if name else value.text
        for value, name in zip(values, names, strict=True)
        if not within(limit, value.value)
    ]
    if broken:
        reason = f"{limit.text} does not hold for {', '.join(broken)}"
        return Outcome(failed(entry), ", ".join(broken), RULE, reason, extreme.value)
    reason = f"all {len(values)} keep {limit.text}; the nearest is {extreme.text}"
    return Outcome("consistent", extreme.text, RULE, reason, extreme.value)

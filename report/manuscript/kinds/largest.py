"""Which of several is the largest, or the smallest."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "largest"
ABOUT = "the one that is said to be the largest (or smallest) of several"
FIELDS = {
    "values": 'the numbers with their names: { first = "6", second = "7" }',
    "smallest": "true: the smallest is meant (optional)",
}
EXAMPLE = """
printed = "G"
values = { A = "350", F = "300", G = "771" }
"""
RULE = "no other value may be larger; an equal one is near"


def check(entry: Entry) -> Outcome:
    """The largest one, by the printed numbers."""
    values = entry.named("values")
    said = entry.words("printed")
    if said not in values:
        raise entry.error(f"{said!r} has no value", f"known: {', '.join(values)}")
    sign = -1 if entry.flag("smallest") else 1
    ordered = sorted(values, key=lambda name: -sign * values[name].value)
    ahead = [name for name in ordered if sign * values[name].value > sign * values[said].value]
    if ahead:
        relation = "<" if sign < 0 else ">"
        words = f"{ahead[0]} {values[ahead[0]].text} {relation} {said} {values[said].text}"
        return Outcome(failed(entry), words, RULE, words)
    ties = [name for name in ordered if name != said and values[name].value == values[said].value]
    if ties:
        return Outcome("near", f"{said} and {', '.join(ties)}", RULE, "several are equal")
    return Outcome("consistent", said, RULE, f"{values[said].text} comes first")

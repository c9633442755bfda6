"""A table with totals: every column and every row."""

from __future__ import annotations

from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.kinds.sum import RULE, added
from faultatlas.report.manuscript.outcomes import Outcome, worst

NAME = "table"
ABOUT = "the printed totals of a table's columns and rows"
FIELDS = {
    "rows": "the rows of numbers, without totals",
    "column_totals": "the last row (optional)",
    "row_totals": "the last column (optional)",
}
EXAMPLE = """
rows = [["17", "746"], ["28", "455"], ["41", "594"]]
column_totals = ["86", "1,795"]
"""


def check(entry: Entry) -> Outcome:
    """Each total that is printed."""
    rows = entry.table("rows", least=1)
    columns = [list(each) for each in zip(*rows, strict=True)]
    outcomes = []
    for name, lines, word in (
        ("column_totals", columns, "column"), ("row_totals", rows, "row")
    ):  # fmt: skip
        if not entry.has(name):
            continue
        totals = entry.numbers(name)
        if len(totals) != len(lines):
            raise entry.error(f"{len(totals)} {name} for {len(lines)} {word}s")
        outcomes += [
            (f"{word} {place}", total, added(entry, total, line))
            for place, (total, line) in enumerate(zip(totals, lines, strict=True), start=1)
        ]
    if not outcomes:
        raise entry.error("table needs column_totals or row_totals")
    verdict = worst(outcome.verdict for _name, _total, outcome in outcomes)
    reasons = [
        f"{name}: {outcome.reason}"
        for name, _total, outcome in outcomes
        if outcome.verdict == verdict and verdict != "consistent"
    ]
    return Outcome(
        verdict,
        " / ".join(outcome.computed for _name, _total, outcome in outcomes),
        RULE,
        "; ".join(reasons) or f"all {len(outcomes)} totals add up",
        printed=" / ".join(total.text for _name, total, _outcome in outcomes),
    )

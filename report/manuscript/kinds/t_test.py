"""A t-test of two printed columns of numbers."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import compared
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "t-test"
ABOUT = "the p-value of a t-test between two printed columns"
FIELDS = {
    "first": "a column of numbers",
    "second": "the other one",
    "paired": "true: row by row (optional)",
}
EXAMPLE = """
printed = "0.0046"
first = ["0.45", "0.58", "0.65", "0.37", "0.55"]
second = ["0.44", "0.57", "0.63", "0.36", "0.53"]
paired = true
"""


def check(entry: Entry) -> Outcome:
    """The two-sided p-value."""
    from scipy import stats

    first = [each.value for each in entry.numbers("first", least=2)]
    second = [each.value for each in entry.numbers("second", least=2)]
    if entry.flag("paired"):
        if len(first) != len(second):
            raise entry.error(f"{len(first)} first and {len(second)} second", "pairs")
        if len({a - b for a, b in zip(first, second, strict=True)}) == 1:
            raise entry.error("all differences are equal", "a t-test needs some that vary")
        found = stats.ttest_rel(first, second)
    else:
        if len({*first}) == len({*second}) == 1:
            raise entry.error("the columns do not vary", "a t-test needs some that do")
        found = stats.ttest_ind(first, second)
    p = float(found.pvalue)
    outcome = compared(entry, p, text=f"{p:.4f}" if p >= 0.0001 else f"{p:.2e}")
    said = f"t({found.df:g}) = {found.statistic:.2f}"
    reason = f"{outcome.reason} from {said}"
    return Outcome(outcome.verdict, outcome.computed, outcome.rule, reason, p)

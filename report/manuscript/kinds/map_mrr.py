"""Mean average precision against the mean reciprocal rank of the same ranking."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import shown
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "map-mrr"
ABOUT = "MAP against MRR of the same ranking, where the number of right answers is known"
FIELDS = {"mrr": "the MRR", "relevant": "most right answers to one query (optional)"}
EXAMPLE = """
printed = "0.314"
mrr = "0.371"
relevant = "227"
"""
RULE = (
    "MAP equals MRR with one right answer for each query, and is at least MRR / R with at most R; "
    "with several right answers it may be more than MRR"
)


def check(entry: Entry) -> Outcome:
    """Whether both can be of one ranking."""
    printed = entry.only_printed()
    mrr = entry.number("mrr")
    low, high = printed.ends()
    if not entry.has("relevant"):
        reason = "how many right answers a query has is not said"
        return Outcome("cannot be checked", "-", RULE, reason)
    relevant = entry.number("relevant").value
    if relevant < 1:
        raise entry.error("a query has at least one right answer")
    if relevant == 1:
        agree = high >= mrr.ends()[0] and low <= mrr.ends()[1]
        reason = "one right answer for each query: both are the same"
        return Outcome("consistent" if agree else failed(entry), mrr.text, RULE, reason, mrr.value)
    least = mrr.ends()[0] / relevant
    computed = f"at least {shown(mrr.value / relevant, digits=4)}"
    if high < least or low > 1:
        return Outcome(failed(entry), computed, RULE, f"MAP {printed.text} is not possible", least)
    return Outcome("consistent", computed, RULE, f"MAP {printed.text} is possible", least)

"""Top@k against the mean reciprocal rank of the same ranking."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, shown
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "top-k"
ABOUT = "a mean reciprocal rank against Top@k of the same ranking"
FIELDS = {"top": 'Top@k by k: { 1 = "0.344", 5 = "0.547", 10 = "0.615" }'}
EXAMPLE = """
printed = "0.316"
top = { 1 = "0.201", 5 = "0.472", 10 = "0.585" }
"""
RULE = (
    "MRR is at least T1 + (T5 - T1)/5 + (T10 - T5)/10 and at most T1 + (T5 - T1)/2 + "
    "(T10 - T5)/6 + (1 - T10)/11 (for 1, 5 and 10), with every number as far off as rounding allows"
)


def check(entry: Entry) -> Outcome:
    """Whether any ranks give both."""
    mrr = entry.only_printed()
    by_rank = _by_rank(entry)
    ranks = list(by_rank)
    low = [_fraction(each, each.ends()[0]) for each in by_rank.values()]
    high = [_fraction(each, each.ends()[1]) for each in by_rank.values()]
    if any(later < earlier for earlier, later in zip(low, high[1:], strict=False)):
        return Outcome(failed(entry), "Top@k falls", RULE, "Top@k cannot fall as k grows")
    plain = [_fraction(each, each.value) for each in by_rank.values()]
    least, most = least_mrr(ranks, plain), most_mrr(ranks, plain)
    computed = f"{shown(least, digits=4)} to {shown(most, digits=4)}"
    value_low, value_high = (_fraction(mrr, end) for end in mrr.ends())
    if value_high < least_mrr(ranks, low) - 1e-12:
        reason = f"MRR {mrr.text} is below {shown(least, digits=4)}, which Top@k implies"
        return Outcome(failed(entry), computed, RULE, reason, least)
    if value_low > most_mrr(ranks, high) + 1e-12:
        reason = f"MRR {mrr.text} is above {shown(most, digits=4)}, which Top@k allows"
        return Outcome(failed(entry), computed, RULE, reason, most)
    return Outcome("consistent", computed, RULE, f"MRR {mrr.text} is possible")


def least_mrr(ranks: Sequence[int], shares: Sequence[float]) -> float:
    """All that are found by rank k, but not before, stand at k; the rest nowhere."""
    before = 0.0
    total = 0.0
    for rank, share in zip(ranks, shares, strict=True):
        total += (share - before) / rank
        before = share
    return total


def most_mrr(ranks: Sequence[int], shares: Sequence[float]) -> float:
    """All stand as far up as they can: behind the last rank that did not have them."""
    before, previous = 0.0, 0
    total = 0.0
    for rank, share in zip(ranks, shares, strict=True):
        total += (share - before) / (previous + 1)
        before, previous = share, rank
    return total + (1 - before) / (previous + 1)


def _by_rank(entry: Entry) -> dict[int, Printed]:
    named = entry.named("top")
    if not all(name.isdigit() and 0 < int(name) < 10**6 for name in named):
        raise entry.error(f"top = {', '.join(named)}", "the ranks are whole numbers: 1, 5, 10")
    by_rank = {int(name): share for name, share in named.items()}
    for each in by_rank.values():
        if not 0 <= _fraction(each, each.value) <= 1:
            raise entry.error(f"Top@k = {each.text}", "a share: 0.344 or 34.4 %")
    return dict(sorted(by_rank.items()))


def _fraction(printed: Printed, value: float) -> float:
    return value / 100 if printed.percent else value

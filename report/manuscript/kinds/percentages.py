"""Several shares, each against its own count and total."""

from __future__ import annotations

from operator import truediv

from faultatlas.report.manuscript.comparing import DIGITS, failed, refuse_bare_percentages
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import match, shown
from faultatlas.report.manuscript.outcomes import Outcome, Verdict, worst

NAME = "percentages"
ABOUT = "a list of shares against lists of counts and totals"
FIELDS = {"counts": "the parts, one for each share", "totals": "the wholes, as many"}
EXAMPLE = """
printed = ["48.15 %", "35.29 %"]
counts = ["65", "18"]
totals = ["135", "51"]
"""


def check(entry: Entry) -> Outcome:
    """Each share of its total; the worst one decides."""
    printed = entry.printed()
    counts, totals = entry.numbers("counts"), entry.numbers("totals")
    if not len(printed) == len(counts) == len(totals):
        raise entry.error(
            f"{len(printed)} printed, {len(counts)} counts, {len(totals)} totals", "as many of each"
        )
    refuse_bare_percentages(entry, printed)
    verdicts: list[Verdict] = []
    computed, reasons = [], []
    for said, count, total in zip(printed, counts, totals, strict=True):
        value = said.scaled(entry.guarded(truediv, count.value, total.value))
        how = match(said, value)
        computed.append(shown(value, said))
        verdicts.append(
            "consistent" if how in ("rounded", "cut") else
            "near" if how == "raised" else failed(entry)
        )  # fmt: skip
        if verdicts[-1] != "consistent":
            reasons.append(f"{count.text} of {total.text} is {computed[-1]}, printed {said.text}")
    reason = "; ".join(reasons) or f"all {len(printed)} come out"
    return Outcome(worst(verdicts), " / ".join(computed), DIGITS, reason)

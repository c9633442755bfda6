"""A share of a whole against the shares in its groups."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, match, shown
from faultatlas.report.manuscript.outcomes import Outcome
from faultatlas.report.manuscript.whole_counts import nearest_total, shares_of, whole_counts

NAME = "whole-from-groups"
ABOUT = "the share of something in a whole against its shares in the groups of the whole"
FIELDS = {
    "groups": "the share of each group in the whole, in percent",
    "within": "the share in each group, in percent",
    "total": "the whole (optional: then counts are found)",
    "digits": "decimals of the groups' shares, if they are padded with zeros (optional)",
}
EXAMPLE = """
printed = "38.8 %"
groups = ["35.2 %", "13.3 %", "27.3 %", "5.5 %", "14.3 %", "4.4 %"]
within = ["48.15 %", "35.29 %", "21.90 %", "38.10 %", "38.19 %", "82.35 %"]
"""
RULE = (
    "the mean of the groups' shares, weighted by their sizes; consistent if numbers before "
    "rounding could give it"
)


def check(entry: Entry) -> Outcome:
    """The weighted mean, and the count if the total is given."""
    printed = entry.only_printed()
    groups, within = shares_of(entry, "groups"), entry.numbers("within")
    if len(groups) != len(within):
        raise entry.error(f"{len(groups)} groups and {len(within)} within", "as many of each")
    low, high = (
        sum(max(0.0, a.ends()[end]) * max(0.0, b.ends()[end])
            for a, b in zip(groups, within, strict=True)) / 100
        for end in (0, 1)
    )  # fmt: skip
    value = sum(a.value * b.value for a, b in zip(groups, within, strict=True)) / 100
    computed = shown(value, Printed("", value, 0.1, percent=True))
    if entry.has("total"):
        total = int(entry.number("total").value)
        counted = _counted(groups, within, total)
        if counted:
            count, whole = counted
            value = 100 * count / whole
            share = shown(value, Printed("", value, 0.1, percent=True))
            computed = f"{count:,} ({share} of {whole:,})"
    agrees = low - printed.half <= printed.value <= high + printed.half
    if agrees or match(printed, value) != "differs":
        return Outcome("consistent", computed, RULE, f"{printed.text} is possible", value)
    reason = f"printed {printed.text}, the groups give {computed}, at most {shown(high)} %"
    return Outcome(failed(entry), computed, RULE, reason, value)


def _counted(groups: list[Printed], within: list[Printed], total: int) -> tuple[int, int] | None:
    """The count in the whole and the whole, if the shares leave no choice."""
    whole = nearest_total(groups, total)
    sizes = whole_counts(groups, whole) if whole else None
    if whole is None or sizes is None or any(len(each) != 1 for each in sizes):
        return None
    return sum(
        round(size[0] * share.value / 100) for size, share in zip(sizes, within, strict=True)
    ), whole

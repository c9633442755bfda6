"""Totals, shares, means and counts against the numbers that they are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal

from faultatlas.report.manuscript import (
    EntryError,
    Number,
    Numbers,
    Only,
    Outcome,
    Rows,
    Text,
    Texts,
    compared,
    computed_from,
    kind,
    same_length,
    together,
)
from faultatlas.report.published import Printed, compare, match, parse, slack, worst, written_like

_LARGEST_WHOLE = 20_000
_MOST_SHARES = 50
_REACH = 25  # how far from the printed total others are tried


@kind("sum")
def sum_(printed: Numbers, parts: Numbers) -> Outcome:
    """A printed total against the sum of its parts.

    Whole numbers add up exactly; rounded parts may be off by half a last digit each.

    parts: what is added

    printed = "86"
    parts = ["17", "28", "41"]
    """
    return together([_added(total, parts) for total in printed])


def _added(total: Printed, parts: Sequence[Printed]) -> Outcome:
    """One total against its parts."""
    value = sum(part.value for part in parts)
    finest = min(number.unit for number in (*parts, total))
    words = written_like(value, Printed("", value, finest, percent=total.percent))
    gap = abs(value - total.value)
    if gap <= slack(value, finest):
        return Outcome("consistent", words, f"{total.text} adds up", value)
    rounding = sum(0.0 if part.exact else part.half for part in parts)
    rounding += 0.0 if total.exact and not rounding else total.half
    reason = f"printed {total.text}, the {len(parts)} parts add up to {words}"
    if gap <= rounding * (1 + 1e-9):
        return Outcome("near", words, f"{reason}, which rounding explains", value)
    return Outcome("inconsistent", words, reason, value)


@kind("table")
def table(rows: Rows, column_totals: Numbers = (), row_totals: Numbers = ()) -> Outcome:
    """The printed totals of a table's columns and rows.

    Whole numbers add up exactly; rounded parts may be off by half a last digit each.

    rows: the rows of numbers, without totals
    column_totals: the last row
    row_totals: the last column

    rows = [["17", "746"], ["28", "455"], ["41", "594"]]
    column_totals = ["86", "1,795"]
    """
    columns = list(zip(*rows, strict=True))
    if not column_totals and not row_totals:
        raise EntryError("table needs column_totals or row_totals")
    sums = []
    for word, totals, lines in (("column", column_totals, columns), ("row", row_totals, rows)):
        if totals:
            same_length(**{f"{word}_totals": totals, f"{word}s": lines})
        for place, (total, line) in enumerate(zip(totals, lines, strict=False), start=1):
            outcome = _added(total, line)
            sums.append(replace(outcome, reason=f"{word} {place}: {outcome.reason}"))
    computed = " / ".join(total.computed for total in sums)
    printed = " / ".join(total.text for total in (*column_totals, *row_totals))
    return replace(together(sums), computed=computed, printed=printed, value=None)


@kind("percentage")
def percentage(count: Numbers, total: Numbers, printed: Numbers = ()) -> Outcome:
    """A share against its count and total; several counts are added.

    count: the part, or several parts
    total: the whole, or parts of it

    printed = "40.0 %"
    count = "154"
    total = "385"
    """
    share = sum(part.value for part in count) / sum(part.value for part in total)
    return compared(printed, share, fraction=True)


@kind("percentages")
def percentages(printed: Numbers, counts: Numbers, totals: Numbers) -> Outcome:
    """A list of shares against lists of counts and totals.

    counts: the parts, one for each share
    totals: the wholes, as many

    printed = ["48.15 %", "35.29 %"]
    counts = ["65", "18"]
    totals = ["135", "51"]
    """
    same_length(printed=printed, counts=counts, totals=totals)
    outcomes = []
    for share, count, total in zip(printed, counts, totals, strict=True):
        outcome = compared([share], count.value / total.value, fraction=True)
        reason = f"{count.text} of {total.text} is {outcome.computed}, printed {share.text}"
        outcomes.append(replace(outcome, reason=reason))
    computed = " / ".join(outcome.computed for outcome in outcomes)
    return replace(together(outcomes), computed=computed, value=None)


@kind("mean")
def mean(values: Numbers, printed: Numbers = ()) -> Outcome:
    """A mean against the numbers that it is of.

    values: the numbers

    printed = "227"
    values = ["244", "210"]
    """
    return computed_from(printed, values, fmean)


@kind("marks")
def marks(
    marks: Text,
    counted: Text,
    of: Literal["count", "share"] = "count",
    total: Only | None = None,
    printed: Numbers = (),
) -> Outcome:
    """A count or a share of marks in a table, and how many rows there are: FFPPF.

    marks: a sign for each row; spaces do not count
    counted: the sign that is counted
    of: what is printed: count unless told, or share
    total: how many rows the paper counts among

    printed = "60 %"
    marks = "F F P P F"
    counted = "F"
    of = "share"
    """
    signs = "".join(marks.split())
    if len(counted) != 1 or not signs:
        raise EntryError("marks is a row of signs, and counted is one of them")
    if of == "count" and any(number.percent for number in printed):
        raise EntryError('a share is printed: of = "share"')
    count = signs.count(counted)
    value = count / len(signs) if of == "share" else count
    outcome = compared(printed, value, fraction=of == "share")
    reasons = [f"{count} of {len(signs)} are {counted}", outcome.reason]
    if total is not None:
        rows = compare(len(signs), total, basis="paper")
        outcome = replace(outcome, status=worst((outcome.status, rows.status)))
        reasons.append(f"rows: {rows.reason}")
    return replace(outcome, reason="; ".join(reasons))


@kind("same")
def same(printed: Texts, places: Texts = ()) -> Outcome:
    """The same quantity, or the same word, in two or more places.

    Equal in the digits of the one that has fewer; words are compared without case.

    places: where each of them is

    printed = ["23.8 %", "0.24"]
    places = ["Table 21", "Table 20"]
    """
    if len(printed) < 2:
        raise EntryError("printed needs the texts of two places or more")
    if places:
        same_length(printed=printed, places=places)
    finest, differ = _finest(printed)
    if not differ:
        return Outcome("consistent", finest, f"all {len(printed)} places agree")
    at = [f" ({place})" for place in places] or [""] * len(printed)
    listed = ", ".join(f"{text}{place}" for text, place in zip(printed, at, strict=True))
    return Outcome("inconsistent", " and ".join(dict.fromkeys(printed)), f"they differ: {listed}")


def _finest(texts: Sequence[str]) -> tuple[str, bool]:
    """The one with the most digits, and whether another is not that one with fewer."""
    try:
        numbers = [parse(text) for text in texts]
    except ValueError:
        return texts[0], len({" ".join(text.casefold().split()) for text in texts}) > 1
    finest = min(numbers, key=lambda number: number.as_fraction().unit)
    fraction = finest.as_fraction().value
    ways = {match(number, number.scaled(fraction)) for number in numbers}
    return finest.text, not ways <= {"rounded", "cut"}


@kind("overlap")
def overlap(
    printed: Only, parts: Numbers, earlier_parts: Numbers = (), earlier_total: Number | None = None
) -> Outcome:
    """A total of parts that may overlap, also after a further step of selection.

    At least the largest part and at most the sum; exactly the sum if the parts before the selection
    added up, since parts of disjoint parts are disjoint.

    parts: the sizes of the parts
    earlier_parts: the same parts before the selection
    earlier_total: their printed total

    printed = "365"
    parts = ["101", "65", "53", "20", "34", "90", "45", "37", "19", "30"]
    """
    least, most = max(part.value for part in parts), sum(part.value for part in parts)
    if bool(earlier_parts) != (earlier_total is not None):
        raise EntryError("earlier_parts and earlier_total belong together")
    before = sum(part.value for part in earlier_parts)
    if earlier_total is not None and before == earlier_total.value and printed.value != most:
        reason = (
            f"before the selection the parts add up to {before:,.0f} and do not overlap, so the "
            f"total is {most:,.0f}, not {printed.text}"
        )
        return Outcome("inconsistent", f"{most:,.0f}", reason, most)
    computed = f"{least:,.0f} to {most:,.0f}"
    if least <= printed.value <= most:
        reason = f"{printed.text} is between the largest part and the sum"
        return Outcome("consistent", computed, reason)
    return Outcome("inconsistent", computed, f"no overlap gives {printed.text}")


# --- shares of whole counts --------------------------------------------------------------


@kind("shares")
def shares(printed: Only, shares: Numbers, digits: Number | None = None) -> Outcome:
    """A total against the shares of all its parts, each of which is a whole number of it.

    Each share must be a whole number of the total, rounded or cut, and these must add up to it.

    shares: the shares in percent, of all the parts
    digits: decimals of the shares of the whole, if they are padded with zeros

    printed = "384"
    shares = ["35.2 %", "13.3 %", "27.3 %", "5.5 %", "14.3 %", "4.4 %"]
    """
    parts, total = _unpadded(shares, digits), int(printed.value)
    if not 0 < total <= _LARGEST_WHOLE:
        raise EntryError(f"printed = {printed.text}: a total of 1 to {_LARGEST_WHOLE:,}")
    if _whole_counts(parts, total) is not None:
        reason = f"whole counts of {total:,} give all {len(parts)} shares"
        return Outcome("consistent", f"{total:,}", reason, float(total))
    nearest = _nearest_total(parts, total)
    if nearest is None:
        return Outcome("inconsistent", "-", f"no total near {printed.text} gives these shares")
    counts = _whole_counts(parts, nearest) or []
    listed = " + ".join(str(count[0]) if len(count) == 1 else "..." for count in counts)
    reason = f"no whole counts of {printed.text} give these shares; {listed} of {nearest:,} do"
    return Outcome("inconsistent", f"{nearest:,}", reason, float(nearest))


@kind("whole-from-groups")
def whole_from_groups(
    printed: Only,
    groups: Numbers,
    within: Numbers,
    total: Number | None = None,
    digits: Number | None = None,
) -> Outcome:
    """The share of something in a whole against its shares in the groups of the whole.

    The mean of the groups' shares, weighted by their sizes; consistent if numbers before rounding
    could give it.

    groups: the share of each group in the whole, in percent
    within: the share in each group, in percent
    total: the whole: then counts are found
    digits: decimals of the shares of the whole, if they are padded with zeros

    printed = "38.8 %"
    groups = ["35.2 %", "13.3 %", "27.3 %", "5.5 %", "14.3 %", "4.4 %"]
    within = ["48.15 %", "35.29 %", "21.90 %", "38.10 %", "38.19 %", "82.35 %"]
    """
    sizes = _unpadded(groups, digits)
    same_length(groups=groups, within=within)
    pairs = list(zip(sizes, within, strict=True))
    low, high = (
        sum(max(0.0, size.ends()[end]) * max(0.0, share.ends()[end]) for size, share in pairs) / 100
        for end in (0, 1)
    )
    value = sum(size.value * share.value for size, share in pairs) / 100
    in_percent = Printed("", value, 0.1, percent=True)
    computed = written_like(value, in_percent)
    counted = _counted(sizes, within, int(total.value)) if total else None
    if counted:
        count, whole = counted
        value = 100 * count / whole
        computed = f"{count:,} ({written_like(value, in_percent)} of {whole:,})"
    is_possible = low - printed.half <= printed.value <= high + printed.half
    if is_possible or match(printed, value) != "different":
        return Outcome("consistent", computed, f"{printed.text} is possible", value)
    most = written_like(high)
    reason = f"printed {printed.text}, the groups give {computed}, at most {most} %"
    return Outcome("inconsistent", computed, reason, value)


def _unpadded(shares: Sequence[Printed], digits: Printed | None) -> list[Printed]:
    """Shares in percent, without the zeros that pad them if the entry says so."""
    if not all(share.percent and share.unit <= 1 and 0 <= share.value <= 100 for share in shares):
        raise EntryError('shares are in percent, such as "35.2 %"')
    if len(shares) > _MOST_SHARES:
        raise EntryError(f"{len(shares)} shares are too many: at most {_MOST_SHARES}")
    if digits is None:
        return list(shares)
    unit = 10.0 ** -max(0, min(9, int(digits.value)))
    return [replace(share, unit=max(share.unit, unit)) for share in shares]


def _whole_counts(shares: Sequence[Printed], total: int) -> list[list[int]] | None:
    """The counts that give each share of a total, if all have some and these can add up to it."""
    if not 0 < total <= _LARGEST_WHOLE:
        return None
    counts = [_counts(share, total) for share in shares]
    if not all(counts) or not sum(map(min, counts)) <= total <= sum(map(max, counts)):
        return None
    return counts


def _counts(share: Printed, total: int) -> list[int]:
    least = max(0, math.floor((share.value - share.unit) / 100 * total))
    most = min(total, math.ceil((share.value + share.unit) / 100 * total))
    counts = range(least, most + 1)
    return [count for count in counts if match(share, 100 * count / total) in ("rounded", "cut")]


def _nearest_total(shares: Sequence[Printed], total: int) -> int | None:
    """The total nearest to the printed one that allows the shares; of two the smaller."""
    candidates = sorted(range(total - _REACH, total + _REACH + 1), key=lambda n: abs(n - total))
    return next((n for n in candidates if _whole_counts(shares, n) is not None), None)


def _counted(
    groups: Sequence[Printed], within: Sequence[Printed], total: int
) -> tuple[int, int] | None:
    """The count in the whole and the whole, if the shares leave no choice."""
    whole = _nearest_total(groups, total)
    sizes = _whole_counts(groups, whole) if whole else None
    if whole is None or sizes is None or any(len(size) != 1 for size in sizes):
        return None
    parts = (size[0] * share.value / 100 for size, share in zip(sizes, within, strict=True))
    return sum(map(round, parts)), whole

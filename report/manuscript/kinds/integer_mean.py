"""Whether a mean (and a standard deviation) of whole numbers is possible for n of them."""

from __future__ import annotations

import math

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, match, shown
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "integer-mean"
ABOUT = "GRIM and GRIMMER: a mean and a standard deviation of n whole numbers"
FIELDS = {
    "n": "how many numbers",
    "items": "answers behind each of them; 1 unless told (optional)",
    "deviation": "the standard deviation, with n - 1 (optional)",
}
EXAMPLE = """
printed = "3.48"
n = "25"
"""
RULE = (
    "a sum of whole numbers is whole, and so is the sum of their squares, odd or even as the sum "
    "is (Brown and Heathers 2017; Anaya 2016)"
)
_LARGEST = 1_000_000
_NO_HELP = 1_000  # sums that give one printed mean


def check(entry: Entry) -> Outcome:
    """The sums that give the mean, and those of them that give the deviation."""
    mean = entry.only_printed()
    n = entry.number("n").value
    answers = n * entry.number("items", "1").value
    if not 1 <= answers <= _LARGEST or answers != int(answers):
        raise entry.error(f"n = {answers:g}", f"whole, 1 to {_LARGEST:,}")
    deviation = entry.number("deviation") if entry.has("deviation") else None
    if deviation is not None and (answers != n or n < 2):
        raise entry.error("a deviation is checked for n of 2 and more and one item")
    if mean.unit * answers > _NO_HELP:
        reason = f"{answers:,.0f} whole numbers can have any mean of so few digits"
        return Outcome("cannot be checked", "-", RULE, reason)
    nearest = round(mean.value * answers) / answers
    sums = [
        total
        for total in range(
            math.floor((mean.value - mean.unit) * answers),
            math.ceil((mean.value + mean.unit) * answers) + 1,
        )
        if match(mean, total / answers) in ("rounded", "cut")
    ]
    words = shown(nearest, Printed("", nearest, mean.unit / 100))
    if not sums:
        reason = f"no sum of {answers:.0f} whole numbers gives {mean.text}; the nearest is {words}"
        return Outcome(failed(entry), words, RULE, reason, nearest)
    if deviation and not any(_square_sum(total, int(n), deviation) for total in sums):
        reason = f"no {n:.0f} whole numbers have mean {mean.text} and deviation {deviation.text}"
        return Outcome(failed(entry), words, RULE, reason, nearest)
    return Outcome("consistent", words, RULE, f"{sums[0]} / {answers:.0f} gives it", nearest)


def _square_sum(total: int, n: int, deviation: Printed) -> bool:
    """Whether some sum of squares, as odd or even as the sum, gives the deviation."""
    low, high = (
        max(0.0, end) ** 2 * (n - 1) + total**2 / n
        for end in (deviation.value - deviation.half, deviation.value + deviation.half)
    )
    first = math.ceil(low - 1e-9)
    last = math.floor(high + 1e-9)
    return any(square % 2 == total % 2 for square in range(first, min(last, first + 2) + 1))

"""The group size that effect sizes and p-values imply, against the printed one."""

from __future__ import annotations

import math

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.kinds.p_value import tail
from faultatlas.report.manuscript.numbers import Printed
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "group-size"
ABOUT = "a group size against Cohen's d and p of two-sample t-tests"
FIELDS = {"tests": 'pairs of d and p: [["0.3834", "0.00008721"], ...]'}
EXAMPLE = """
printed = "214"
tests = [["0.3834", "0.0000871"]]
"""
RULE = (
    "t = d * sqrt(n / 2) with 2n - 2 degrees of freedom gives p; the printed size must lie among "
    "those that d and p allow before rounding"
)
_LARGEST = 10**9


def check(entry: Entry) -> Outcome:
    """The sizes that the tests imply."""
    printed = entry.only_printed()
    tests = [(d, entry.number_of("tests", p)) for d, p in entry.pairs("tests")]
    for d, p in tests:
        if not (d.value and 0 < p.value < 1):
            raise entry.error(f"d = {d.text}, p = {p.text}", "d is not 0 and p between 0 and 1")
    sizes = [entry.guarded(implied, d.value, p.value) for d, p in tests]
    low, high = math.floor(min(sizes) + 0.5), math.floor(max(sizes) + 0.5)
    computed = f"{low:,}-{high:,} per group" if high > low else f"{low:,} per group"
    outside = [pair for pair in tests if not _allows(*pair, printed.value)]
    if not outside:
        return Outcome("consistent", computed, RULE, "d and p agree with the size")
    largest = max(tail("t", abs(d.value) * math.sqrt(printed.value / 2), [2 * printed.value - 2])
                  for d, _p in tests)  # fmt: skip
    reason = (
        f"with n = {printed.text} per group the largest p would be {largest:.1e}; "
        f"{len(outside)} of {len(tests)} tests imply another size"
    )
    return Outcome(failed(entry), computed, RULE, reason)


def implied(d: float, p: float) -> float:
    """The group size with which a two-sample t-test of that d has that p."""
    low, high = 2.0, float(_LARGEST)
    if _p(d, low) <= p:
        return low
    if _p(d, high) > p:
        raise ValueError(f"d = {d:g} and p = {p:g} need groups of more than {_LARGEST:,}")
    for _step in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _p(d, middle) > p else (low, middle)
    return (low + high) / 2


def _p(d: float, n: float) -> float:
    return tail("t", abs(d) * math.sqrt(n / 2), [2 * n - 2])


def _allows(d: Printed, p: Printed, size: float) -> bool:
    if size < 2:
        return False
    wide, narrow = abs(d.value) + d.half, max(0.0, abs(d.value) - d.half)
    least, most = _p(wide, size + 0.5), _p(narrow, size - 0.5)  # a size is rounded as well
    return least <= p.value + p.half and most >= p.value - p.half

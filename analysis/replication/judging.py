"""Printed numbers beside computed ones: when one comes out, when it is near, when it does not.

One rule for all studies. It looks at the digits that were printed and at the unit, never at what
the answer ought to be. Single digits are compared as in the manuscript checker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from report.manuscript.numbers import Match, Printed, match, parse

if TYPE_CHECKING:
    from data.results import ClaimStatus

# How far off a number may be to be near, by its unit: percentage points; points of a coefficient.
# A count is never near.
NEAR = {"percent": 1.0, "coefficient": 0.01}
NEARLY_ALL = 0.9

RULE = (
    "reproduced: ours, rounded or cut to the printed digits, is the printed one; near: it is when "
    "rounded up, or ours lies within one percentage point, or within 0.01 of a coefficient such as "
    f"kappa; of several values at least {100 * NEARLY_ALL:.0f} % come out, or all are near; "
    "inconsistent: paper or package contradicts itself; no data: what it needs is not there; else "
    "not reproduced."
)

# In `170-284` and `365+121` the sign is none of the number.
_NUMBER = re.compile(r"(?:(?<![0-9.])[-+])?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?")
_WAYS: dict[Match, tuple[ClaimStatus, str]] = {
    "rounded": ("reproduced", "equal when rounded to the printed digits"),
    "cut": ("reproduced", "equal when cut to the printed digits"),
    "raised": ("near", "equal only when rounded up to the printed digits"),
}


@dataclass(frozen=True)
class Judged:
    """What comes of comparing, and why."""

    status: ClaimStatus
    reason: str


def numbers_in(text: str) -> tuple[Printed, ...]:
    """The numbers of a text such as `39 / 31 / 8`, in their order."""
    return tuple(parse(found) for found in _NUMBER.findall(text))


def judge(value: float, printed: Printed, unit: str = "") -> Judged:
    """One number beside one printed number."""
    way = match(printed, value)
    if way in _WAYS:
        return Judged(*_WAYS[way])
    said = f"printed {printed.text}, computed {value:.6g}"
    near = NEAR.get(unit)
    if near is not None and abs(value - printed.value) <= near:
        return Judged("near", f"{said}: within {near:g}")
    return Judged("not reproduced", said)


def judge_all(judged: Sequence[Judged]) -> Judged:
    """Several numbers that were printed as one figure."""
    if len(judged) == 1:
        return judged[0]
    out = sum(each.status == "reproduced" for each in judged)
    said = f"{out} of {len(judged)} values come out"
    if out == len(judged):
        return Judged("reproduced", said)
    alike = all(each.status in {"reproduced", "near"} for each in judged)
    if out >= NEARLY_ALL * len(judged) or alike:
        return Judged("near", said)
    return Judged("not reproduced", said)


def judge_word(word: str, printed: str) -> Judged:
    """A name beside a printed text that begins with it, such as `G (crash)`."""
    found = re.match(r"\w+", printed.strip())
    if found and found[0].casefold() == word.casefold():
        return Judged("reproduced", "the same name")
    return Judged("not reproduced", f"printed {printed}, computed {word}")

"""Printed figures beside computed ones: single numbers, several of them, and names.

One rule for all studies; single numbers are compared in `faultatlas.report.published`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from faultatlas.report.published import Comparison as Judged
from faultatlas.report.published import Printed, parse
from faultatlas.report.published import compare as judge

__all__ = ["RULE", "Judged", "judge", "judge_all", "judge_word", "numbers_in"]

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


def numbers_in(text: str) -> tuple[Printed, ...]:
    """The numbers of a text such as `39 / 31 / 8`, in their order."""
    return tuple(parse(found) for found in _NUMBER.findall(text))


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

"""A printed number beside a computed one: whether it comes out, is near, or does not.

One rule for everything that is compared with a paper: claims of a study's own, agreement, the
survey's shares, replicated studies. It looks at the digits that were printed and at the unit,
never at what the answer ought to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.report.manuscript.numbers import Match, Printed, about, match, within

if TYPE_CHECKING:
    from faultatlas.data.old.results import ClaimStatus

# How far off a number may be to be near, by its unit: percentage points; points of a coefficient.
# A count is never near.
NEAR = {"percent": 1.0, "coefficient": 0.01}

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


def judge(value: float, printed: Printed, unit: str = "") -> Judged:
    """One number beside one printed number."""
    said = f"printed {printed.text}, computed {value:.6g}"
    if printed.sign not in ("", "~"):
        kept = within(printed, value)
        return Judged("reproduced", f"{said}: within the bound") if kept else _differs(said)
    way = match(printed, value)
    if way in _WAYS:
        return Judged(*_WAYS[way])
    if printed.sign == "~" and about(printed, value):
        return Judged("near", f"{said}: about that")
    near = NEAR.get(unit)
    if near is not None and abs(value - printed.value) <= near * (1 + 1e-9):
        return Judged("near", f"{said}: within {near:g}")
    return _differs(said)


def _differs(said: str) -> Judged:
    return Judged("not reproduced", said)

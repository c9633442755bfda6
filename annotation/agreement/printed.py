"""Values that a paper printed, beside those that its labels give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.choices import KEYS
from faultatlas.data.errors import StudyError
from faultatlas.report import formatting, published

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.measuring import Measured
    from faultatlas.data.old.results import ClaimStatus

RULE = (
    "Printed values: reproduced if ours, rounded or cut to the printed digits, is the printed "
    f"one; near if it is when rounded up, or ours is within {published.NEAR['coefficient']}; else "
    "not reproduced."
)

_GIVEN = re.compile(
    r"(?:(?P<round>.+):)?(?:(?P<statistic>[a-z-]+)=)?(?P<value>-?[0-9]*\.?[0-9]+)\s*(?P<percent>%?)"
)


@dataclass(frozen=True)
class Printed:
    """A value of agreement in a paper; no round: the one that is measured."""

    round: str | None
    statistic: str | None  # none: the leading one
    value: float
    digits: int  # behind the point

    @property
    def text(self) -> str:
        """With the digits it was printed with."""
        return f"{self.value:.{self.digits}f}"

    @property
    def given(self) -> str:
        """As `read_printed` reads it."""
        start = f"{self.round}:" if self.round else ""
        return f"{start}{f'{self.statistic}=' if self.statistic else ''}{self.text}"


@dataclass(frozen=True)
class Comparison:
    """A printed value beside ours."""

    printed: Printed
    status: ClaimStatus
    reason: str


def read_printed(text: str) -> Printed:
    """What `[ROUND:][STATISTIC=]VALUE` says: `0.80`, `cohen=0.80`, `types:cohen=80%`."""
    found = _GIVEN.fullmatch(text.strip())
    if not found or (found["statistic"] and found["statistic"] not in KEYS):
        raise StudyError(
            f"{formatting.plain(text)!r} is no printed value",
            "Write 0.80, cohen=0.80 or ROUND:cohen=0.80, with the digits of the paper. "
            f"Statistics: {', '.join(KEYS)}.",
        )
    value, digits = float(found["value"]), len(found["value"].partition(".")[2])
    if found["percent"]:
        value, digits = value / 100, digits + 2
    return Printed(found["round"], found["statistic"], round(value, digits), digits)


def compare(printed: Printed, ours: Measured, others: Sequence[Measured]) -> Comparison:
    """A printed value beside ours; where they differ, what comes nearest is named."""
    value = ours.estimate.value
    if value is None:
        return Comparison(printed, "no data", f"printed {printed.text}; {ours.estimate.reason}")
    judged = published.compare(value, published.parse(printed.text), "coefficient")
    if judged.status != "not reproduced":
        return Comparison(printed, judged.status, judged.reason)
    reason = f"printed {printed.text}, computed {value:.{max(3, printed.digits + 1)}f}"
    low, high = interval_of(ours)
    if low is not None and high is not None:
        inside = "inside" if low <= printed.value <= high else "outside"
        ends = formatting.interval(low, high)
        reason += f"; the printed value lies {inside} our interval ({ends})"
    known = [each for each in others if each.estimate.value is not None]
    nearest = min(known, key=lambda each: abs((each.estimate.value or 0) - printed.value))
    if nearest.key != ours.key:
        near = formatting.number(float(nearest.estimate.value or 0))
        reason += f"; of all statistics {nearest.title} comes nearest ({near})"
    return Comparison(printed, "not reproduced", reason)


def interval_of(measured: Measured) -> tuple[float | None, float | None]:
    """The interval that is shown: of the bootstrap, else the analytic one."""
    estimate = measured.estimate
    if estimate.bootstrap_low is not None:
        return estimate.bootstrap_low, estimate.bootstrap_high
    return estimate.low, estimate.high

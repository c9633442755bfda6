"""A printed number beside ours: `p=1.79e-14`, with a status by a stated rule."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Cell, ClaimStatus, Column, Table
from faultatlas.report.formatting import number

NEAR = 0.05
RULE = (
    "reproduced: ours, rounded to the printed digits, is the printed one; near: within "
    f"{100 * NEAR:.0f} % of it; else not reproduced."
)


@dataclass(frozen=True)
class Printed:
    """A number as it was printed."""

    key: str
    text: str
    value: float

    @property
    def half_a_unit(self) -> float:
        """Half of what its last digit counts: 0.05 of 12.3, 5e-17 of 1.79e-14."""
        exponent = Decimal(self.text).as_tuple().exponent
        return 0.5 * 10.0 ** int(exponent)


@dataclass(frozen=True)
class Beside:
    """A printed number beside ours."""

    printed: Printed
    ours: float | None
    status: ClaimStatus
    reason: str


def read(texts: Iterable[str], known: Collection[str]) -> tuple[Printed, ...]:
    """What was printed, such as `p=1.79e-14`."""
    found = []
    for text in texts:
        key, _, value = text.partition("=")
        try:
            number_of_it = float(value)
        except ValueError:
            number_of_it = math.nan
        if key.strip() not in known or not math.isfinite(number_of_it):
            raise StudyError(
                f"--printed {text!r} is no printed number of this analysis",
                f"Write it like p=0.012; known: {', '.join(known)}.",
            )
        found.append(Printed(key.strip(), value.strip(), number_of_it))
    return tuple(found)


def compare(printed: Iterable[Printed], ours: Mapping[str, float | None]) -> tuple[Beside, ...]:
    """Every printed number beside ours."""
    return tuple(_beside(each, ours[each.key]) for each in printed)


def sentence(beside: Beside) -> str:
    """Such as: the printed p of 1.79e-14 differs from ours, 7.7e-21: not reproduced."""
    told = beside.printed
    if beside.status == "reproduced":
        return f"The printed {told.key} of {told.text} is reproduced."
    if beside.ours is None:
        return f"There is no {told.key} to set beside the printed {told.text}."
    return (
        f"The printed {told.key} of {told.text} differs from ours, {number(float(beside.ours))}: "
        f"{beside.status} ({beside.reason})."
    )


def table(found: Sequence[Beside]) -> Table:
    """The printed numbers beside ours."""
    rows: list[tuple[Cell, ...]] = [
        (each.printed.key, each.printed.text, each.ours, each.status, each.reason) for each in found
    ]
    return Table(
        "printed",
        "Printed numbers beside ours",
        (
            Column("measure", "Measure"),
            Column("printed", "Printed"),
            Column("ours", "Ours", "number"),
            Column("status", "Status", "status"),
            Column("reason", "Reason"),
        ),
        tuple(rows),
        RULE,
    )


def _beside(printed: Printed, ours: float | None) -> Beside:
    if ours is None:
        return Beside(printed, None, "no data", "our analysis has no such number")
    if abs(ours - printed.value) <= printed.half_a_unit * (1 + 1e-9):
        return Beside(printed, ours, "reproduced", "equal when rounded to the printed digits")
    if abs(ours - printed.value) <= NEAR * abs(printed.value):
        return Beside(printed, ours, "near", f"within {100 * NEAR:.0f} %")
    return Beside(printed, ours, "not reproduced", _apart(ours, printed.value))


def _apart(ours: float, printed: float) -> str:
    if ours > 0 and printed > 0 and not 0.1 <= ours / printed <= 10:
        orders = abs(math.log10(ours / printed))
        return f"{orders:.1f} orders of magnitude apart"
    return f"{number(float(ours - printed))} apart"

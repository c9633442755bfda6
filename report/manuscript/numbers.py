"""Numbers as they are printed: the digits count, and so does what stands before and after them.

`1,795`, `38.19 %`, `7.66e-21`, `<0.001`, `~30`. A printed number stands for a range: that of all
numbers which round to it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Literal

Sign = Literal["", "<", "<=", ">", ">=", "~"]
Match = Literal["rounded", "cut", "raised", "differs"]

LONGEST = 40  # characters of a number
_LARGEST_EXPONENT = 300
_MOST_CORNERS = 10  # inputs whose rounding is followed exactly

_SIGNS: dict[str, Sign] = {
    "<": "<", "&lt;": "<", "\N{LESS-THAN OR EQUAL TO}": "<=", "<=": "<=",
    ">": ">", "&gt;": ">", "\N{GREATER-THAN OR EQUAL TO}": ">=", ">=": ">=",
    "~": "~", "\N{ALMOST EQUAL TO}": "~", "\N{TILDE OPERATOR}": "~", "=": "",
}  # fmt: skip
_DASHES = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{NO-BREAK SPACE}": " ",
        "\N{THIN SPACE}": " ",
        "\N{NARROW NO-BREAK SPACE}": " ",
    }
)
# Without `^` only where a minus shows that it was raised: 3 x 1024 is no power of ten.
_TIMES_TEN = re.compile(
    r"\s*(?:\N{MULTIPLICATION SIGN}|\*|x)\s*10\s*(?:\^\s*\{?\s*|(?=-))(-?\d{1,4})\}?"
)
_NUMBER = re.compile(
    r"(?P<sign><=|>=|&lt;|&gt;|[<>=~\u2264\u2265\u2248\u223c])?\s*"
    r"(?P<digits>[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)"
    r"(?P<exponent>[eE][+-]?\d{1,4})?\s*(?P<percent>%|\\%|percent)?"
)


@dataclass(frozen=True)
class Printed:
    """A number with the digits that it was printed with."""

    text: str
    value: float
    unit: float  # one in the last printed digit
    percent: bool = False
    sign: Sign = ""

    @property
    def half(self) -> float:
        """How far the number before rounding may lie."""
        return self.unit / 2

    @property
    def exact(self) -> bool:
        """Whether it was printed as a whole number, which counts are; 40 % was rounded."""
        return self.unit == 1 and not self.percent

    def ends(self) -> tuple[float, float]:
        """The least and the largest number that round to it; a whole number is exact."""
        slack = 0.0 if self.exact else self.half
        return self.value - slack, self.value + slack

    def as_fraction(self) -> Printed:
        """The same number, not in percent."""
        if not self.percent:
            return self
        return Printed(self.text, self.value / 100, self.unit / 100)

    def scaled(self, fraction: float) -> float:
        """A fraction in the unit of this number: in percent if it was printed as that."""
        return 100 * fraction if self.percent else fraction


def parse(text: str) -> Printed:
    """A printed number; ValueError says what it is not."""
    if len(text) > LONGEST:
        raise ValueError(f"a number of {len(text):,} characters")
    plain = _TIMES_TEN.sub(r"e\1", text.strip().translate(_DASHES))
    found = _NUMBER.fullmatch(plain)
    if not found or not any(each.isdigit() for each in found["digits"]):
        raise ValueError(f"{text!r} is no number: 1,795 or 38.19 % or 7.66e-21 or <0.001")
    digits = found["digits"].replace(",", "")
    exponent = int((found["exponent"] or "e0")[1:])
    if abs(exponent) > _LARGEST_EXPONENT:
        raise ValueError(f"{text!r} is beyond what a computer's numbers hold")
    value = float(Decimal(digits).scaleb(exponent))
    unit = float(Decimal(1).scaleb(exponent - len(digits.partition(".")[2])))
    if not math.isfinite(value) or not unit:
        raise ValueError(f"{text!r} is beyond what a computer's numbers hold")
    return Printed(
        text=text.strip(),
        value=value,
        unit=unit,
        percent=bool(found["percent"]),
        sign=_SIGNS[found["sign"] or "="],
    )


def match(printed: Printed, computed: float) -> Match:
    """How a computed number becomes the printed one, if it does.

    `rounded`: to the nearest, a half either way; `cut`: digits left out; `raised`: rounded up.
    """
    least = slack(computed, printed.unit)
    gap = abs(computed) - abs(printed.value)
    if computed * printed.value < 0 and abs(computed) > printed.half + least:
        return "differs"
    if abs(computed - printed.value) <= printed.half + least:
        return "rounded"
    if -least <= gap < printed.unit - least:
        return "cut"
    if -printed.unit + least < gap <= least:
        return "raised"
    return "differs"


def slack(computed: float, unit: float) -> float:
    """How far a computed number may be off because it is a binary fraction.

    Far less than the last printed digit: of a billion, one is not lost.
    """
    return 1e-9 * unit + 1e-13 * abs(computed)


def about(printed: Printed, computed: float) -> bool:
    """Whether a number printed as approximate (`~30`) is the computed one with fewer digits."""
    if not computed or not printed.value or not math.isfinite(computed):
        return computed == printed.value
    figures = max(1, math.floor(math.log10(abs(printed.value) / _coarsest(printed))) + 1)
    return abs(float(f"{computed:.{figures - 1}e}") - printed.value) <= 1e-9 * abs(printed.value)


def _coarsest(printed: Printed) -> float:
    """One in the last digit that is no padding zero: 10 for `30`."""
    if not printed.value:
        return printed.unit
    unit = printed.unit
    while abs(printed.value) >= 10 * unit and not round(abs(printed.value) / unit) % 10:
        unit *= 10
    return unit


def within(printed: Printed, value: float) -> bool:
    """Whether a value keeps the bound that a sign states."""
    slack = 1e-12 * max(1.0, abs(printed.value))
    return {
        "<": value < printed.value,
        "<=": value <= printed.value + slack,
        ">": value > printed.value,
        ">=": value >= printed.value - slack,
    }[printed.sign]


def span(
    compute: Callable[[Sequence[float]], float], inputs: Sequence[Printed]
) -> tuple[float, float]:
    """The least and the largest result that the unrounded inputs can have.

    Exact where the result grows or falls with each input; of many inputs each is tried alone, and
    then all at the ends that gave less, or more.
    """
    ends = [tuple(dict.fromkeys(each.ends())) for each in inputs]
    if sum(len(each) > 1 for each in ends) <= _MOST_CORNERS:
        results = [compute(corner) for corner in product(*ends)]
        return min(results), max(results)
    middle = [each.value for each in inputs]
    ordered = [
        sorted(each, key=lambda end, at=at: compute([*middle[:at], end, *middle[at + 1 :]]))  # type: ignore[misc]
        for at, each in enumerate(ends)
    ]
    return compute([each[0] for each in ordered]), compute([each[-1] for each in ordered])


def shown(value: float, like: Printed | None = None, *, digits: int = 2) -> str:
    """A computed number, with as many digits as the printed one if there is one."""
    if not math.isfinite(value):
        return str(value)
    if like is not None and 0 < like.unit < 1e-6:
        figures = max(0, math.floor(math.log10(abs(like.value) / like.unit))) if like.value else 2
        return f"{value:.{figures}e}"
    if value and abs(value) < 10.0 ** -(digits + 2) and (like is None or abs(value) < like.half):
        return f"{value:.2e}"
    decimals = max(0, round(-math.log10(like.unit))) if like else digits
    written = f"{value + 0.0:,.{decimals}f}"
    return f"{written} %" if like is not None and like.percent else written

"""Printed numbers next to computed ones: one rule for every number of a publication.

The rule looks at the digits and the unit that were printed, and at whether the computed number
comes from rows of data or from other printed numbers. It never looks at what the answer should be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from typing import Literal

from faultatlas.data.results import Status

Basis = Literal["data", "mixed", "paper"]
Sign = Literal["", "<", "<=", ">", ">=", "~", "almost", "over"]
Match = Literal["rounded", "cut", "rounded up", "different"]
Closeness = Literal["equal", "near", "different"]

# How far a number computed from data may differ and be near: percentage points; points of a
# coefficient. A count is equal or it is not.
NEAR = {"percent": 1.0, "coefficient": 0.01}
RULE = (
    "Equal: the computed number, rounded or cut to the printed digits, is the printed one; it is "
    "reproduced if rows of data give it, consistent if other printed numbers do. Near: equal only "
    "when rounded up, possible before the inputs were rounded, or about a number printed as "
    "approximate; for data also within 1 percentage point, or 0.01 of a coefficient. Several "
    "values are as good as the worst of them. All else is not reproduced; printed numbers that "
    "differ are inconsistent, or do not follow if a reader inferred their inputs."
)

LONGEST = 40  # characters of a number
_LARGEST_EXPONENT = 300
_MOST_CORNERS = 10  # rounded inputs whose combinations are all tried

# From the best to the worst.
_STATUSES: tuple[Status, ...] = (
    "reproduced", "consistent", "no data", "cannot be checked", "near", "not reproduced",
    "does not follow", "inconsistent",
)  # fmt: skip
# What is equal, what is different and what cannot be compared.
_BY_BASIS: dict[Basis, tuple[Status, Status, Status]] = {
    "data": ("reproduced", "not reproduced", "no data"),
    "mixed": ("consistent", "not reproduced", "no data"),
    "paper": ("consistent", "inconsistent", "cannot be checked"),
}

_WAYS: dict[Match, tuple[Closeness, str]] = {
    "rounded": ("equal", "equal when rounded"),
    "cut": ("equal", "equal when cut, not rounded,"),
    "rounded up": ("near", "equal only when rounded up"),
}

_SIGNS: dict[str, Sign] = {
    "<": "<", "&lt;": "<", "less than": "<", "below": "<", "under": "<",
    "<=": "<=", "\N{LESS-THAN OR EQUAL TO}": "<=", "at most": "<=",
    ">": ">", "&gt;": ">",
    ">=": ">=", "\N{GREATER-THAN OR EQUAL TO}": ">=", "at least": ">=",
    "~": "~", "\N{ALMOST EQUAL TO}": "~", "\N{TILDE OPERATOR}": "~",
    "about": "~", "around": "~", "roughly": "~", "approximately": "~",
    "almost": "almost", "nearly": "almost", "close to": "almost",
    "over": "over", "more than": "over",
    "=": "", "": "",
}  # fmt: skip
_BOUNDS = ("<", "<=", ">", ">=")
_MULTIPLES = {
    "half": 0.5, "twice": 2, "double": 2, "triple": 3, "thrice": 3, "two": 2, "three": 3,
    "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "twenty": 20, "hundred": 100,
}  # fmt: skip
_DASHES = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
# Without `^` only where a minus shows that it was raised: 3 x 1024 is no power of ten.
_TIMES_TEN = re.compile(
    r"\s*(?:\N{MULTIPLICATION SIGN}|\*|x)\s*10\s*(?:\^\s*\{?\s*|(?=-))(-?\d{1,4})\}?"
)
_SIGN = "|".join(re.escape(sign) for sign in sorted(filter(None, _SIGNS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<sign>{_SIGN}|)\s*"
    r"(?P<digits>[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)"
    r"(?P<exponent>[eE][+-]?\d{1,4})?\s*(?P<percent>%|\\%|percent)?",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(
    rf"(?P<sign>{_SIGN}|)\s*(?P<number>[a-z]+|[\d.]+)(?:[\s-]?(?:times|fold|x))?", re.IGNORECASE
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
        """How far the number before rounding may be."""
        return self.unit / 2

    @property
    def exact(self) -> bool:
        """Whether it was printed as a whole number, which counts are; 40 % was rounded."""
        return self.unit == 1 and not self.percent

    @property
    def is_bound(self) -> bool:
        """Whether it was printed as a bound: <33 %."""
        return self.sign in _BOUNDS

    def ends(self) -> tuple[float, float]:
        """The least and the largest number that round to it; a whole number is exact."""
        slack = 0.0 if self.exact else self.half
        return self.value - slack, self.value + slack

    def as_fraction(self) -> Printed:
        """The same number, not in percent."""
        if not self.percent:
            return self
        return replace(self, value=self.value / 100, unit=self.unit / 100, percent=False)

    def scaled(self, fraction: float) -> float:
        """A fraction in the unit of this number: in percent if it was printed so."""
        return 100 * fraction if self.percent else fraction


def parse(text: str, *, multiple: bool = False) -> Printed:
    """Read a printed number such as `1,795`, `38.19 %`, `7.66e-21`, `<0.001`, `~30`, `almost 48 %`.

    With `multiple`, words count as well: `almost four times`, `twice`. ValueError explains what
    cannot be read.
    """
    if len(text) > LONGEST:
        raise ValueError(f"a number of {len(text):,} characters")
    plain = " ".join(text.translate(_DASHES).split())
    if multiple and (match := _MULTIPLE.fullmatch(plain)):
        if number := _MULTIPLES.get(match["number"].lower()):
            how = _SIGNS[match["sign"].lower()] or "~"
            return Printed(text.strip(), float(number), min(1.0, number), sign=how)
        plain = f"{match['sign']}{match['number']}"
    match = _NUMBER.fullmatch(_TIMES_TEN.sub(r"e\1", plain))
    if not match or not any(character.isdigit() for character in match["digits"]):
        raise ValueError(f"{text!r} is not a number such as 1,795, 38.19 %, 7.66e-21 or <0.001")
    digits = match["digits"].replace(",", "")
    exponent = int((match["exponent"] or "e0")[1:])
    if abs(exponent) > _LARGEST_EXPONENT:
        raise ValueError(f"{text!r} is beyond what a computer's numbers hold")
    value = float(Decimal(digits).scaleb(exponent))
    unit = float(Decimal(1).scaleb(exponent - len(digits.partition(".")[2])))
    if not math.isfinite(value) or not unit:
        raise ValueError(f"{text!r} is beyond what a computer's numbers hold")
    sign = _SIGNS[match["sign"].lower()]
    return Printed(text.strip(), value, unit, bool(match["percent"]), sign)


# --- comparing ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """How a computed number compares with a printed one, and why."""

    status: Status
    reason: str


def compare(
    value: float | None,
    printed: Printed,
    unit: str = "",
    *,
    basis: Basis = "data",
    inputs: tuple[float, float] | None = None,
    inferred: bool = False,
) -> Comparison:
    """Compare a computed number with a printed one.

    `inputs` are the least and the largest result that the inputs give before they were rounded.
    What differs from inputs that a reader `inferred` contradicts nothing: it does not follow.
    """
    equal, different, unknown = _BY_BASIS[basis]
    if value is None:
        return Comparison(unknown, f"printed {printed.text}, nothing to compare with")
    closeness, reason = _closeness(value, printed, inputs)
    if closeness == "different" and basis != "paper" and _is_near(value, printed, unit):
        closeness, reason = "near", f"{reason}: within {NEAR[unit]:g}"
    different = follows(different, inferred=inferred)
    statuses: dict[Closeness, Status] = {"equal": equal, "near": "near", "different": different}
    return Comparison(statuses[closeness], reason)


def compare_all(comparisons: Sequence[Comparison]) -> Comparison:
    """Several values of one figure: the worst status, with its own reasons."""
    status = worst(comparison.status for comparison in comparisons)
    reasons = (comparison.reason for comparison in comparisons if comparison.status == status)
    return Comparison(status, "; ".join(dict.fromkeys(reasons)))


def worst(statuses: Iterable[Status]) -> Status:
    """The status of several values together."""
    return max(statuses, key=_STATUSES.index)


def follows(status: Status, *, inferred: bool) -> Status:
    """The status, where inputs may have been inferred: then nothing contradicts itself."""
    return "does not follow" if inferred and status == "inconsistent" else status


def _closeness(
    value: float, printed: Printed, inputs: tuple[float, float] | None
) -> tuple[Closeness, str]:
    ours = written_like(value, printed)
    if printed.is_bound:
        return _against_bound(value, printed, inputs or ())
    how = match(printed, value)
    if printed.sign:
        return _against_words(value, printed, how)
    if how != "different":
        closeness, words = _WAYS[how]
        return closeness, f"{printed.text}: {words} to the printed digits"
    low, high = inputs or (value, value)
    if low < high and low - printed.half <= printed.value <= high + printed.half:
        span = f"{written_like(low, printed)} to {written_like(high, printed)}"
        return "near", f"{printed.text} is not {ours}, but unrounded inputs give {span}"
    return "different", f"printed {printed.text}, computed {ours}"


def _against_bound(value: float, bound: Printed, inputs: Sequence[float]) -> tuple[Closeness, str]:
    ours = written_like(value, bound)
    if keeps(bound, value):
        return "equal", f"{ours} keeps {bound.text}"
    if any(keeps(bound, end) for end in inputs):
        return "near", f"{ours} breaks {bound.text}, but unrounded inputs can keep it"
    return "different", f"{ours} breaks {bound.text}"


def _against_words(value: float, printed: Printed, how: Match) -> tuple[Closeness, str]:
    """`~30` is about a number, `almost 30` below and `over 30` above it in its last digit."""
    ours = written_like(value, printed)
    beyond = abs(value) - abs(printed.value)
    holds = {
        "~": how == "rounded",
        "almost": how == "rounded" and beyond < 0,
        "over": 0 < beyond < printed.unit and how != "different",
    }[printed.sign]
    if holds:
        return "equal", f"{ours} is {printed.text}"
    if printed.sign == "~" and is_about(printed, value):
        return "near", f"{ours} rounds to {printed.text}"
    return "different", f"{ours} is not {printed.text}"


def _is_near(value: float, printed: Printed, unit: str) -> bool:
    if printed.sign not in ("", "~") or unit not in NEAR:
        return False
    return abs(value - printed.value) <= NEAR[unit] * (1 + 1e-9)


def match(printed: Printed, computed: float) -> Match:
    """How a computed number becomes the printed one, if it does.

    `rounded`: to the nearest, a half either way; `cut`: further digits were dropped.
    """
    least = slack(computed, printed.unit)
    gap = abs(computed) - abs(printed.value)
    if computed * printed.value < 0 and abs(computed) > printed.half + least:
        return "different"
    if abs(computed - printed.value) <= printed.half + least:
        return "rounded"
    if -least <= gap < printed.unit - least:
        return "cut"
    if -printed.unit + least < gap <= least:
        return "rounded up"
    return "different"


def slack(computed: float, unit: float) -> float:
    """How far a computed number may be off because it is a binary fraction.

    Far less than the last printed digit: of a billion, one is not lost.
    """
    return 1e-9 * unit + 1e-13 * abs(computed)


def is_about(printed: Printed, computed: float) -> bool:
    """Whether a number printed as approximate (`~30`) is the computed one with fewer digits."""
    if not computed or not printed.value or not math.isfinite(computed):
        return computed == printed.value
    coarsest = printed.unit  # one in the last digit that is no padding zero: 10 for `30`
    while abs(printed.value) >= 10 * coarsest and not round(abs(printed.value) / coarsest) % 10:
        coarsest *= 10
    figures = max(1, math.floor(math.log10(abs(printed.value) / coarsest)) + 1)
    return abs(float(f"{computed:.{figures - 1}e}") - printed.value) <= 1e-9 * abs(printed.value)


def keeps(bound: Printed, value: float) -> bool:
    """Whether a value keeps a printed bound."""
    least = 1e-12 * max(1.0, abs(bound.value))
    return {
        "<": value < bound.value,
        "<=": value <= bound.value + least,
        ">": value > bound.value,
        ">=": value >= bound.value - least,
    }[bound.sign]


def range_of(
    compute: Callable[[Sequence[float]], float], inputs: Sequence[Printed]
) -> tuple[float, float]:
    """The least and the largest result that the unrounded inputs can have.

    Exact where the result grows or falls with each input. Of many inputs each is tried alone, and
    then all at the ends that gave less, or more.
    """
    ends = [tuple(dict.fromkeys(number.ends())) for number in inputs]
    if sum(len(pair) > 1 for pair in ends) <= _MOST_CORNERS:
        results = [compute(corner) for corner in product(*ends)]
        return min(results), max(results)
    middle = [number.value for number in inputs]

    def alone(index: int, end: float) -> float:
        return compute([*middle[:index], end, *middle[index + 1 :]])

    ordered = [
        sorted(pair, key=lambda end, index=index: alone(index, end))  # type: ignore[misc]
        for index, pair in enumerate(ends)
    ]
    return compute([pair[0] for pair in ordered]), compute([pair[-1] for pair in ordered])


def written_like(value: float, printed: Printed | None = None, *, digits: int = 2) -> str:
    """A computed number with as many digits as the printed one; more if that is not exact."""
    if not math.isfinite(value):
        return str(value)
    unit = printed.unit / (100 if printed.sign else 1) if printed else 10.0**-digits
    if printed and 0 < unit < 1e-6:
        figures = 2
        if printed.value and not printed.sign:
            figures = max(0, math.floor(math.log10(abs(printed.value) / unit)))
        return f"{value:.{figures}e}"
    tiny = 10.0 ** -(digits + 2)
    if value and abs(value) < tiny and (not printed or abs(value) < unit / 2):
        return f"{value:.2e}"
    written = f"{value + 0.0:,.{max(0, round(-math.log10(unit)))}f}"
    return f"{written} %" if printed and printed.percent else written

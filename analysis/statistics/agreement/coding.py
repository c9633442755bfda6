"""What statistics of agreement are computed from, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

# In quotes, so that numpy is not loaded for them.
Codes: TypeAlias = "NDArray[int64]"
Distances: TypeAlias = "NDArray[float64]"
Floats: TypeAlias = "NDArray[float64]"

MISSING = -1


@dataclass(frozen=True)
class Coded:
    """Items by raters: the number of the category that each gave, or MISSING.

    Several codes given at once are one category: the set of them. `categories` may have some
    that nobody used.
    """

    values: Codes
    categories: tuple[Hashable, ...]


@dataclass(frozen=True)
class Estimate:
    """A statistic: its value, two 95 % intervals, and what it is made of.

    Without a value there is a `reason`: too few items, one rater, one category.
    """

    statistic: str  # krippendorff, fleiss, cohen, gwet, percent, pairwise
    value: float | None
    items: int  # with two ratings or more
    raters: int
    ratings: int  # on those items
    low: float | None = None  # analytic
    high: float | None = None
    method: str = ""  # of the analytic interval, with its source
    bootstrap_low: float | None = None
    bootstrap_high: float | None = None
    resamples: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Resampling:
    """A statistic as a function of how often each item was drawn."""

    items: int  # that can be drawn
    # From counts of draws (items by resamples) to values (resamples by figures); nan where a
    # resample has no value, such as one that holds a single category.
    values: Callable[[Floats], Floats]


class Statistic(Protocol):
    """A statistic of agreement: one module each, found by discovery."""

    name: str
    title: str  # such as Krippendorff's alpha
    source: str  # the publication that defines it

    def estimate(self, coded: Coded, distances: Distances | None = None) -> Estimate:
        """The value with its analytic interval; `distances` between the coded categories."""
        ...

    def resampling(self, coded: Coded, distances: Distances | None = None) -> Resampling:
        """The statistic of any draw of its items; asked only where there is a value."""
        ...


def coded(rows: Iterable[Sequence[Hashable | None]], categories: Sequence[Hashable] = ()) -> Coded:
    """Rows of categories, None where a rater gave none, as numbers."""
    import numpy as np

    table = [list(row) for row in rows]
    numbers: dict[Hashable, int] = {category: at for at, category in enumerate(categories)}
    for row in table:
        for value in row:
            if value is not None:
                numbers.setdefault(value, len(numbers))
    raters = max(map(len, table), default=0)
    values = np.full((len(table), raters), MISSING, dtype=np.int64)
    for at, row in enumerate(table):
        for rater, value in enumerate(row):
            if value is not None:
                values[at, rater] = numbers[value]
    return Coded(values, tuple(numbers))


def renumbered(table: Coded, into: Mapping[Hashable, Hashable | None]) -> Coded:
    """The same ratings under other categories; None takes a rating out."""
    return coded(
        [
            [None if value == MISSING else into[table.categories[value]] for value in row]
            for row in table.values.tolist()
        ]
    )

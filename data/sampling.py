"""How many to draw, which, and how many from each stratum.

A draw is ordered by a hash of seed, stratum and artifact id. So it depends on no library's random
numbers, anybody can derive it again, and a larger sample holds the smaller one.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

from faultatlas.data.errors import StudyError

Rounding = Literal["nearest", "up"]
# In percent. Beyond these nobody samples, and the formula divides by what is as good as nothing.
CONFIDENCES = (1, 99.99)
MARGINS = (0.01, 99)
LARGEST_SEED = 2**63 - 1  # as the study stores it


@dataclass(frozen=True)
class Precision:
    """How sure a share that is estimated from a sample shall be; in percent."""

    confidence: float = 95
    margin: float = 5
    rounding: Rounding = "nearest"

    def __post_init__(self) -> None:
        lowest, highest = CONFIDENCES
        if not lowest <= self.confidence <= highest:
            raise StudyError(
                f"a confidence of {self.confidence:g} %",
                f"It lies between {lowest} and {highest}: 95.",
            )
        smallest, largest = MARGINS
        if not smallest <= self.margin <= largest:
            raise StudyError(
                f"a margin of {self.margin:g} %", f"It lies between {smallest} and {largest}: 5."
            )

    def unlimited(self, share: float = 0.5) -> float:
        """Cochran's size for a population without end, before rounding."""
        z = NormalDist().inv_cdf(0.5 + self.confidence / 200)
        return z**2 * share * (1 - share) / (self.margin / 100) ** 2

    def exact(self, population: float, share: float = 0.5) -> float:
        """With the correction for a finite population, before rounding."""
        unlimited = self.unlimited(share)
        return unlimited / (1 + (unlimited - 1) / population)

    def size(self, population: float, share: float = 0.5) -> int:
        """Rounded, and never more than there are."""
        if population <= 0:
            return 0
        exact = self.exact(population, share)
        whole = math.ceil(exact) if self.rounding == "up" else math.floor(exact + 0.5)
        return int(max(1, min(population, whole)))

    def words(self, population: float) -> str:
        """The rule in a sentence, with its numbers."""
        size = self.size(population)
        if math.isinf(population):
            return f"{self._first}, {self._rounded}: {size:,}"
        return (
            f"n = n0 / (1 + (n0 - 1) / N) = {self.exact(population):.2f} with {self._first} and "
            f"N = {population:,}, {self._rounded}: {size:,}"
        )

    def formula(self) -> str:
        """The rule without a population."""
        return f"n = n0 / (1 + (n0 - 1) / N) with {self._first}, {self._rounded}"

    @property
    def _first(self) -> str:
        return (
            f"n0 = z^2 * 0.25 / e^2 = {self.unlimited():.2f} "
            f"({self.confidence:g} % confidence, {self.margin:g} % margin)"
        )

    @property
    def _rounded(self) -> str:
        return "rounded up" if self.rounding == "up" else "rounded to the nearest number"


def sample_size(
    population: float | None,
    confidence: float = 95,
    margin: float = 5,
    *,
    share: float = 0.5,
    rounding: Rounding = "nearest",
) -> int:
    """Cochran's size with the correction for a finite population (Sampling Techniques, 1977, 4.4).

    `confidence` and `margin` are percentages; a population of None has no end. The published
    samples of 380 of 38,463 and 379 of 26,326 are rounded to the nearest number, not up.
    """
    whole = math.inf if population is None else population
    return Precision(confidence, margin, rounding).size(whole, share)


def checked_seed(seed: int) -> int:
    """A seed, if it can be stored."""
    if not -LARGEST_SEED <= seed <= LARGEST_SEED:
        raise StudyError(
            f"a seed of {seed}" if abs(seed) < 10**40 else "a seed of more than 40 digits",
            f"It lies between -{LARGEST_SEED} and {LARGEST_SEED}: --seed 7.",
        )
    return seed


def draw_key(seed: int, stratum: str, artifact_id: str) -> bytes:
    """What a draw is ordered by."""
    return hashlib.sha256(f"{seed}\0{stratum}\0{artifact_id}".encode()).digest()


def draw_key_sql(seed: str, stratum: str, artifact_id: str) -> str:
    """The same of SQL expressions, as a text in the same order."""
    return f"sha256(concat({seed}, chr(0), {stratum}, chr(0), {artifact_id}))"


def drawn(frame: Iterable[str], size: int, seed: int, stratum: str = "") -> list[str]:
    """The first so many of a frame, in the order of the draw."""
    return sorted(frame, key=lambda each: draw_key(seed, stratum, each))[:size]


# --- strata ------------------------------------------------------------------------------

Weights = Mapping[str, float | Fraction]


def allocated(
    total: int,
    weights: Weights,
    least: Mapping[str, int],
    most: Mapping[str, int],
    *,
    one_of_each: bool = False,
) -> dict[str, int]:
    """Shares of a total in proportion to weights, none below `least` or above `most`.

    One after another is given to the stratum with the largest weight / (2 n + 1), where n is what
    it has (Webster, Sainte-Lague); among equals to the larger weight, then by name. So with a
    larger total no stratum gets less, as it could by largest remainders. With `one_of_each`
    every stratum gets its first one before any gets more. Those without a weight get what the
    others cannot take. All numbers are exact, so that every machine gives the same.
    """
    if not sum(least.values()) <= total <= sum(most.values()):
        raise ValueError(f"{total} cannot be shared out within the bounds")
    if any(not least[name] <= most[name] for name in weights):
        raise ValueError("a lower bound is above the upper one")
    exact = {name: Fraction(weight) for name, weight in weights.items()}
    shares = {name: least[name] for name in exact}
    if len(shares) == 1:
        return dict.fromkeys(shares, total)

    def turn(name: str) -> tuple[int, Fraction, Fraction, str]:
        """Those with the smallest come first."""
        weight, has = exact[name], shares[name]
        rank = 0 if one_of_each and not has else 1 if weight > 0 else 2
        by = weight if weight > 0 else Fraction(most[name])
        return (rank, -by / (2 * has + 1), -by, name)

    waiting = [turn(name) for name in exact if shares[name] < most[name]]
    heapq.heapify(waiting)
    for _each in range(total - sum(shares.values())):
        name = waiting[0][-1]
        shares[name] += 1
        if shares[name] < most[name]:
            heapq.heapreplace(waiting, turn(name))
        else:
            heapq.heappop(waiting)
    return shares


def spread(values: Iterable[float]) -> float:
    """The standard deviation in a stratum (n - 1); 0 for one value or none."""
    known: Sequence[float] = [value for value in values if not math.isnan(value)]
    return statistics.stdev(known) if len(known) > 1 else 0.0

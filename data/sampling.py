"""How many to draw, and which: sizes from a formula, draws from a seed.

A draw is ordered by a hash of seed, stratum and artifact id. So it depends on no library's random
numbers, anybody can derive it again, and a larger sample holds the smaller one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Literal

from data.errors import StudyError

Rounding = Literal["nearest", "up"]
# In percent. Beyond these nobody samples, and the formula divides by what is as good as nothing.
CONFIDENCES = (1, 99.99)
MARGINS = (0.01, 99)


def sample_size(
    population: int,
    confidence: float = 95,
    margin: float = 5,
    *,
    share: float = 0.5,
    rounding: Rounding = "nearest",
) -> int:
    """Cochran's size with the correction for a finite population (Sampling Techniques, 1977, 4.4).

    `confidence` and `margin` are percentages. The published samples of 380 of 38,463 and 379 of
    26,326 are rounded to the nearest number, not up.
    """
    lowest, highest = CONFIDENCES
    if not lowest <= confidence <= highest:
        raise StudyError(
            f"a confidence of {confidence:g} %", f"It lies between {lowest} and {highest}: 95."
        )
    smallest, largest = MARGINS
    if not smallest <= margin <= largest:
        raise StudyError(
            f"a margin of {margin:g} %", f"It lies between {smallest} and {largest}: 5."
        )
    if population <= 0:
        return 0
    z = NormalDist().inv_cdf(0.5 + confidence / 200)
    infinite = z**2 * share * (1 - share) / (margin / 100) ** 2
    size = infinite / (1 + (infinite - 1) / population)
    whole = math.ceil(size) if rounding == "up" else math.floor(size + 0.5)
    return max(1, min(population, whole))


def draw_key(seed: int, stratum: str, artifact_id: str) -> bytes:
    """What a draw is ordered by."""
    return hashlib.sha256(f"{seed}\0{stratum}\0{artifact_id}".encode()).digest()


def draw_key_sql(seed: str, stratum: str, artifact_id: str) -> str:
    """The same of SQL expressions, as a text in the same order."""
    return f"sha256(concat({seed}, chr(0), {stratum}, chr(0), {artifact_id}))"


def drawn(frame: Iterable[str], size: int, seed: int, stratum: str = "") -> list[str]:
    """The first so many of a frame, in the order of the draw."""
    return sorted(frame, key=lambda each: draw_key(seed, stratum, each))[:size]

"""What a statistic returns: an estimate with its interval, or a test with its p-value."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2
Z_95 = 1.9599639845400545  # 2.5 % of a standard normal distribution lie above
_FILE = Path(__file__).with_name("references.toml")
_REFERENCES: dict[str, str] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Estimate:
    """A value from `n` observations, with the ends of its 95 % interval.

    Without a value there is a reason.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str = ""


@dataclass(frozen=True)
class Test:
    """A statistic with its two-sided p-value. Without a p-value there is a reason."""

    __test__ = False  # pytest collects classes whose name starts with Test

    name: str
    statistic: float | None
    p_value: float | None
    n: int
    degrees: float | None = None
    detail: str = ""  # which variant was chosen, and why
    reason: str = ""


def no_estimate(n: int, method: str, reason: str) -> Estimate:
    """An estimate without a value."""
    return Estimate(None, None, None, n, method, reason)


def no_test(name: str, n: int, reason: str) -> Test:
    """A test without a p-value."""
    return Test(name, None, None, n, reason=reason)


def cited(*keys: str) -> tuple[str, ...]:
    """The publications with these keys in references.toml."""
    return tuple(_REFERENCES[key] for key in keys)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values of several tests, adjusted (Holm 1979); None and NaN are no tests."""
    # Not statsmodels' multipletests: each call collects the garbage of the whole process (35 ms).
    known = [(p, index) for index, p in enumerate(p_values) if p is not None and not math.isnan(p)]
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(sorted(known)):
        largest = max(largest, float(p) * (len(known) - rank))
        adjusted[index] = min(largest, 1.0)
    return adjusted

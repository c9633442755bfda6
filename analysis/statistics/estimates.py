"""What a statistic gives: an estimate with its interval, or a test with its p-value."""

from __future__ import annotations

from dataclasses import dataclass

CONFIDENCE = 0.95
Z_95 = 1.9599639845400545  # 2.5 % of a standard normal distribution lie above


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its 95 % interval, from so many observations.

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
    """A statistic with its two-sided p-value. Without one there is a reason."""

    __test__ = False  # no test of ours, whatever pytest thinks of its name

    name: str
    statistic: float | None
    p_value: float | None
    n: int
    degrees: float | None = None
    detail: str = ""  # what was chosen, and why
    reason: str = ""


def no_estimate(n: int, method: str, reason: str) -> Estimate:
    """An estimate that could not be made."""
    return Estimate(None, None, None, n, method, reason)


def no_test(name: str, n: int, reason: str) -> Test:
    """A test that could not be made."""
    return Test(name, None, None, n, reason=reason)

"""Analytic intervals: a value, and what each item contributes to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import Estimate, Floats

GWET = (
    "t interval from the linearised contributions of the items "
    "(Gwet 2014, Handbook of inter-rater reliability, 4th ed., ch. 5)"
)
FLEISS_COHEN_EVERITT = "normal interval, large-sample variance (Fleiss, Cohen and Everitt 1969)"
NO_SPREAD = "none: every item contributes the same"
PERFECT = "none: agreement is perfect"
CONFIDENCE = 0.95
_DUST = 1e-9  # a standard error below this is rounding


def by_student(estimate: Estimate, value: float, contributions: Floats, method: str) -> Estimate:
    """With a t interval around the value; contributions have the value, nearly, as their mean."""
    # Imported late: scipy takes its time, and values alone do not need it.
    from scipy.special import stdtrit

    items = len(contributions)
    if items < 2:
        return replace(estimate, value=value, method=NO_SPREAD)
    error = float(np.sqrt(((contributions - value) ** 2).sum() / (items * (items - 1))))
    quantile = float(stdtrit(items - 1, (1 + CONFIDENCE) / 2))
    return _around(estimate, value, quantile * error, method)


def by_normal(estimate: Estimate, value: float, shifts: Floats, method: str) -> Estimate:
    """With a normal interval; `shifts` are what each item moves the value by, 0 on the whole."""
    from scipy.special import ndtri

    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    return _around(estimate, value, quantile * float(np.sqrt((shifts**2).sum())), method)


def _around(estimate: Estimate, value: float, half: float, method: str) -> Estimate:
    if value >= 1 - _DUST:  # what does not vary cannot show how much it would
        return replace(estimate, value=value, method=PERFECT)
    if not half > _DUST:
        return replace(estimate, value=value, method=NO_SPREAD)
    lowest = 0.0 if estimate.statistic == "percent" else -np.inf
    return replace(
        estimate,
        value=value,
        low=max(lowest, value - half),
        high=min(1.0, value + half),
        method=method,
    )

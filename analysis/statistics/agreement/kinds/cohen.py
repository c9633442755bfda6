"""Cohen's kappa of two raters, weighted where there are distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import (
    MISSING,
    Coded,
    Distances,
    Estimate,
    Resampling,
)
from faultatlas.analysis.statistics.agreement.crossed import Crossed, crossed
from faultatlas.analysis.statistics.agreement.intervals import FLEISS_COHEN_EVERITT, by_normal
from faultatlas.analysis.statistics.agreement.tallies import ONE_CATEGORY, basis

name = "cohen"
title = "Cohen's kappa"
source = (
    "Cohen (1960), Educational and Psychological Measurement 20(1); weighted: "
    "Cohen (1968), Psychological Bulletin 70(4)"
)


def estimate(coded: Coded, distances: Distances | None = None) -> Estimate:
    """Chance is that of two raters with the shares of categories that each of them has.

    Only items that both have rated count.
    """
    found = basis(name, coded)
    if len(_raters(coded)) > 2:
        reason = (
            f"Cohen's kappa is for two raters, here are {len(_raters(coded))}: "
            "take pairwise, fleiss or krippendorff"
        )
        return replace(found, reason=reason)
    if found.reason:
        return found
    both = _crossed(coded, distances)
    if both.kappa is None:
        return replace(found, reason=ONE_CATEGORY)
    return by_normal(found, both.kappa, both.shifts(both.kappa), FLEISS_COHEN_EVERITT)


def resampling(coded: Coded, distances: Distances | None = None) -> Resampling:
    """Of the items that both have rated."""
    both = _crossed(coded, distances)
    return Resampling(both.items, both.resampled())


def _crossed(coded: Coded, distances: Distances | None) -> Crossed:
    first, second = _raters(coded)
    return crossed(coded, first, second, distances)


def _raters(coded: Coded) -> list[int]:
    return [int(column) for column in np.flatnonzero((coded.values != MISSING).any(axis=0))]

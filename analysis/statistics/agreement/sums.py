"""Pieces of statistics that are functions of sums over items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from faultatlas.analysis.statistics.agreement.coding import Floats
from faultatlas.analysis.statistics.agreement.tallies import Tally

DUST = 1e-12  # an expected disagreement below this is none


def summing(features: Floats) -> Callable[[Floats], Floats]:
    """From counts of draws (items by resamples) to sums of features (resamples by features).

    Most features of an item are 0, since raters use few of the categories for it. Products of
    sparse matrices also add in the same order everywhere, whatever the number of threads.
    """
    by_feature = csr_array(features.T)

    def sums(drawn: Floats) -> Floats:
        return np.ascontiguousarray((by_feature @ drawn).T)

    return sums


def observed(table: Tally) -> Floats:
    """For each item its disagreement, and 1 if it has two ratings."""
    return np.column_stack([table.disagreement, table.paired])


def beyond_chance(disagreement: Floats, number: Floats, chance: Floats) -> Floats:
    """1 - observed by expected disagreement, from sums; nan where that has no meaning."""
    defined = (number > 0) & (chance > DUST)
    ratio = np.divide(
        disagreement, number * chance, out=np.full_like(chance, np.nan), where=defined
    )
    values: Floats = 1.0 - ratio
    return values

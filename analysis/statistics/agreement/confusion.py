"""Which categories stood against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import Coded
from faultatlas.analysis.statistics.agreement.tallies import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray


def confusion(coded: Coded) -> NDArray[np.int64]:
    """How many pairs of ratings of one item were a and b: symmetric, by the coded categories.

    A pair stands at [a, b] and, mirrored, at [b, a]; on the diagonal are the pairs that agree.
    The upper triangle with the diagonal sums to the number of pairs.
    """
    counts = counted(coded)
    pairs = counts.T @ counts
    alike = (counts * (counts - 1)).sum(axis=0) // 2
    np.fill_diagonal(pairs, alike)
    return pairs

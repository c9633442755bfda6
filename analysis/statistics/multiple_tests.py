"""Many tests at once: p-values adjusted so that few of them are small by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values of several tests, adjusted after Holm (1979); what is no number has none."""
    # Not that of statsmodels: it collects all garbage of the process every time (35 ms and more).
    known = sorted(
        (float(p), at) for at, p in enumerate(p_values) if p is not None and not math.isnan(p)
    )
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, at) in enumerate(known):
        least = max(least, p * (len(known) - rank))
        adjusted[at] = min(least, 1.0)
    return adjusted

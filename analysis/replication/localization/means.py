"""Means over bugs as values, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.analysis.replication.agreeing import RESAMPLES
from faultatlas.analysis.replication.figures import Value


def mean(
    key: str,
    numbers: Sequence[float],
    *,
    seed: int,
    statement: str,
    files: tuple[str, ...],
    rows: str = "",
    printed: str = "",
) -> Value:
    """The mean with its percentile interval over bugs; of one bug there is none."""
    low, high = _interval(numbers, seed)
    return Value(
        key,
        sum(numbers) / len(numbers),
        "coefficient",
        total=len(numbers),
        low=low,
        high=high,
        method="" if low is None else f"bootstrap over bugs, {RESAMPLES:,} resamples, 95 %",
        files=files,
        rows=rows,
        statement=statement,
        printed=printed,
    )


def _interval(numbers: Sequence[float], seed: int) -> tuple[float | None, float | None]:
    import numpy as np

    from faultatlas.analysis.statistics.agreement.intervals import draws

    if len(set(numbers)) == 1:
        return None, None
    given = np.asarray(numbers, dtype=float)
    drawn = [given @ counts / len(given) for counts in draws(len(given), RESAMPLES, seed)]
    low, high = np.percentile(np.concatenate(drawn), [2.5, 97.5])
    return float(low), float(high)

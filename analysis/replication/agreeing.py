"""Agreement of raters as a value of a figure, with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from faultatlas.analysis.replication.figures import Value
from faultatlas.analysis.statistics.shares import wilson_share

RESAMPLES = 2000


def agreement(
    key: str,
    rows: Iterable[Sequence[Hashable | None]],
    statistic: str = "fleiss",
    *,
    seed: int = 0,
    files: tuple[str, ...] = (),
) -> Value | None:
    """A statistic of agreement over items, None for a rater who said nothing; None without one."""
    from faultatlas.analysis.statistics.agreement import measure
    from faultatlas.analysis.statistics.agreement.ratings import rating_table

    found = measure(rating_table(rows), statistic, resamples=RESAMPLES, seed=seed)
    if found.value is None:
        return None
    return Value(
        key,
        float(found.value),
        "coefficient",
        total=found.items,
        low=found.bootstrap_low,
        high=found.bootstrap_high,
        method=f"bootstrap over items, {RESAMPLES:,} resamples, 95 %",
        files=files,
    )


def share(key: str, count: int, total: int, **about: str | tuple[str, ...]) -> Value:
    """A share in percent with its interval."""
    found = wilson_share(count, total)
    return Value(
        key, found.percent if found.percent is not None else float("nan"), "percent", count, total,
        found.low, found.high, found.method, **about,  # type: ignore[arg-type]  # by name
    )  # fmt: skip

"""Whether a sample looks like what it was drawn from.

Pearson's chi-square of the counts in the sample against the shares in the frame. A sample is drawn
without putting anything back, so that its counts vary less than the usual test assumes: by the
factor (N - n) / (N - 1), by which the statistic is divided here (Cochran, Sampling Techniques,
1977, chapter 3). Where a group is expected less than five times in the sample, or in what is left
of the frame, the distribution is simulated instead of approximated: draws from the frame, from a
seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SMALLEST_EXPECTED = 5  # Cochran, Some Methods for Strengthening the Common Chi-square Tests, 1954
RESAMPLES = 9_999
MOST_GROUPS = 300  # beyond, a test says nothing that anybody could use
_AT_ONCE = 500  # simulated draws in memory
CHI_SQUARE = "chi-square, corrected for the finite frame"
SIMULATED = f"chi-square, {RESAMPLES:,} simulated draws from the frame"


@dataclass(frozen=True)
class Fit:
    """How well a sample's counts fit the frame's; nothing where that cannot be asked."""

    statistic: float | None  # with the correction for the finite frame
    degrees: int
    p_value: float | None
    method: str
    uncorrected: float | None = None  # Pearson's statistic as if drawn from an endless frame


def fit_to_frame(sample: Sequence[int], frame: Sequence[int], *, seed: int = 1) -> Fit:
    """Compare counts of groups in a sample with those of the same groups in its frame."""
    import numpy as np

    if len(sample) != len(frame) or any(
        not 0 <= part <= whole for part, whole in zip(sample, frame, strict=True)
    ):
        raise ValueError("a sample has no more of a group than its frame")
    present = [(part, whole) for part, whole in zip(sample, frame, strict=True) if whole]
    observed = np.array([part for part, _whole in present], dtype=np.int64)
    counts = np.array([whole for _part, whole in present], dtype=np.int64)
    drawn, total = int(observed.sum()), int(counts.sum())
    degrees = max(0, len(present) - 1)
    if degrees == 0:
        return Fit(None, degrees, None, "not tested: there is one group")
    if drawn == 0:
        return Fit(None, degrees, None, "not tested: nothing was drawn")
    if drawn == total:
        return Fit(None, degrees, None, "not tested: the sample is the whole frame")
    if len(present) > MOST_GROUPS:
        return Fit(None, degrees, None, f"not tested: there are more than {MOST_GROUPS} groups")
    expected = drawn * counts / total
    plain = float(((observed - expected) ** 2 / expected).sum())
    statistic = plain * (total - 1) / (total - drawn)
    smallest = float(expected.min())
    left = float(((total - drawn) * counts / total).min())
    if min(smallest, left) >= SMALLEST_EXPECTED:
        from scipy.special import chdtrc  # scipy.stats takes a second to import

        p_value, method = float(chdtrc(degrees, statistic)), CHI_SQUARE
    else:
        generator = np.random.Generator(np.random.PCG64(seed))
        as_far = 0
        for first in range(0, RESAMPLES, _AT_ONCE):
            draws = generator.multivariate_hypergeometric(
                counts, drawn, size=min(_AT_ONCE, RESAMPLES - first), method="marginals"
            )
            simulated = ((draws - expected) ** 2 / expected).sum(axis=1)
            # Sums of the same numbers in another order may differ by dust.
            as_far += int((simulated >= plain * (1 - 1e-9) - 1e-12).sum())
        p_value, method = (as_far + 1) / (RESAMPLES + 1), SIMULATED
    return Fit(statistic, degrees, p_value, method, plain)

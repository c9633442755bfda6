"""Words for the sizes of effects, each scale with its source. A scale is a habit, no law.

A band is the absolute value from which its word holds. What lies below an author's first word
is called negligible where the author has no word for it, and the citation says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_COHEN = "Cohen (1988), Statistical power analysis for the behavioral sciences, 2nd ed."
_BELOW = "; negligible below is not his word"


@dataclass(frozen=True)
class Scale:
    """Bands from the lowest to the highest: from which absolute value on, which word."""

    key: str
    title: str
    citation: str
    bands: tuple[tuple[float, str], ...]
    of_ratio: bool = False  # 1 is no effect, and 0.5 is as much as 2
    middle: float = 0.0  # where there is no effect
    by_degrees: bool = False  # bands are for one degree of freedom and shrink with more


SCALES: dict[str, Scale] = {
    scale.key: scale
    for scale in (
        Scale(
            "cohen-d",
            "Cohen (d)",
            f"{_COHEN}, pp. 25-27{_BELOW}",
            ((0.0, "negligible"), (0.2, "small"), (0.5, "medium"), (0.8, "large")),
        ),
        Scale(
            "sawilowsky-d",
            "Sawilowsky (d)",
            "Sawilowsky (2009), New effect size rules of thumb, Journal of Modern Applied "
            "Statistical Methods 8(2), p. 599; negligible below is not his word",
            (
                (0.0, "negligible"),
                (0.01, "very small"),
                (0.2, "small"),
                (0.5, "medium"),
                (0.8, "large"),
                (1.2, "very large"),
                (2.0, "huge"),
            ),
        ),
        Scale(
            "cliff-delta",
            "Romano et al. (Cliff's delta)",
            "Romano, Kromrey, Coraggio and Skowronek (2006), Appropriate statistics for ordinal "
            "level data, Annual meeting of the Florida Association of Institutional Research",
            ((0.0, "negligible"), (0.147, "small"), (0.33, "medium"), (0.474, "large")),
        ),
        Scale(
            "vargha-delaney-a",
            "Vargha and Delaney (A)",
            "Vargha and Delaney (2000), A critique and improvement of the CL common language "
            "effect size statistics, Journal of Educational and Behavioral Statistics 25(2), "
            "p. 106; negligible below is not their word",
            ((0.0, "negligible"), (0.06, "small"), (0.14, "medium"), (0.21, "large")),
            middle=0.5,
        ),
        Scale(
            "cramer-v",
            "Cohen (w, as Cramer's V)",
            f"{_COHEN}, pp. 222-227: w of 0.1, 0.3 and 0.5, and V = w / sqrt(min(rows, columns) - "
            f"1){_BELOW}",
            ((0.0, "negligible"), (0.1, "small"), (0.3, "medium"), (0.5, "large")),
            by_degrees=True,
        ),
        Scale(
            "cohen-w",
            "Cohen (w)",
            f"{_COHEN}, p. 227{_BELOW}",
            ((0.0, "negligible"), (0.1, "small"), (0.3, "medium"), (0.5, "large")),
        ),
        Scale(
            "cohen-h",
            "Cohen (h)",
            f"{_COHEN}, pp. 184-185{_BELOW}",
            ((0.0, "negligible"), (0.2, "small"), (0.5, "medium"), (0.8, "large")),
        ),
        Scale(
            "cohen-r",
            "Cohen (r)",
            f"{_COHEN}, pp. 79-80{_BELOW}",
            ((0.0, "negligible"), (0.1, "small"), (0.3, "medium"), (0.5, "large")),
        ),
        Scale(
            "eta-squared",
            "Cohen (eta squared)",
            f"{_COHEN}, pp. 285-287: f of 0.1, 0.25 and 0.4{_BELOW}",
            ((0.0, "negligible"), (0.0099, "small"), (0.0588, "medium"), (0.1379, "large")),
        ),
        Scale(
            "odds-ratio",
            "Chen, Cohen and Chen (odds ratio)",
            "Chen, Cohen and Chen (2010), How big is a big odds ratio?, Communications in "
            "Statistics - Simulation and Computation 39(4), p. 864: where the event is rare (1 %) "
            "in the other group; negligible below is not their word",
            ((1.0, "negligible"), (1.68, "small"), (3.47, "medium"), (6.71, "large")),
            of_ratio=True,
        ),
    )
}


def word(scale: str, value: float | None, *, degrees: int = 1) -> str:
    """What a scale calls a value; nothing where there is none.

    `degrees` is the smaller side of the table less one; only Cramer's V asks for it.
    """
    if value is None or math.isnan(value):
        return ""
    known = SCALES[scale]
    size = _distance(known, value)
    shrunk = math.sqrt(max(1, degrees)) if known.by_degrees else 1.0
    # A value that is printed as the border is at the border: 0.2 computed as 0.19999999999999998.
    return [name for start, name in known.bands if size + 1e-12 >= start / shrunk][-1]


def _distance(scale: Scale, value: float) -> float:
    """How far a value is from no effect."""
    if not scale.of_ratio:
        return abs(value - scale.middle)
    if value <= 0:
        return math.inf
    return max(value, 1 / value)

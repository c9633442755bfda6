"""Words for values of agreement, each scale with its source. A scale is a habit, no law."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A word and the values below which it holds."""

    word: str
    end: float
    end_included: bool = True

    def holds(self, value: float) -> bool:
        """Whether a value that no earlier step took belongs here."""
        return value < self.end or (self.end_included and value == self.end)


@dataclass(frozen=True)
class Scale:
    """Steps from the lowest to the highest."""

    name: str
    title: str
    source: str
    steps: tuple[Step, ...]


_ALL = float("inf")

SCALES = {
    scale.name: scale
    for scale in (
        Scale(
            "landis-koch",
            "Landis and Koch",
            "Landis and Koch (1977), The measurement of observer agreement for categorical data, "
            "Biometrics 33(1), p. 165",
            (
                Step("poor", 0.0, end_included=False),
                Step("slight", 0.2),
                Step("fair", 0.4),
                Step("moderate", 0.6),
                Step("substantial", 0.8),
                Step("almost perfect", _ALL),
            ),
        ),
        Scale(
            "krippendorff",
            "Krippendorff",
            "Krippendorff (2004), Content analysis: an introduction to its methodology, 2nd ed., "
            "p. 241: rely on 0.800 and more, draw tentative conclusions from 0.667",
            (
                Step("not reliable", 0.667, end_included=False),
                Step("tentative", 0.8, end_included=False),
                Step("reliable", _ALL),
            ),
        ),
        Scale(
            "altman",
            "Altman",
            "Altman (1991), Practical statistics for medical research, p. 404",
            (
                Step("poor", 0.2),
                Step("fair", 0.4),
                Step("moderate", 0.6),
                Step("good", 0.8),
                Step("very good", _ALL),
            ),
        ),
        Scale(
            "mchugh",
            "McHugh",
            "McHugh (2012), Interrater reliability: the kappa statistic, Biochemia Medica 22(3), "
            "table 3",
            (
                Step("none", 0.2),
                Step("minimal", 0.4, end_included=False),
                Step("weak", 0.6, end_included=False),
                Step("moderate", 0.8, end_included=False),
                Step("strong", 0.9),
                Step("almost perfect", _ALL),
            ),
        ),
    )
}


def word(scale: str, value: float | None) -> str:
    """What a scale calls a value; nothing where there is none."""
    if value is None:
        return ""
    return next(step.word for step in SCALES[scale].steps if step.holds(value))

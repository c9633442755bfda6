"""What a user may choose about the measuring of agreement, and what that makes of names."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotation.labels import Stage
from data.errors import StudyError
from data.settings import SCALES, STATISTICS

ANALYSIS = "agreement"

# Krippendorff's alpha with a distance between codes or sets of codes.
TREE, JACCARD, MASI = "krippendorff-tree", "krippendorff-jaccard", "krippendorff-masi"
KEYS = (*STATISTICS, TREE, JACCARD, MASI)

_LONGEST_NAME = 80


class By(StrEnum):
    """What agreement is shown for."""

    ROUND = "round"
    PAIR = "pair"
    CATEGORY = "category"
    STRATUM = "stratum"
    LEVEL = "level"


class Special(StrEnum):
    """What becomes of answers that are no code."""

    AS_CODE = "as-code"
    MISSING = "missing"


class MeasuredStage(StrEnum):
    """Labels before or after discussion."""

    INDEPENDENT = "independent"
    NEGOTIATED = "negotiated"


@dataclass(frozen=True)
class Choice:
    """How agreement is measured."""

    rounds: tuple[str, ...] = ()  # none: all
    stage: Stage = "independent"
    version: str | None = None  # of the taxonomy
    statistic: str | None = None  # instead of the fixed one
    raters: tuple[str, ...] = ()  # none: all
    first: int | None = None  # so many raters of each item
    special: Special = Special.AS_CODE
    scale: str = SCALES[0]
    resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        for what, value, known in (
            ("statistic", self.statistic, KEYS),
            ("scale", self.scale, SCALES),
        ):
            if value is not None and value not in known:
                raise StudyError(f"there is no {what} {value!r}", f"Known: {', '.join(known)}.")

    @property
    def labels(self) -> dict[str, Any]:
        """What decides which labels are measured, and by what: other values, another result."""
        return _given(
            stage="" if self.stage == "independent" else self.stage,
            version=self.version,
            statistic=self.statistic,
            rater=sorted(self.raters),
            first=self.first,
            special="" if self.special is Special.AS_CODE else self.special.value,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """All of it, as it is stored with the result."""
        return {
            **_given(round=list(self.rounds)),
            **self.labels,
            "scale": self.scale,
            "resamples": self.resamples,
            "seed": self.seed,
        }

    @property
    def result_name(self) -> str:
        """`agreement` for all rounds, `agreement-pilot` for one, `agreement-pilot-first-2`, ..."""
        words = [ANALYSIS, *self.rounds]
        for key, value in self.labels.items():
            words += [key, *map(str, value if isinstance(value, list) else [value])]
        plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", word).strip("-") for word in words]
        name = "-".join(filter(None, plain))
        if plain == words and len(name) <= _LONGEST_NAME:
            return name
        # Two rounds whose names differ in what no file name can have are still two.
        digest = hashlib.sha256("\0".join(words).encode()).hexdigest()[:8]
        return f"{name[:_LONGEST_NAME]}-{digest}"

    @property
    def called(self) -> str:
        """The start of a claim's query: the analysis with what it was called with."""
        words = {**_given(round=list(self.rounds)), **self.labels}
        inside = ", ".join(f"{key}={_argument(value)}" for key, value in words.items())
        return f"{ANALYSIS}({inside})"


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}


def _argument(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)

"""What a user may choose about the measuring of agreement, and what that makes of names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.result_names import result_name
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import SCALES, STATISTICS

if TYPE_CHECKING:
    from faultatlas.annotation.labels import Stage

ANALYSIS = "agreement"

# Krippendorff's alpha with a distance between codes or sets of codes.
TREE, JACCARD, MASI = "krippendorff-tree", "krippendorff-jaccard", "krippendorff-masi"
WHOLE = "krippendorff-whole"  # of sets of codes that are alike or not
KEYS = (*STATISTICS, TREE, JACCARD, MASI, WHOLE)

_PARTING = re.compile(r"[%.~/\s\x00-\x1f]")


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

    def chosen_of(self, version: str) -> tuple[str, ...]:
        """The options that choose among the labels of a round with this version, as typed."""
        own = self.version if self.version != version else None
        return (
            *(f"--rater {typed(rater)}" for rater in self.raters),
            *([f"--first {self.first}"] if self.first is not None else []),
            *([f"--special {self.special}"] if self.special is not Special.AS_CODE else []),
            *([f"--version {own}"] if own else []),
        )

    @property
    def told(self) -> str:
        """What a sentence about the labels must say of them; nothing if all are measured."""
        parts = (
            f"only {', '.join(self.raters)}" if self.raters else "",
            f"the first {self.first} raters of each item" if self.first is not None else "",
            "answers that are no code left out" if self.special is Special.MISSING else "",
            f"in version {self.version}" if self.version else "",
        )
        return "; ".join(filter(None, parts))

    @property
    def result_name(self) -> str:
        """The name of the result: of its folder, and what its claims begin with."""
        return result_name(ANALYSIS, self.rounds, self.labels)


def variant(key: str, *, is_multiple: bool) -> str:
    """The statistic that a name means: alpha of sets of codes is that with the MASI distance."""
    return MASI if is_multiple and key == "krippendorff" else key


def escaped(word: str) -> str:
    """A word without what parts the words of a claim's id and of its query: a dot is `%2E`."""
    return _PARTING.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), word)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}

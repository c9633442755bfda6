"""Our shares beside those that the survey printed, with a status by a stated rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from faultatlas.analysis.coverage.gap import StatusShares
from faultatlas.data import evidence
from faultatlas.data.evidence import Reading
from faultatlas.data.old.results import ClaimStatus
from faultatlas.report import published

NEAR = published.NEAR["percent"]  # percentage points

RULE = (
    "reproduced: our share, rounded or cut to the printed digits, is the printed one; near: our "
    f"share, or that of another reading of the public data, is within {NEAR:.0f} percentage point; "
    "not reproduced: no reading is. A reading that was found by looking for the printed figure "
    "(post hoc) does not count."
)


@dataclass(frozen=True)
class Printed:
    """A share that the survey printed."""

    key: str
    statement: str
    ours_counts: str  # what our share counts, where the survey's words leave it open
    printed: float
    digits: int
    whole: str  # the key of our shares
    status: str  # of the faults it counts
    share_of: str  # the group of readings
    figure_id: str  # of the shipped published figures


@dataclass(frozen=True)
class Comparison:
    """A printed share beside ours."""

    printed: Printed
    ours: float
    difference: float
    status: ClaimStatus
    reason: str
    nearest_reading: str = ""
    nearest_percent: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "key": self.printed.key,
            "statement": self.printed.statement,
            "ours_counts": self.printed.ours_counts,
            "printed": self.printed.printed,
            "ours": self.ours,
            "difference": self.difference,
            "status": self.status,
            "reason": self.reason,
            "nearest_reading": self.nearest_reading,
            "nearest_reading_percent": self.nearest_percent,
            "published_figure": self.printed.figure_id,
        }


PRINTED = (
    Printed(
        "faults-targeted", "Faults that research targets", "leaves and new faults",
        48, 0, "faults", "targeted", "faults", "K051",
    ),
    Printed(
        "faults-untargeted", "Faults that nobody targets", "leaves and new faults",
        46.9, 1, "faults", "untargeted", "faults", "K051",
    ),
    # The survey says GitHub issues; the public data it used has Stack Overflow posts as well.
    Printed(
        "github-untargeted", "Occurrences of faults that nobody targets",
        "GitHub and Stack Overflow",
        52.6, 1, "artifacts", "untargeted", "occurrences", "K052",
    ),
    Printed(
        "interviews-untargeted", "Interview mentions of faults that nobody targets",
        "accepted mentions",
        70.3, 1, "interviews", "untargeted", "interviews", "K053",
    ),
)  # fmt: skip


def compare(gap: Iterable[StatusShares], *, with_readings: bool) -> tuple[Comparison, ...]:
    """Every printed share beside ours.

    The readings are other ways to count the survey's own statuses. Statuses that were obtained
    otherwise, without readings, are no attempt to reproduce the printed share: they get the
    difference, but no status.
    """
    shares = {whole.key: whole for whole in gap}
    nearest = _nearest_readings() if with_readings else {}
    return tuple(
        _comparison(printed, shares[printed.whole], nearest.get(printed.share_of))
        for printed in PRINTED
    )


def _comparison(printed: Printed, whole: StatusShares, reading: Reading | None) -> Comparison:
    ours = whole.shares[printed.status].percent or 0.0
    difference = ours - printed.printed
    other = None if reading is None else _percent(reading, printed.status)
    text = f"{printed.printed:.{printed.digits}f}"
    judged = published.compare(ours, published.parse(text), "percent")
    status: ClaimStatus
    if reading is None or other is None:
        status, reason = "", "other evidence than the survey's: for comparison only"
    elif judged.status == "reproduced":
        status, reason = judged.status, judged.reason
    elif judged.status == "near":
        status, reason = "near", f"within {NEAR:.0f} percentage point"
    elif abs(other - printed.printed) <= NEAR:
        status = "near"
        reason = f"{other:.1f} % under another reading: {reading.reading}"
    else:
        status = "not reproduced"
        reason = f"the nearest reading gives {other:.1f} %: {reading.reading}"
    return Comparison(
        printed,
        ours,
        difference,
        status,
        reason,
        "" if reading is None else reading.reading,
        other,
    )


def _nearest_readings() -> Mapping[str, Reading]:
    """For each group the reading that comes nearest to all of its printed shares together."""
    found = {}
    for share_of in {printed.share_of for printed in PRINTED}:
        wanted = [printed for printed in PRINTED if printed.share_of == share_of]
        candidates = [
            reading
            for reading in evidence.readings()
            if reading.share_of == share_of and not reading.post_hoc
        ]

        def distance(reading: Reading, wanted: list[Printed] = wanted) -> float:
            return sum(abs(_percent(reading, each.status) - each.printed) for each in wanted)

        found[share_of] = min(candidates, key=distance)
    return found


def _percent(reading: Reading, status: str) -> float:
    count = {"targeted": reading.targeted, "untargeted": reading.untargeted}[status]
    return 100 * count / reading.denominator

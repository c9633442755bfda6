"""Shares of faults and of their occurrences by status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from faultatlas.analysis.coverage.faults import STATUSES, Fault
from faultatlas.analysis.statistics.shares import Share, wilson_share


@dataclass(frozen=True)
class StatusShares:
    """How a whole splits into statuses. Statuses that do not occur are there with count 0."""

    key: str
    label: str
    total: int
    shares: dict[str, Share]


# What is counted: key, how a reader is told, how much one fault weighs.
_WHOLES: tuple[tuple[str, str, Callable[[Fault], int]], ...] = (
    ("faults", "Faults", lambda _fault: 1),
    ("artifacts", "GitHub and Stack Overflow artifacts", lambda fault: fault.artifacts),
    ("github", "GitHub artifacts", lambda fault: fault.github),
    ("stackoverflow", "Stack Overflow artifacts", lambda fault: fault.stackoverflow),
    ("interviews", "Interview mentions", lambda fault: fault.interviews),
)


def shares_by_status(
    key: str, label: str, counted: Iterable[tuple[str, int]], statuses: Sequence[str] = STATUSES
) -> StatusShares:
    """Shares of (status, weight) pairs."""
    counts = dict.fromkeys(statuses, 0)
    for status, weight in counted:
        counts[status] += weight
    total = sum(counts.values())
    return StatusShares(
        key, label, total, {status: wilson_share(count, total) for status, count in counts.items()}
    )


def gap(faults: Sequence[Fault]) -> tuple[StatusShares, ...]:
    """The coverage gap: of faults, of artifacts (together and by source), of interview mentions."""
    return tuple(
        shares_by_status(key, label, ((fault.status, weight(fault)) for fault in faults))
        for key, label, weight in _WHOLES
    )


def label_shares(faults: Sequence[Fault], own: Mapping[str, int]) -> tuple[StatusShares, ...]:
    """A study's labels (by fault) by the status of the fault they mean; none if it has none."""
    if not any(own.values()):
        return ()
    counted = ((fault.status, own.get(fault.code, 0)) for fault in faults)
    return (shares_by_status("labels", "This study's labels", counted),)


def most_frequent_untargeted(faults: Sequence[Fault], how_many: int = 10) -> tuple[Fault, ...]:
    """The faults that nobody targets, by occurrences in artifacts and interviews together.

    Equal counts are ordered by artifacts, then by code, so that the list is always the same.
    """
    untargeted = (fault for fault in faults if fault.status == "untargeted" and fault.mentions)
    ranked = sorted(untargeted, key=lambda fault: (-fault.mentions, -fault.artifacts, fault.code))
    return tuple(ranked[:how_many])

"""Which untargeted faults come first: by how often each source meets them, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from faultatlas.analysis.coverage import SEED
from faultatlas.analysis.coverage.catalogue import CODE, FAULT, Entry
from faultatlas.analysis.statistics.shares import Share, wilson_share
from faultatlas.data.old.results import Cell, Column, Table

DRAWS = 2_000
METHOD = (
    f"Rank intervals: 95 % of {DRAWS:,} seeded bootstrap samples, in which the occurrences of each "
    "source are drawn again with replacement. They take occurrences for independent draws and are "
    "too narrow where these gather."
)


@dataclass(frozen=True)
class Place:
    """A fault among the untargeted ones, in one source."""

    share: Share  # of all occurrences of the source
    rank: int  # 1 is the most frequent; equal counts share the better rank
    tied: bool
    low: int
    high: int

    @property
    def told(self) -> str:
        """`2 (1 to 4)`; an equals sign where others have the same rank."""
        return f"{self.rank}{'=' if self.tied else ''} ({self.low} to {self.high})"


@dataclass(frozen=True)
class Source:
    """Where occurrences are counted, and how many there are."""

    key: str
    title: str
    count: Callable[[Entry], int]
    total: int


@dataclass(frozen=True)
class Priority:
    """An untargeted fault with its place in each source that meets it."""

    entry: Entry
    places: dict[str, Place]


def sources(entries: Sequence[Entry], label_total: int) -> tuple[Source, ...]:
    """Artifacts, interviews, and the study's labels where it has some."""
    found = [
        Source("artifacts", "Artifacts", lambda each: each.artifacts, 0),
        Source("interviews", "Interviews", lambda each: each.interviews, 0),
    ]
    found = [
        Source(each.key, each.title, each.count, sum(map(each.count, entries))) for each in found
    ]
    if label_total:
        found.append(Source("labels", "This study", lambda each: each.labels, label_total))
    return tuple(found)


def priorities(
    entries: Sequence[Entry], untargeted: Iterable[str], where: Sequence[Source], seed: int = SEED
) -> tuple[Priority, ...]:
    """Every untargeted fault that a source meets, the most frequent over all sources first."""
    wanted = set(untargeted)
    met = [each for each in entries if each.code in wanted and any(s.count(each) for s in where)]
    places: dict[str, dict[str, Place]] = {each.code: {} for each in met}
    for at, source in enumerate(where):
        counts = {each.code: source.count(each) for each in met if source.count(each)}
        ends = _rank_intervals(list(counts.values()), source.total, (seed, at))
        for (code, count), (low, high) in zip(counts.items(), ends, strict=True):
            places[code][source.key] = Place(
                wilson_share(count, source.total),
                1 + sum(other > count for other in counts.values()),
                sum(other == count for other in counts.values()) > 1,
                low,
                high,
            )
    found = [Priority(each, places[each.code]) for each in met]
    return tuple(sorted(found, key=lambda each: (-_all(each.entry, where), each.entry.code)))


def priority_table(ranked: Sequence[Priority], where: Sequence[Source]) -> Table:
    """A row a fault: in each source its count, its share of all occurrences there, its rank."""
    columns = [CODE, FAULT]
    for source in where:
        columns += [
            Column(source.key, source.title, "count"),
            Column(f"{source.key}_percent", "Share", "percent"),
            Column(f"{source.key}_low", "95 % from", "percent", aside=True),
            Column(f"{source.key}_high", "to", "percent", aside=True),
            Column(f"{source.key}_rank", "Rank (95 %)", "interval"),
        ]
    rows: list[tuple[Cell, ...]] = []
    for each in ranked:
        cells: list[Cell] = [each.entry.code, each.entry.name]
        for source in where:
            place = each.places.get(source.key)
            share = place.share if place else wilson_share(0, source.total)
            rank = place.told if place else None
            cells += [share.count, share.percent, share.low, share.high, rank]
        rows.append(tuple(cells))
    return Table(
        "priority",
        "Untargeted faults by how often each source meets them",
        tuple(columns),
        tuple(rows),
        note=(
            "Ranks are among the untargeted faults that the source meets; = marks a tie. Shares "
            "are of all occurrences of the source, with Wilson score intervals. " + METHOD
        ),
        folded=True,
    )


def _all(entry: Entry, where: Sequence[Source]) -> int:
    return sum(source.count(entry) for source in where)


def _rank_intervals(
    counts: Sequence[int], total: int, seed: tuple[int, int]
) -> list[tuple[int, int]]:
    """Where the rank of each count lies in 95 % of bootstrap samples."""
    import numpy as np

    if not counts:
        return []
    chances = [count / total for count in counts]
    drawn = np.random.default_rng(seed).multinomial(
        total, [*chances, max(0.0, 1 - sum(chances))], size=DRAWS
    )[:, : len(counts)]
    # The rank of one is one more than how many of the others were drawn more often.
    ranks = 1 + (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2)
    low, high = np.quantile(ranks, (0.025, 0.975), axis=0, method="closest_observation")
    return [(int(a), int(b)) for a, b in zip(low, high, strict=True)]

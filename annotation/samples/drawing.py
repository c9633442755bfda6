"""What a draw takes out of a frame. The same frame, definition and draws before give the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from faultatlas.annotation.samples.definition import Definition, Sizing
from faultatlas.annotation.samples.frame import Frame, Member
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import allocated, draw_key, spread

_SHARED = {
    "proportional": "in proportion to their sizes",
    "equal": "equally",
    "optimal": "in proportion to their sizes times the standard deviations of {by}",
}
Pools = dict[str, list[tuple[bytes, Member]]]  # with what they are ordered by


@dataclass(frozen=True, slots=True)
class Drawn:
    """An artifact of a sample."""

    artifact_id: str
    stratum: str
    position: int
    draw: int


@dataclass(frozen=True)
class Drawing:
    """What a draw adds to a sample, and how its size came about."""

    new: tuple[Drawn, ...]
    size: int  # of the sample afterwards
    rule: str


def draw(
    frame: Frame, definition: Definition, sizing: Sizing, before: Sequence[Drawn] = ()
) -> Drawing:
    """The next draw: what was drawn stays where it is, and new positions follow.

    Of each stratum the first that are not drawn yet are taken, in the order of the draw. Strata
    alternate evenly in the sample, so that any beginning of it is shared out like the whole.
    """
    pools = pools_of(frame, definition, before)
    had = Counter(each.stratum for each in before)
    sizes, rule = _sizes(frame, definition, sizing, had, pools)
    taken: list[tuple[Fraction, bytes, Member]] = []
    for stratum, pool in pools.items():
        wanted = max(0, sizes.get(stratum, 0) - had[stratum])
        taken += [
            (Fraction(2 * at + 1, 2 * wanted), key, member)
            for at, (key, member) in enumerate(pool[:wanted])
        ]
    taken.sort(key=lambda each: each[:2])
    number = 1 + max((each.draw for each in before), default=0)
    last = max((each.position for each in before), default=0)  # what was forgotten leaves gaps
    new = tuple(
        Drawn(member.artifact_id, member.stratum, position, number)
        for position, (_turn, _key, member) in enumerate(taken, last + 1)
    )
    return Drawing(new, len(before) + len(new), rule)


def pools_of(frame: Frame, definition: Definition, before: Sequence[Drawn]) -> Pools:
    """What is not drawn yet, by stratum, in the order of the draw."""
    there = {each.artifact_id for each in before}
    pools: Pools = {name: [] for name in frame.strata}
    for member in frame.members:
        if member.artifact_id not in there:
            key = draw_key(definition.seed, member.stratum, member.artifact_id)
            pools[member.stratum].append((key, member))
    for pool in pools.values():
        if definition.method == "highest":
            pool.sort(key=lambda pair: (_highest_first(pair[1]), pair[0]))
        else:
            pool.sort(key=lambda pair: pair[0])
    return pools


def _highest_first(member: Member) -> tuple[bool, float]:
    return (member.value is None, -(member.value or 0.0))


def _sizes(
    frame: Frame,
    definition: Definition,
    sizing: Sizing,
    had: Counter[str],
    pools: Pools,
) -> tuple[dict[str, int], str]:
    """How many of each stratum the sample has afterwards, and the rule in a sentence."""
    names = sorted({*frame.strata, *had})
    available = {name: had[name] + len(pools.get(name, ())) for name in names}
    if definition.allocation == "each":
        sizes = {
            name: max(had[name], min(available[name], sizing.of(frame.strata.get(name, 0))))
            for name in names
        }
        each = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        return sizes, f"of each stratum a sample of its own, {sizing.formula()}: {each}"
    total, rule = sizing.of(len(frame.members)), sizing.words(len(frame.members))
    everything = sum(available.values())
    if total > everything:
        rule += f"; there are only {everything:,}, and all are in it"
    total = max(min(total, everything), sum(had.values()))
    weights = _weights(frame, definition, names)
    least = {name: had[name] for name in names}
    sizes = allocated(total, weights, least, available, one_of_each=bool(definition.strata))
    if definition.strata:
        how = _SHARED[definition.allocation].format(by=definition.ordered_by)
        rule += (
            f"; shared out among {len(names):,} strata {how}, one of each first, then "
            "by Webster's method (Sainte-Lague)"
        )
    return sizes, rule


def _weights(
    frame: Frame, definition: Definition, names: Sequence[str]
) -> dict[str, float | Fraction]:
    counts = {name: frame.strata.get(name, 0) for name in names}
    if definition.allocation == "equal":
        return {name: float(count > 0) for name, count in counts.items()}
    if definition.allocation != "optimal":
        return {name: Fraction(count) for name, count in counts.items()}
    values: dict[str, list[float]] = {name: [] for name in names}
    for member in frame.members:
        if member.value is not None:
            values[member.stratum].append(member.value)
    found = {name: counts[name] * Fraction(spread(values[name])) for name in names}
    if not any(found.values()):
        raise StudyError(
            f"{definition.ordered_by} does not vary inside any stratum",
            "Take another --spread, or --allocation proportional.",
        )
    return dict(found)

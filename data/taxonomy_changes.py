"""What becomes of codes when a taxonomy changes, forwards and backwards.

A label is a code of one version. In another version it can be several codes, of which one
or more may be meant: its alternatives. One alternative is a decision; several, or any code
at all, are not, and somebody has to look again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from faultatlas.data.taxonomy import Revision, Taxonomy

KINDS = ("rename", "move", "merge", "split", "retire", "add")
ENDED = ""  # the alternative that a label has no counterpart and ends

# The codes that a label may be; None where it may be any.
Alternatives = frozenset[str] | None


@dataclass(frozen=True)
class Step:
    """Two versions of a taxonomy, and how the one became the other."""

    old: Taxonomy
    new: Taxonomy
    revision: Revision

    @cached_property
    def forward(self) -> Mapping[str, Alternatives]:
        """For each code of the old version what it may be in the new one."""
        declared = fates(self.revision)
        return {
            node.code: declared[node.code]
            if node.code in declared
            else frozenset((node.code,))
            if node.code in self.new
            else None
            for node in self.old.nodes
        }

    @cached_property
    def backward(self) -> Mapping[str, Alternatives]:
        """For each code of the new version what it may have been in the old one."""
        chosen = {node.code for node in self.old.selectable}
        origins: dict[str, set[str]] = {node.code: set() for node in self.new.nodes}
        for code, alternatives in self.forward.items():
            # A category that nobody could choose is no origin of a label, unless it still is one.
            for each in alternatives or ():
                if each in origins and (code in chosen or code == each):
                    origins[each].add(code)
        return {code: self._origin(found, chosen) for code, found in origins.items()}

    @staticmethod
    def _origin(found: set[str], chosen: set[str]) -> Alternatives:
        return frozenset(found & chosen or found) or None


def fates(revision: Revision) -> dict[str, Alternatives]:
    """What the changes say of the old codes that they name."""
    said: dict[str, Alternatives] = {}
    for change in revision.changes:
        if change.kind not in {"move", "add"}:
            said.update(dict.fromkeys(change.old, frozenset(change.new) or None))
    return said


def followed(code: str, ways: Iterable[Mapping[str, Alternatives]]) -> Alternatives:
    """What a code may be after several steps.

    A code that was split is decided again where all its parts were merged later.
    """
    alternatives: Alternatives = frozenset((code,))
    for way in ways:
        if alternatives is None:
            return None
        led: set[str] = set()
        for each in alternatives:
            stays = each == ENDED or each.startswith("~")
            next_ones = frozenset((each,)) if stays else way.get(each)
            if next_ones is None:
                return None
            led |= next_ones
        alternatives = frozenset(led)
    return alternatives


def decided(alternatives: Alternatives) -> frozenset[str] | None:
    """The one code that it is, none where the label ends, None where it is not decided."""
    if alternatives is None or len(alternatives) != 1:
        return None
    return alternatives - {ENDED}


def way_between(steps: Sequence[Step], start: str, end: str) -> list[tuple[Step, bool]] | None:
    """The shortest way between versions: steps, each forwards or not; None if none leads there."""
    ways: dict[str, list[tuple[Step, bool]]] = {start: []}
    waiting = [start]
    for version in waiting:  # grows while it is walked over: breadth first
        for step in steps:
            for here, there, forwards in (
                (step.revision.from_version, step.revision.to_version, True),
                (step.revision.to_version, step.revision.from_version, False),
            ):
                if here == version and there not in ways:
                    ways[there] = [*ways[here], (step, forwards)]
                    waiting.append(there)
    return ways.get(end)


def contradictions(steps: Sequence[Step], start: str, end: str) -> Iterator[tuple[Step, str]]:
    """Where two ways forwards between versions make different codes of the same one.

    One of them may say more than the other, but not something else.
    """
    if not any(step.revision.from_version == start for step in steps):
        return
    first = next(step.old for step in steps if step.revision.from_version == start)
    reached: dict[str, dict[str, Alternatives]] = {
        start: {node.code: frozenset((node.code,)) for node in first.selectable}
    }
    inside = [step for step in steps if version_key(step.revision.to_version) <= version_key(end)]
    # Versions in their order; of those that lead to one, the nearest to the start comes first.
    for step in sorted(
        inside,
        key=lambda each: (
            version_key(each.revision.to_version),
            version_key(each.revision.from_version),
        ),
    ):
        here, there = step.revision.from_version, step.revision.to_version
        if here not in reached:
            continue
        led = {code: _further(each, step.forward) for code, each in reached[here].items()}
        for code, before in reached.setdefault(there, led).items():
            if _contradict(before, led[code]):
                told = f"{code} of {start} is {_listed(led[code])} in {there} by way of {here}"
                yield step, f"{told}, but {_listed(before)} by another block of changes"


def _further(alternatives: Alternatives, way: Mapping[str, Alternatives]) -> Alternatives:
    if alternatives is None:
        return None
    led = [followed(each, [way]) for each in alternatives]
    known = [each for each in led if each is not None]
    return frozenset().union(*known) if len(known) == len(led) else None


def _contradict(one: Alternatives, other: Alternatives) -> bool:
    return one is not None and other is not None and not (one <= other or other <= one)


def _listed(alternatives: Alternatives) -> str:
    return " or ".join(sorted(each or "ended" for each in alternatives or ()))


def version_key(version: str) -> tuple[int, ...]:
    """What versions are ordered by: 10.0.0 comes after 9.0.0."""
    return tuple(int(part) for part in version.split("."))

"""Measures the agreement of rounds: of each, of those of one taxonomy together, over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.cautions import (
    DEFAULT,
    Caution,
    Fixed,
    cautions_for,
    common,
    fixed_for,
)
from faultatlas.annotation.agreement.choices import variant
from faultatlas.annotation.agreement.measuring import Agreement, Measured, Measuring, refuse_unfit
from faultatlas.annotation.agreement.printed import Comparison, Printed, compare
from faultatlas.annotation.agreement.sources import Rated, has_negotiated, read_round, together
from faultatlas.annotation.rounds import find_round, round_names
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.annotation.agreement.choices import Choice
    from faultatlas.annotation.labels import Stage
    from faultatlas.data.study import Reader

_TWO = 2


@dataclass(frozen=True)
class Entry:
    """A round, or several together, measured."""

    name: str
    path: tuple[str, str]  # in the document: ("rounds", the round), ("together", the taxonomy)
    found: Agreement
    fixed: Fixed
    cautions: tuple[Caution, ...]
    compared: tuple[tuple[Measured, Comparison], ...] = ()  # with what was printed


@dataclass(frozen=True)
class Point:
    """The value of a round in a trend."""

    round: str
    stage: Stage
    measured: Measured
    items: int
    threshold: float | None


@dataclass(frozen=True)
class Trend:
    """Rounds of one taxonomy in their order, by one statistic, before and after discussion."""

    taxonomy: str
    title: str  # of the statistic
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Overview:
    """All that was asked for."""

    choice: Choice
    entries: tuple[Entry, ...]
    pools: tuple[Entry, ...]
    trends: tuple[Trend, ...]
    left_out: tuple[str, ...]  # rounds without an item that two raters labelled


def survey(
    reader: Reader, directory: Path, choice: Choice, printed: tuple[Printed, ...] = ()
) -> Overview:
    """Measure the chosen rounds; of all rounds, those without two ratings of an item are left."""
    return _Survey(reader, directory, choice, printed).overview()


class _Survey:
    def __init__(
        self, reader: Reader, directory: Path, choice: Choice, printed: tuple[Printed, ...]
    ) -> None:
        self._reader = reader
        self._directory = directory
        self._choice = choice
        self._printed = printed
        self._settings = read_settings(directory)
        self._measuring = Measuring(choice)

    def overview(self) -> Overview:
        rated, left_out = self._read()
        _refuse_strays(self._printed, [each.name for each in rated])
        entries = tuple(self._entry(each) for each in rated)
        return Overview(self._choice, entries, self._pools(rated), self._trends(entries), left_out)

    def _read(self) -> tuple[list[Rated], tuple[str, ...]]:
        """The ratings of the rounds, and the rounds that have none to compare."""
        choice = self._choice
        names = list(dict.fromkeys(choice.rounds)) or round_names(self._reader)
        rated: list[Rated] = []
        left_out: list[str] = []
        for name in names:
            of = find_round(self._reader, name)
            found = read_round(self._reader, self._directory, of, choice)
            undiscussed = choice.stage == "negotiated" and not has_negotiated(self._reader, name)
            if found.ratings.overlapping and not undiscussed:
                rated.append(found)
            elif choice.rounds:
                raise _undiscussed(name) if undiscussed else _nothing(found)
            else:
                left_out.append(name)
        if not rated:
            raise StudyError(
                "no round has an item that two raters labelled"
                + (" again after discussion" if choice.stage == "negotiated" else ""),
                f"Rounds: {', '.join(names)}. Labels come by: annotation pull, annotation import"
                if names
                else "Make a round: annotation round, or annotation import",
            )
        return rated, tuple(left_out)

    def _entry(self, rated: Rated) -> Entry:
        [of] = rated.rounds
        fixed = fixed_for(rated.rounds, self._choice, self._settings)
        found = self._measuring.agreement(rated, fixed.key)
        compared = []
        for each in self._printed:
            if each.round in (None, of.name):
                ours = self._measured(found, each.statistic or found.main.key)
                compared.append((ours, compare(each, ours, found.measures)))
        cautions = cautions_for(found, fixed)
        return Entry(of.name, ("rounds", of.name), found, fixed, cautions, tuple(compared))

    def _measured(self, found: Agreement, key: str) -> Measured:
        """A statistic of what was measured: if it is not among those, it is added now."""
        refuse_unfit(key, found.rated)
        key = variant(key, is_multiple=found.rated.is_multiple)
        for measured in found.measures:
            if measured.key == key:
                return measured
        return self._measuring.measured(found.coding, key)

    def _pools(self, rated: list[Rated]) -> tuple[Entry, ...]:
        """The rounds that use one version of one taxonomy, as if they were one."""
        groups: dict[tuple[str, str, bool], list[Rated]] = {}
        for each in rated:
            key = (each.taxonomy.name, each.taxonomy.version, each.is_multiple)
            groups.setdefault(key, []).append(each)
        several = {key: parts for key, parts in groups.items() if len(parts) >= _TWO}
        names = _names(several)
        pools = []
        for key, parts in several.items():
            rounds = [of for each in parts for of in each.rounds]
            fixed = fixed_for(rounds, self._choice, self._settings)
            found = self._measuring.agreement(together(self._reader, parts), fixed.key)
            name = names[key]
            title = "together" if len(several) == 1 else f"together ({name})"
            cautions = cautions_for(found, fixed)
            pools.append(Entry(title, ("together", name), found, fixed, cautions))
        return tuple(pools)

    def _trends(self, entries: tuple[Entry, ...]) -> tuple[Trend, ...]:
        groups: dict[tuple[str, bool], list[Entry]] = {}
        for entry in entries:
            rated = entry.found.rated
            groups.setdefault((rated.taxonomy.name, rated.is_multiple), []).append(entry)
        names = [taxonomy for taxonomy, _is_multiple in groups]
        trends = []
        for (name, is_multiple), group in groups.items():
            taxonomy = name if names.count(name) == 1 else f"{name} {_choice(is_multiple)}"
            key = common(entry.found.main.key for entry in group)
            key = key or variant(DEFAULT, is_multiple=is_multiple)
            points = tuple(point for entry in group for point in self._points(entry, key))
            if len(points) >= _TWO:
                trends.append(Trend(taxonomy, points[0].measured.title, points))
        return tuple(trends)

    def _points(self, entry: Entry, key: str) -> Iterator[Point]:
        """The values of a round before and, if there was one, after discussion."""
        stages: list[Stage] = ["independent"]
        if has_negotiated(self._reader, entry.name):
            stages.append("negotiated")
        found = entry.found
        for stage in stages:
            if stage == found.rated.stage:
                measured = self._measured(found, key)
            else:
                of = found.rated.rounds[0]
                rated = read_round(self._reader, self._directory, of, self._choice, stage=stage)
                measured = self._measuring.measured(self._measuring.code(rated), key)
            items = measured.estimate.items
            yield Point(entry.name, stage, measured, items, entry.fixed.threshold)


def _names(keys: Iterable[tuple[str, str, bool]]) -> dict[tuple[str, str, bool], str]:
    """What pools are called: by taxonomy, and by as much more as tells them apart."""
    known = list(keys)
    names = {}
    for key in known:
        taxonomy, version, is_multiple = key
        same = [each for each in known if each[0] == taxonomy]
        words = [taxonomy]
        if len({each[1] for each in same}) > 1:
            words.append(version)
        if sum(each[1] == version for each in same) > 1:
            words.append(_choice(is_multiple))
        names[key] = " ".join(words)
    return names


def _choice(is_multiple: bool) -> str:  # noqa: FBT001  (a word for it)
    return "multiple" if is_multiple else "single"


def _refuse_strays(printed: tuple[Printed, ...], names: list[str]) -> None:
    for each in printed:
        if each.round is not None and each.round not in names:
            raise StudyError(
                f"--printed names round {each.round!r}, which is not measured",
                f"Measured: {', '.join(names)}.",
            )
        if each.round is None and len(names) > 1:
            raise StudyError(
                f"--printed {each.text} does not say of which round",
                f"Write --printed {typed(f'{names[0]}:{each.text}')}, or name one round.",
            )


def _undiscussed(name: str) -> StudyError:
    return StudyError(
        f"round {name!r} has no labels after discussion",
        f"Measure those before it: annotation agreement {typed(name)}",
    )


def _nothing(rated: Rated) -> StudyError:
    given = len(rated.ratings.given)
    return StudyError(
        f"round {rated.name!r} has no item that two raters labelled"
        + (f" ({given:,} labels by {len(rated.ratings.raters)} raters)" if given else ""),
        "Labels come by annotation pull or annotation import; agreement needs two raters.",
    )

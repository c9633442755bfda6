"""Measures the agreement of a round: every statistic, and the parts that it is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.choices import (
    JACCARD,
    MASI,
    TREE,
    WHOLE,
    Choice,
    escaped,
    variant,
)
from faultatlas.annotation.agreement.codings import Coding, code_ratings, depth_of
from faultatlas.annotation.agreement.confusing import Confusion, confusions
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.analysis.statistics.agreement.ratings import AgreementEstimate
    from faultatlas.annotation.agreement.sources import Rated

# In this order they are shown, behind the fixed one.
_SINGLE = ("krippendorff", TREE, "fleiss", "pairwise", "cohen", "gwet", "percent")
_MULTIPLE = (MASI, JACCARD, WHOLE, "fleiss", "pairwise", "cohen", "gwet", "percent")
_BEHIND = {
    TREE: ", tree distance",
    JACCARD: ", Jaccard distance of sets",
    MASI: ", MASI distance of sets",
    WHOLE: ", whole sets",
}
_TWO = 2


@dataclass(frozen=True)
class Measured:
    """A statistic of something: of a round, a pair, a category, a stratum, a level."""

    key: str  # of the statistic, with its distance
    title: str
    estimate: AgreementEstimate


@dataclass(frozen=True)
class Part:
    """Agreement of a part: what it is, how much there is of it, what was measured."""

    key: str  # such as a code, or two raters
    label: str
    measured: Measured
    percent: float | None = None  # raters who agree, of a hundred
    count: int | None = None  # ratings with this code; codes of this level


@dataclass(frozen=True)
class Counts:
    """What there was to measure."""

    items: int
    compared: int  # with two ratings or more
    single: int  # with one
    none: int
    raters: int
    ratings: int
    undecided: int  # given in a version that does not say what they are in this one


@dataclass(frozen=True)
class Agreement:
    """All that was measured of a round, or of several together; the main statistic first."""

    rated: Rated
    coding: Coding
    counts: Counts
    measures: tuple[Measured, ...]
    categories: tuple[Part, ...]
    pairs: tuple[Part, ...]
    strata: tuple[Part, ...]
    levels: tuple[Part, ...]
    confused: tuple[Confusion, ...]

    @property
    def main(self) -> Measured:
        """The statistic that was fixed or asked for."""
        return self.measures[0]


class Measuring:
    """Measures with the same resamples and seed."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def agreement(self, rated: Rated, main: str) -> Agreement:
        """Everything; `main` is the statistic that parts are measured with."""
        refuse_unfit(main, rated)
        coding = self.code(rated)
        main = variant(main, is_multiple=rated.is_multiple)
        return Agreement(
            rated,
            coding,
            counts_of(rated, coding),
            self._measures(coding, main),
            self._categories(rated, coding),
            self._pairs(coding),
            self._strata(rated, main),
            self._levels(rated, coding, main),
            confusions(coding),
        )

    def code(self, rated: Rated, level: int | None = None) -> Coding:
        """The ratings as numbers."""
        return code_ratings(
            rated.ratings,
            rated.taxonomy,
            is_multiple=rated.is_multiple,
            special=self._choice.special,
            level=level,
        )

    def measured(self, coding: Coding, key: str) -> Measured:
        """One statistic."""
        from faultatlas.analysis.statistics.agreement import measure

        estimate = measure(
            coding.coded,
            statistic_of(key),
            distances=coding.distances(key),
            resamples=self._choice.resamples,
            seed=self._choice.seed,
        )
        return Measured(key, title_of(key), estimate)

    def _measures(self, coding: Coding, main: str) -> tuple[Measured, ...]:
        keys = [main, *(_MULTIPLE if coding.is_multiple else _SINGLE)]
        wanted = [
            key
            for key in dict.fromkeys(keys)
            if key == main
            or not (
                (key == TREE and not coding.has_tree)
                or (key == "cohen" and len(coding.raters) != _TWO)
                or (key == "pairwise" and len(coding.raters) <= _TWO)
            )
        ]
        return tuple(self.measured(coding, key) for key in wanted)

    def _categories(self, rated: Rated, coding: Coding) -> tuple[Part, ...]:
        """For each code: this one or another. Fleiss' kappa of the category.

        Only of items with two ratings: those with one would change how frequent a code is by
        chance, and a code on which nobody agreed would look agreed upon.
        """
        from faultatlas.analysis.statistics.agreement import measure_categories

        coding = coding.compared
        given = _given(coding)
        if coding.is_multiple:
            parts = {code: self.measured(coding.only(code), "fleiss") for code in given}
        else:
            found = measure_categories(
                coding.coded, "fleiss", resamples=self._choice.resamples, seed=self._choice.seed
            )
            parts = {str(c): Measured("fleiss", title_of("fleiss"), e) for c, e in found.items()}
        return tuple(
            Part(
                code,
                code_label(rated, code),
                parts[code],
                _specific(coding.only(code)),
                given[code],
            )
            for code in given
            if code in parts
        )

    def _pairs(self, coding: Coding) -> tuple[Part, ...]:
        from faultatlas.analysis.statistics.agreement import measure_pairs

        key = MASI if coding.is_multiple else "cohen"
        if len(coding.raters) < _TWO:
            return ()
        choice = self._choice
        found = measure_pairs(
            coding.coded,
            statistic_of(key),
            distances=coding.distances(key),
            resamples=choice.resamples,
            seed=choice.seed,
        )
        alike = measure_pairs(coding.coded, "percent")
        return tuple(
            Part(
                f"{escaped(coding.raters[one])}~{escaped(coding.raters[other])}",
                f"{coding.raters[one]} and {coding.raters[other]}",
                Measured(key, title_of(key), estimate),
                _hundred(alike[one, other].value),
                estimate.items,
            )
            for (one, other), estimate in found.items()
            if estimate.items
        )

    def _strata(self, rated: Rated, main: str) -> tuple[Part, ...]:
        ratings = rated.ratings
        items: dict[str, list[str]] = {}
        for item in ratings.items:
            items.setdefault(ratings.strata.get(item, ""), []).append(item)
        if len(items) < _TWO:
            return ()
        parts = []
        for stratum in sorted(items):
            coding = code_ratings(
                ratings.only(items=items[stratum]),
                rated.taxonomy,
                is_multiple=rated.is_multiple,
                special=self._choice.special,
            )
            parts.append(self._part(coding, main, stratum, stratum or "(none)"))
        return tuple(parts)

    def _levels(self, rated: Rated, coding: Coding, main: str) -> tuple[Part, ...]:
        depth = depth_of(rated.taxonomy, coding)
        if depth < _TWO:
            return ()
        key = "krippendorff" if main == TREE else main
        parts = []
        for level in range(1, depth + 1):
            rolled = self.code(rated, level)
            label = "the codes as given" if level == depth else f"level {level} of {depth}"
            parts.append(self._part(rolled, key, str(level), label, len(_given(rolled))))
        return tuple(parts)

    def _part(
        self, coding: Coding, key: str, name: str, label: str, count: int | None = None
    ) -> Part:
        from faultatlas.analysis.statistics.agreement import measure

        alike = measure(coding.coded, "percent")
        return Part(name, label, self.measured(coding, key), _hundred(alike.value), count)


def refuse_unfit(key: str, rated: Rated) -> None:
    """Refuse a distance that the labels of a round do not have."""
    if key in (MASI, JACCARD, WHOLE) and not rated.is_multiple:
        raise StudyError(
            f"{key} is for rounds where raters may give several codes, which {rated.name!r} is not",
            "Take krippendorff, or name the rounds that it is for.",
        )
    if key == TREE and rated.is_multiple:
        raise StudyError(
            f"{key} is for rounds where raters give one code; in {rated.name!r} they may give "
            "several",
            f"Take {MASI}, {JACCARD} or {WHOLE}, or name the rounds that it is for.",
        )


def statistic_of(key: str) -> str:
    """The statistic, whatever its distance."""
    return "krippendorff" if key in _BEHIND else key


def title_of(key: str) -> str:
    """What a statistic is called."""
    from faultatlas.analysis.statistics.agreement import coefficients

    return coefficients()[statistic_of(key)].title + _BEHIND.get(key, "")


def code_label(rated: Rated, code: str) -> str:
    """A code with its name; what is no code of the tree is its own."""
    return rated.taxonomy.node(code).name if code in rated.taxonomy else code


def counts_of(rated: Rated, coding: Coding) -> Counts:
    """How many items and ratings there are, and how many of them can be compared."""
    from faultatlas.analysis.statistics.agreement.ratings import MISSING

    filled = (coding.coded.values != MISSING).sum(axis=1).tolist()
    return Counts(
        items=len(filled),
        compared=sum(each >= _TWO for each in filled),
        single=sum(each == 1 for each in filled),
        none=sum(each == 0 for each in filled),
        raters=len(coding.raters),
        ratings=sum(filled),
        undecided=len(rated.ratings.undecided),
    )


def _given(coding: Coding) -> dict[str, int]:
    """How often each code was given, in the order of the taxonomy."""
    from faultatlas.analysis.statistics.agreement.ratings import MISSING

    counts: Counter[str] = Counter()
    for number, count in Counter(coding.coded.values.ravel().tolist()).items():
        if number != MISSING:
            category = coding.coded.categories[number]
            for code in category if isinstance(category, frozenset) else (str(category),):
                counts[code] += count
    ordered = [code for code in coding.paths if code in counts]
    return {code: counts[code] for code in (*ordered, *sorted(counts.keys() - set(ordered)))}


def _specific(coding: Coding) -> float | None:
    """Of the ratings beside one that gave the code, those that gave it too, of a hundred."""
    from faultatlas.analysis.statistics.agreement.ratings import confusion

    if True not in coding.coded.categories:
        return None
    at = coding.coded.categories.index(True)
    pairs = confusion(coding.coded)
    both = 2 * int(pairs[at, at])
    either = both + int(pairs[at].sum() - pairs[at, at])
    return 100 * both / either if either else None


def _hundred(value: float | None) -> float | None:
    return None if value is None else 100 * value

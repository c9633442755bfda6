"""From what raters said to what statistics take: items by raters, codes as numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.choices import JACCARD, MASI, TREE, Special
from faultatlas.annotation.labels import SPECIAL

if TYPE_CHECKING:
    from faultatlas.analysis.statistics.agreement.distances import Distances
    from faultatlas.analysis.statistics.agreement.ratings import RatingTable
    from faultatlas.annotation.ratings import Ratings
    from faultatlas.data.taxonomy import Taxonomy

SEVERAL = " + "  # between codes that were given at once where one was asked for


@dataclass(frozen=True)
class Coding:
    """Ratings as numbers, and what the numbers mean.

    A category is a code, or, where raters choose several, the set of them.
    """

    coded: RatingTable
    items: tuple[str, ...]
    raters: tuple[str, ...]
    is_multiple: bool
    paths: Mapping[str, tuple[str, ...]]  # of codes: from the root of the tree to the code

    @property
    def has_tree(self) -> bool:
        """Whether two of the codes can be nearer to each other than to a third."""
        return not self.is_multiple and any(len(path) > 1 for path in self.paths.values())

    def distances(self, key: str) -> Distances | None:
        """The distances between categories of a variant of a statistic; None: all are equal."""
        from faultatlas.analysis.statistics.agreement import distances

        if key == TREE:
            return distances.tree_distances(
                [self.paths.get(str(code), (code,)) for code in self.coded.categories]
            )
        between = {JACCARD: distances.jaccard, MASI: distances.masi}.get(key)
        if between is None:
            return None
        sets = [
            each if isinstance(each, frozenset) else frozenset((each,))
            for each in self.coded.categories
        ]
        return between(sets)

    @property
    def compared(self) -> Coding:
        """Without the items that have one rating or none."""
        from faultatlas.analysis.statistics.agreement.ratings import MISSING

        kept = (self.coded.values != MISSING).sum(axis=1) > 1
        items = tuple(item for item, keep in zip(self.items, kept, strict=True) if keep)
        return replace(self, coded=replace(self.coded, values=self.coded.values[kept]), items=items)

    def only(self, code: str) -> Coding:
        """Whether each rater gave this code, or another."""
        from faultatlas.analysis.statistics.agreement.ratings import renumbered

        into: dict[Hashable, Hashable | None] = {
            each: code in each if isinstance(each, frozenset) else code == each
            for each in self.coded.categories
        }
        return replace(self, coded=renumbered(self.coded, into), is_multiple=False)


def code_ratings(
    ratings: Ratings,
    taxonomy: Taxonomy,
    *,
    is_multiple: bool,
    special: Special = Special.AS_CODE,
    level: int | None = None,
) -> Coding:
    """The ratings as numbers, codes of the tree rolled up to a level if one is given.

    Raters who gave nothing are left out; so are categories that nobody gave, unless there is
    only one that somebody gave: that others could have been given is then worth knowing.
    """
    from faultatlas.analysis.statistics.agreement.ratings import rating_table

    rolled = _rolled(taxonomy, level)
    given: dict[tuple[str, str], frozenset[str]] = {}
    for key, codes in ratings.given.items():
        kept = frozenset(
            rolled(code) for code in codes if special is Special.AS_CODE or not code.startswith("~")
        )
        if kept:  # a code that was retired, or no code at all, is no rating
            given[key] = kept
    used = frozenset(code for codes in given.values() for code in codes)
    every = (*(node.code for node in taxonomy.nodes), *SPECIAL, *sorted(used))
    order = [code for code in dict.fromkeys(every) if code in used]
    raters = tuple(rater for rater in ratings.raters if any(who == rater for _item, who in given))
    category = _whole_set if is_multiple else _joined
    rows = [
        [
            category(given[item, rater], order) if (item, rater) in given else None
            for rater in raters
        ]
        for item in ratings.items
    ]
    single = {value for row in rows for value in row if isinstance(value, str)}
    first = [] if is_multiple else [code for code in order if code in single]
    table = rating_table(rows, first)
    if len(table.categories) == 1:
        could = [rolled(node.code) for node in taxonomy.selectable]
        could += SPECIAL if special is Special.AS_CODE else ()
        others = [code for code in dict.fromkeys(could) if code not in used]
        unused = [category(frozenset((code,)), others) for code in others]
        table = replace(table, categories=(*table.categories, *unused))
    return Coding(
        table,
        ratings.items,
        raters,
        is_multiple,
        {code: taxonomy.lineage(code) for code in order},
    )


def depth_of(taxonomy: Taxonomy, coding: Coding) -> int:
    """How many levels of the tree the used codes have."""
    codes = (code for code in coding.paths if code in taxonomy)
    return max((len(taxonomy.lineage(code)) for code in codes), default=1)


def _rolled(taxonomy: Taxonomy, level: int | None) -> Callable[[str], str]:
    if level is None:
        return lambda code: code
    return lambda code: taxonomy.lineage(code)[:level][-1]


def _whole_set(codes: frozenset[str], _order: list[str]) -> Hashable:
    return codes


def _joined(codes: frozenset[str], order: list[str]) -> Hashable:
    return SEVERAL.join(sorted(codes, key=order.index))

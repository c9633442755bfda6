"""Who said what of which item: what agreement, adjudication and models are computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import HOLDS
from faultatlas.data.taxonomy_changes import version_key

if TYPE_CHECKING:
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader

# What a code of another version is in the wanted one: codes, none (retired), or None where the
# change does not decide it and the item waits to be labelled again.
Carry = Callable[[str, str], frozenset[str] | None]  # (from_version, code)


@dataclass(frozen=True)
class Ratings:
    """Items by raters: the codes that each gave; what is not there was not given."""

    items: tuple[str, ...]  # in the order of the round
    raters: tuple[str, ...]
    given: Mapping[tuple[str, str], frozenset[str]]  # (item, rater) -> codes
    strata: Mapping[str, str]  # of items
    undecided: frozenset[tuple[str, str]] = frozenset()  # given in a version that does not say
    ended: frozenset[tuple[str, str]] = frozenset()  # given in a version whose code is no more

    @cached_property
    def of_items(self) -> dict[str, dict[str, frozenset[str]]]:
        """For each item what its raters gave, raters in their order."""
        found: dict[str, dict[str, frozenset[str]]] = {item: {} for item in self.items}
        for item in self.items:
            for rater in self.raters:
                codes = self.given.get((item, rater))
                if codes is not None:
                    found[item][rater] = codes
        return found

    @property
    def overlapping(self) -> tuple[str, ...]:
        """The items that two raters or more have labelled."""
        return tuple(item for item, said in self.of_items.items() if len(said) > 1)

    def only(
        self, items: Iterable[str] | None = None, raters: Iterable[str] | None = None
    ) -> Ratings:
        """The ratings of some items or raters."""
        wanted_items = set(self.items if items is None else items)
        wanted_raters = set(self.raters if raters is None else raters)
        kept = {
            key: codes
            for key, codes in self.given.items()
            if key[0] in wanted_items and key[1] in wanted_raters
        }
        return Ratings(
            items=tuple(item for item in self.items if item in wanted_items),
            raters=tuple(rater for rater in self.raters if rater in wanted_raters),
            given=kept,
            strata=self.strata,
            undecided=self.undecided,
            ended=self.ended,
        )


def ratings_of(
    reader: Reader,
    of: Round,
    *,
    stage: Stage = "independent",
    version: str | None = None,
    carry: Carry | None = None,
) -> Ratings:
    """The current answers of a round at a stage, in one version of its taxonomy.

    Where a rater answered in that version, that counts; what was said in another version is
    carried over, if `carry` can (see `counting`).
    """
    wanted = version or of.taxonomy_version
    items = reader.rows(
        "SELECT item_id, stratum FROM store.item WHERE round = ? ORDER BY position", [of.name]
    )
    rows = reader.rows(
        "SELECT item_id, rater, taxonomy_version, codes FROM store.answer "
        f"WHERE round = ? AND stage = ? AND {HOLDS} ORDER BY item_id, rater",
        [of.name, stage],
    )
    places: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        places.setdefault((row["item_id"], row["rater"]), []).append(row)
    given: dict[tuple[str, str], frozenset[str]] = {}
    undecided: set[tuple[str, str]] = set()
    ended: set[tuple[str, str]] = set()
    for key, there in places.items():
        answers = [
            (row["taxonomy_version"], carried(row["codes"], row["taxonomy_version"], wanted, carry))
            for row in there
        ]
        codes = answers[counting(answers, wanted)][1]
        if codes:
            given[key] = codes
        elif codes is None:
            undecided.add(key)
        elif any(row["codes"] for row in there):
            ended.add(key)
    raters = [*of.raters, *sorted({rater for _item, rater in given} - {*of.raters})]
    return Ratings(
        items=tuple(item["item_id"] for item in items),
        raters=tuple(raters),
        given=given,
        strata={item["item_id"]: item["stratum"] for item in items},
        undecided=frozenset(undecided),
        ended=frozenset(ended),
    )


def counting(answers: Sequence[tuple[str, frozenset[str] | None]], wanted: str) -> int:
    """Which of the answers to one question counts in a version; each from another version.

    They come with their version and what they are in the wanted one: codes, none where nothing
    is said any more, None where it is not decided. The wanted version counts, then the highest
    that has codes there. That nothing is said any more replaces what was said in versions before,
    and means nothing for versions before.
    """
    newest_first = sorted(
        range(len(answers)),
        key=lambda at: (answers[at][0] == wanted, version_key(answers[at][0])),
        reverse=True,
    )
    waiting: int | None = None
    for at in newest_first:
        version, codes = answers[at]
        if codes:
            return at
        if codes is None:
            waiting = at if waiting is None else waiting
        elif version_key(version) <= version_key(wanted):
            return at if waiting is None else waiting
    return newest_first[0] if waiting is None else waiting


def carried(
    codes: Iterable[str], version: str, wanted: str, carry: Carry | None
) -> frozenset[str] | None:
    """The codes of an answer in another version; None if one of them is not decided there."""
    if version == wanted:
        return frozenset(codes)
    found: set[str] = set()
    for code in codes:
        new = (
            frozenset((code,)) if code.startswith("~") else carry(version, code) if carry else None
        )
        if new is None:
            return None
        found |= new
    return alone(found)


def alone(codes: Iterable[str]) -> frozenset[str]:
    """Codes without the answers that are none, such as ~unclear: those only stand by themselves."""
    found = frozenset(codes)
    return frozenset(code for code in found if not code.startswith("~")) or found

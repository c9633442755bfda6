"""How far each rater agrees with the final labels, or with the others, and whether that changes.

A rater takes part in the majority that makes a label final: it is agreement with the final label,
not with the truth. What most of the others say is free of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.analysis.statistics.estimates import Test, holm
from faultatlas.analysis.statistics.shares import Share, wilson_share
from faultatlas.analysis.statistics.tables import cochran_armitage, split_evenly

if TYPE_CHECKING:
    from faultatlas.analysis.statistics.agreement.ratings import AgreementEstimate
    from faultatlas.annotation.ratings import Ratings
    from faultatlas.data.study import Reader

Codes = frozenset[str]
# What the labels of a rater are put in order by.
BY_TIME, BY_OWN, BY_ROUND = (
    "the time of labelling", "the rater's own order", "the order of the round",
)  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """A label of a rater beside what it is compared with."""

    item: str
    given: Codes
    wanted: Codes
    is_disputed: bool  # whether the raters of the item differ

    @property
    def agrees(self) -> bool:
        """Whether both are the same codes."""
        return self.given == self.wanted


@dataclass(frozen=True)
class Accuracy:
    """A rater beside the final labels."""

    rater: str
    rows: tuple[Compared, ...]  # in the order of labelling
    share: Share
    disputed: Share  # of the items that raters differ about
    cohen: AgreementEstimate
    parts: tuple[Share, ...]
    trend: Test
    adjusted: float | None  # p-value, for as many tests as there are raters


@dataclass(frozen=True)
class Confusion:
    """What raters gave instead of a final code."""

    wanted: Codes
    share: Share  # of the labels of these items that are the final code
    given: tuple[tuple[Codes, int], ...]  # instead, the most frequent first


def wanted_of_others(ratings: Ratings) -> dict[tuple[str, str], Codes]:
    """For each label what more than half of the item's other raters gave, where there is such."""
    found = {}
    for item, given in ratings.of_items.items():
        for rater in given:
            others = Counter(codes for other, codes in given.items() if other != rater)
            if others:
                codes, times = others.most_common(1)[0]
                if 2 * times > others.total():
                    found[item, rater] = codes
    return found


def compare(
    ratings: Ratings,
    wanted: Mapping[tuple[str, str], Codes],
    order: Mapping[tuple[str, str], int],
    parts: int,
) -> list[Accuracy]:
    """Each rater who gave anything that can be compared."""
    found = [
        (rater, rows) for rater in ratings.raters if (rows := _rows(ratings, wanted, order, rater))
    ]
    shares = [_shares(rows, parts) for _rater, rows in found]
    trends = [
        cochran_armitage([each.count for each in part], [each.total for each in part])
        for part in shares
    ]
    adjusted = holm([trend.p_value for trend in trends])
    return [
        Accuracy(
            rater,
            rows,
            _share(rows),
            _share([row for row in rows if row.is_disputed]),
            _cohen(rows),
            part,
            trend,
            p,
        )
        for (rater, rows), part, trend, p in zip(found, shares, trends, adjusted, strict=True)
    ]


def confusions(raters: Sequence[Accuracy]) -> list[Confusion]:
    """For each final code what was given instead, the most frequent code first."""
    given: dict[Codes, Counter[Codes]] = {}
    for rater in raters:
        for row in rater.rows:
            given.setdefault(row.wanted, Counter())[row.given] += 1
    found = []
    for wanted, counts in given.items():
        others = [(codes, count) for codes, count in counts.items() if codes != wanted]
        others.sort(key=lambda each: (-each[1], sorted(each[0])))
        share = wilson_share(counts[wanted], counts.total())
        found.append(Confusion(wanted, share, tuple(others)))
    return sorted(found, key=lambda each: (-each.share.total, sorted(each.wanted)))


def order_of_labelling(
    reader: Reader, round_name: str, ratings: Ratings
) -> tuple[dict[tuple[str, str], int], dict[str, str]]:
    """When each rater gave which label: by time, else by the rater's own order, else the round's.

    Also gives by which, for each rater.
    """
    rows = reader.rows(
        "SELECT item_id, rater, min(labelled_at) AS at FROM labels WHERE round = ? "
        "AND stage = 'independent' AND is_current GROUP BY ALL",
        [round_name],
    )
    times = {(row["item_id"], row["rater"]): row["at"] for row in rows}
    rows = reader.rows(
        "SELECT item_id, rater, position FROM store.assignment WHERE round = ?", [round_name]
    )
    places = {(row["item_id"], row["rater"]): row["position"] for row in rows}
    position = {item: at for at, item in enumerate(ratings.items)}
    order: dict[tuple[str, str], int] = {}
    basis: dict[str, str] = {}
    for rater in ratings.raters:
        keys = [(item, rater) for item in ratings.items if (item, rater) in ratings.given]
        if keys and all(times.get(key) for key in keys):
            basis[rater] = BY_TIME
            keys.sort(key=lambda key: (times[key], position[key[0]]))
        elif keys and all(key in places for key in keys):
            basis[rater] = BY_OWN
            keys.sort(key=lambda key: places[key])
        else:
            basis[rater] = BY_ROUND
        order |= {key: at for at, key in enumerate(keys)}
    return order, basis


def _rows(
    ratings: Ratings,
    wanted: Mapping[tuple[str, str], Codes],
    order: Mapping[tuple[str, str], int],
    rater: str,
) -> tuple[Compared, ...]:
    keys = [key for key in wanted if key[1] == rater and ratings.given.get(key)]
    keys.sort(key=lambda key: order[key])
    return tuple(
        Compared(
            item,
            ratings.given[item, rater],
            wanted[item, rater],
            len(set(ratings.of_items[item].values())) > 1,
        )
        for item, rater in keys
    )


def _share(rows: Sequence[Compared]) -> Share:
    return wilson_share(sum(row.agrees for row in rows), len(rows))


def _shares(rows: Sequence[Compared], parts: int) -> tuple[Share, ...]:
    return tuple(_share(rows[start:end]) for start, end in split_evenly(len(rows), parts))


def _cohen(rows: Sequence[Compared]) -> AgreementEstimate:
    from faultatlas.analysis.statistics.agreement import measure
    from faultatlas.analysis.statistics.agreement.ratings import rating_table

    return measure(rating_table([(row.given, row.wanted) for row in rows]), "cohen")

"""How far rounds are: what is labelled, passed and settled, and what is next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.planning.changed import NOTHING, Left, left_by_change
from faultatlas.annotation.planning.gates import (
    Hold,
    Standing,
    bringing,
    hold_on,
    measuring,
    standing,
)
from faultatlas.annotation.rounds import Round, find_round, round_names
from faultatlas.annotation.screening.steps import TAXONOMY as SCREENING
from faultatlas.annotation.screening.steps import next_step, standings
from faultatlas.annotation.typed import typed
from faultatlas.report.formatting import number

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.gate import Gate
    from faultatlas.data.study import Reader, Study

# One row for each round and rater that has something to label or has labelled something. Where
# items are assigned, labels of others are extra.
_PROGRESS = """
WITH given AS (
    SELECT round, rater,
        count(DISTINCT item_id) FILTER (stage = 'independent' AND (is_wanted OR NOT is_planned))
            AS labelled,
        count(DISTINCT item_id) FILTER (stage = 'independent' AND is_planned AND NOT is_wanted)
            AS extra,
        count(DISTINCT item_id) FILTER (stage = 'negotiated') AS negotiated,
        count(DISTINCT item_id) FILTER (stage = 'adjudicated') AS adjudicated,
        max(labelled_at) AS last_at
    FROM (
        SELECT l.*, a.item_id IS NOT NULL AS is_wanted,
            l.round IN (SELECT round FROM store.assignment) AS is_planned
        FROM labels l LEFT JOIN store.assignment a USING (round, item_id, rater)
        WHERE is_current
    )
    GROUP BY ALL
), wanted AS (
    SELECT round, rater, count(*) AS assigned FROM store.assignment GROUP BY ALL
)
SELECT round, rater, assigned, coalesce(labelled, 0) AS labelled, coalesce(extra, 0) AS extra,
    coalesce(negotiated, 0) AS negotiated, coalesce(adjudicated, 0) AS adjudicated, last_at
FROM store.round_rater FULL JOIN given USING (round, rater) FULL JOIN wanted USING (round, rater)
ORDER BY round, position NULLS LAST, rater
"""


@dataclass(frozen=True)
class OfRater:
    """What a rater has done in a round."""

    rater: str
    assigned: int | None  # None in a round that was imported
    labelled: int  # of what is assigned
    extra: int  # labels of what is not
    negotiated: int
    adjudicated: int
    last_at: datetime | None


@dataclass(frozen=True)
class Progress:
    """How far a round is."""

    round: Round
    items: int
    raters: tuple[OfRater, ...]
    pushed: int  # projects in Label Studio
    settled: int
    hold: Hold  # by the gate of the round before
    own: Standing  # its own gate
    waits: bool = False  # for the labels of the round before
    left: Left = NOTHING  # by a change of the taxonomy

    @property
    def assigned(self) -> int | None:
        """Labels that are wanted; None in a round that was imported."""
        known = [each.assigned for each in self.raters if each.assigned is not None]
        return sum(known) if known else None

    @property
    def labelled(self) -> int:
        """Labels that are there."""
        return sum(each.labelled for each in self.raters)

    @property
    def extra(self) -> int:
        """Labels of items by raters who were not to label them."""
        return sum(each.extra for each in self.raters)

    @property
    def gate(self) -> Gate | None:
        """The decision on it that counts."""
        return self.own.gate

    @property
    def is_labelled(self) -> bool:
        """Whether all that is assigned is labelled; without assignments, whether anything is."""
        if self.assigned is None:
            return self.labelled > 0
        return all(each.labelled >= (each.assigned or 0) for each in self.raters)

    @property
    def has_gate(self) -> bool:
        """Whether agreement must reach something that was fixed before the labels."""
        fixed = self.round.threshold is not None and self.round.statistic is not None
        return fixed and self.round.origin != "imported"

    @property
    def stage(self) -> str:
        """In one or two words."""
        settled = bool(self.items) and self.settled >= self.items
        if self.left.labels and (settled or self.is_labelled):
            return "to relabel"
        if settled:
            return "settling" if self.left.finals else "settled"
        if not self.labelled:
            waits = self.waits or not self.hold.lets_pass
            return "waits" if waits else "pushed" if self.pushed else "planned"
        if not self.is_labelled:
            return "labelling"
        if self.has_gate and (self._has_failed or self.own.is_to_discuss):
            return "to discuss"
        return "settling" if self.settled else "labelled"

    @property
    def next(self) -> str:
        """The next command; nothing when all is done, or must be done in the round before."""
        name = typed(self.round.name)
        if self.stage == "waits":
            return "" if self.waits else self.hold.next
        if self.stage in ("labelled", "to discuss") and self.is_to_measure:
            return measuring(self.round.name, self.own)
        version = f" --version {self.left.version}" if self.left.finals else ""
        commands = {
            "settled": "",
            "planned": f"annotation push {name}, or annotation export {name} FILE --rater R",
            "pushed": bringing(self.round.name, self.own),
            "labelling": bringing(self.round.name, self.own),
            "to relabel": f"annotation taxonomy relabel {name}",
        }
        return commands.get(self.stage, f"annotation adjudicate {name}{version}")

    @property
    def _has_failed(self) -> bool:
        """Whether agreement was too low on the labels as they are."""
        return bool(self.gate and not self.own.is_outdated and not self.gate.is_passed)

    @property
    def is_to_measure(self) -> bool:
        """Whether its gate waits for a measurement: the first, or one of changed labels."""
        if not self.has_gate:
            return False
        if self.gate is None or self.own.is_outdated:
            return True
        return (
            not self.gate.is_passed and self.own.is_discussed and (self.gate.stage == "independent")
        )

    @property
    def gate_words(self) -> str:
        """Its own gate in a few words."""
        if not self.has_gate:
            return "none"
        needed = f"{self.round.statistic} {number(self.round.threshold or 0.0)}"
        if self.gate is None:
            return f"open ({needed})"
        value = "?" if self.gate.value is None else number(self.gate.value)
        said = f"{'passed' if self.gate.is_passed else 'not passed'}, {self.gate.stage}"
        if self.own.is_outdated:
            said = f"labels changed after it was {said}"
        elif self.own.missing:
            said = f"open, as labels are missing; was {said}"
        return f"{said} ({value}, {needed})"

    def document(self) -> dict[str, Any]:
        """Plain values."""
        of = self.round
        return {
            "round": of.name,
            "origin": of.origin,
            "sample": of.sample,
            "taxonomy": of.taxonomy,
            "taxonomy_version": of.taxonomy_version,
            "items": self.items,
            "assigned": self.assigned,
            "labelled": self.labelled,
            "extra": self.extra,
            "settled": self.settled,
            "to_relabel": self.left.labels,
            "to_settle_again": self.left.finals,
            "stage": self.stage,
            "after": of.after,
            "held_up_by": None if self.hold.lets_pass else self.hold.words,
            "despite_gate": self.hold.words if self.hold.state == "despite" else None,
            "statistic": of.statistic,
            "threshold": of.threshold,
            "gate": self.gate_words,
            "blindness": of.blindness,
            "raters": [{**asdict(each), "last_at": _iso(each.last_at)} for each in self.raters],
            "next": self.next or None,
        }


def progress(reader: Reader, name: str | None = None) -> list[Progress]:
    """How far rounds are, in the order they were made; or one of them."""
    if name is not None:
        find_round(reader, name)
    raters: dict[str, list[OfRater]] = {}
    for row in reader.rows(_PROGRESS):
        raters.setdefault(row.pop("round"), []).append(OfRater(**row))
    items = _counts(reader, "SELECT round, count(*) AS n FROM store.item GROUP BY ALL")
    pushed = _counts(reader, "SELECT round, count(*) AS n FROM store.project GROUP BY ALL")
    settled = _counts(
        reader, "SELECT round, count(DISTINCT item_id) AS n FROM final_labels GROUP BY ALL"
    )
    found: dict[str, Progress] = {}
    for each in round_names(reader):  # the round before another was made before it
        of = find_round(reader, each)
        before, hold = found.get(of.after or ""), hold_on(reader, of)
        found[each] = Progress(
            round=of,
            items=items.get(each, 0),
            raters=tuple(raters.get(each, ())),
            pushed=pushed.get(each, 0),
            settled=settled.get(each, 0),
            hold=hold,
            own=standing(reader, of),
            waits=bool(before and not before.is_labelled) and hold.state != "despite",
            left=left_by_change(reader, of),
        )
    return [each for each in found.values() if name in (None, each.round.name)]


def status(study: Study, name: str | None = None) -> tuple[list[Progress], dict[str, Any]]:
    """How far a study is, and the same as plain values."""
    with study.reading() as reader:
        rounds = progress(reader, name)
        left = _left(reader)
        screening = standings(reader)
        step = next_step(reader)
        samples = reader.value("SELECT count(*) FROM store.sample")
    document = {
        "study": str(study.directory),
        "samples": left,
        "rounds": [each.document() for each in rounds],
        "screening": [each.document() for each in screening],
        "next": _next(rounds, left, samples, step, only=name is not None),
    }
    return rounds, document


def _left(reader: Reader) -> list[dict[str, Any]]:
    """Samples, and how much of each no round has."""
    return reader.rows(
        "SELECT sample, count(*) AS size, count(*) FILTER (artifact_id NOT IN (SELECT artifact_id "
        "FROM store.item i JOIN store.round r USING (round) WHERE r.origin = 'designed')) AS left "
        "FROM store.sampled s GROUP BY sample ORDER BY sample"
    )


def _next(
    rounds: Sequence[Progress],
    left: Sequence[Mapping[str, Any]],
    samples: int,
    step: str,
    *,
    only: bool,
) -> list[str]:
    """The next commands, those of the first rounds first."""
    found = list(dict.fromkeys(each.next for each in rounds if each.next))
    if only or found:
        return found
    if step:
        return [step]
    screened = {each.round.sample for each in rounds if each.round.taxonomy == SCREENING}
    for row in left:
        if row["left"] and row["sample"] not in screened:
            return [f"annotation round NAME --sample {typed(row['sample'])} --taxonomy T --rater R"]
    if not samples and not rounds:
        return ["annotation sample NAME"]
    return []


def _counts(reader: Reader, sql: str) -> dict[str, int]:
    return {row["round"]: row["n"] for row in reader.rows(sql)}


def _iso(time: datetime | None) -> str | None:
    return None if time is None else f"{time:%Y-%m-%dT%H:%M:%SZ}"

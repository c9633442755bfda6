"""A round as adjudication sees it: what everybody said at each stage, and what is settled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import STAGES, Stage
from faultatlas.annotation.ratings import Ratings, carried, counting, ratings_of
from faultatlas.annotation.rounds import Round, find_round
from faultatlas.annotation.settling.settlements import Decision, Settlement, settlements_of
from faultatlas.data.identity import url_of
from faultatlas.data.taxonomy_changes import version_key

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.annotation.ratings import Carry
    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Voice:
    """What a rater said of an item at last, and noted with it."""

    rater: str
    codes: frozenset[str]
    stage: Stage
    confidence: float | None = None
    comment: str | None = None
    proposed: str | None = None


@dataclass(frozen=True, slots=True)
class About:
    """What an item is."""

    item_id: str
    artifact_id: str
    title: str
    url: str


@dataclass(frozen=True)
class Situation:
    """All that is known of a round, in one version of its taxonomy."""

    round: Round
    taxonomy: Taxonomy
    items: Mapping[str, About]  # in the order of the round
    said: Mapping[Stage, Ratings]
    noted: Mapping[tuple[str, str, Stage], dict[str, Any]]
    settlements: Mapping[str, Settlement]  # those that count here, of whatever version
    finals: Mapping[str, frozenset[str]]  # of settled items, in this version
    ended_finals: frozenset[str]  # items whose final codes are no more

    @property
    def version(self) -> str:
        """The version of the taxonomy that everything is carried to."""
        return self.taxonomy.version

    def voices(self, item: str) -> list[Voice]:
        """What each rater of the item said, after discussion where that was noted.

        Whoever noted the outcome of a discussion without having labelled the item is no rater
        of it; neither is the third rater.
        """
        before = self.said["independent"].of_items[item]
        after = self.said["negotiated"].of_items[item]
        return [
            self._voice(item, rater, after[rater], "negotiated")
            if rater in after
            else self._voice(item, rater, codes, "independent")
            for rater, codes in before.items()
            if codes
        ]

    def outcomes(self, item: str) -> list[Voice]:
        """What was noted for all raters after a discussion, by somebody else."""
        before = self.said["independent"].of_items[item]
        after = self.said["negotiated"].of_items[item]
        return [
            self._voice(item, rater, codes, "negotiated")
            for rater, codes in after.items()
            if rater not in before and codes
        ]

    def thirds(self, item: str, rater: str | None = None) -> list[Voice]:
        """What third raters decided, or one of them."""
        return [
            self._voice(item, who, codes, "adjudicated")
            for who, codes in self.said["adjudicated"].of_items[item].items()
            if codes and rater in (None, who)
        ]

    def is_undecided(self, item: str) -> bool:
        """Whether a label waits to be given again after a change of the taxonomy."""
        return any(it == item for it, _rater in self.said["independent"].undecided)

    def is_ended(self, item: str) -> bool:
        """Whether it was labelled with codes that are no more, and so are the labels."""
        return any(it == item for it, _rater in self.said["independent"].ended)

    def holding(self, item: str) -> Decision | None:
        """The decision about an item with its codes in this version; None if it is open here."""
        codes = self.finals.get(item)
        if codes is None:
            return None
        return replace(self.settlements[item].decision, codes=tuple(sorted(codes)))

    def told_before(self, item: str) -> Decision | None:
        """What was final in another version, where this one does not tell what it is now."""
        there = self.settlements.get(item)
        is_open = there is None or item in self.finals or item in self.ended_finals
        return None if there is None or is_open or not there.decision.codes else there.decision

    def _voice(self, item: str, rater: str, codes: frozenset[str], stage: Stage) -> Voice:
        return Voice(rater, codes, stage, **self.noted.get((item, rater, stage), {}))

    def anonymous(self, item: str) -> list[tuple[str, Voice]]:
        """The voices as Rater A, B, ...: in an order of its own for each item."""

        def place(voice: Voice) -> str:
            key = f"{self.round.name}\0{item}\0{voice.rater}"
            return hashlib.sha256(key.encode()).hexdigest()

        ordered = sorted(self.voices(item), key=place)
        return [(letters(at), voice) for at, voice in enumerate(ordered)]


def letters(at: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    name = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def read_situation(
    reader: Reader, directory: Path, round_name: str, version: str | None = None
) -> Situation:
    """The state of a round; labels of other versions are carried where the change decides it."""
    from faultatlas.annotation.taxonomies.versions import Versions, carrier

    of = find_round(reader, round_name)
    wanted = version or of.taxonomy_version
    taxonomy = Versions.known(reader, directory, of.taxonomy).taxonomy(wanted)
    if of.choice == "multiple":  # also where the taxonomy asks for one
        taxonomy = replace(taxonomy, choice=of.choice)
    carry = carrier(reader, directory, of.taxonomy, wanted) if version else None
    settlements, finals, ended = _finals(settlements_of(reader, round_name), wanted, carry)
    return Situation(
        round=of,
        taxonomy=taxonomy,
        items=_items(reader, round_name),
        said={
            stage: ratings_of(reader, of, stage=stage, version=wanted, carry=carry)
            for stage in STAGES
        },
        noted=_noted(reader, round_name, wanted),
        settlements=settlements,
        finals=finals,
        ended_finals=ended,
    )


def _items(reader: Reader, round_name: str) -> dict[str, About]:
    rows = reader.rows(
        "SELECT item_id, item.artifact_id, any_value(title) AS title FROM store.item "
        "LEFT JOIN artifacts ON artifacts.artifact_id = item.artifact_id WHERE round = ? "
        "GROUP BY item_id, item.artifact_id, position ORDER BY position",
        [round_name],
    )
    return {
        row["item_id"]: About(
            row["item_id"],
            row["artifact_id"],
            " ".join((row["title"] or "").split()),
            url_of(row["artifact_id"]) or "",
        )
        for row in rows
    }


def _noted(
    reader: Reader, round_name: str, version: str
) -> dict[tuple[str, str, Stage], dict[str, Any]]:
    rows = reader.rows(
        "SELECT DISTINCT item_id, rater, stage, taxonomy_version, confidence, comment, proposed "
        "FROM labels WHERE round = ? AND is_current",
        [round_name],
    )

    def order(row: Mapping[str, Any]) -> tuple[bool, object]:
        return row["taxonomy_version"] == version, version_key(row["taxonomy_version"])

    return {
        (row["item_id"], row["rater"], row["stage"]): {
            name: row[name] for name in ("confidence", "comment", "proposed")
        }
        for row in sorted(rows, key=order)  # the wanted version comes last
    }


def _finals(
    settled: Mapping[str, Mapping[str, Settlement]], version: str, carry: Carry | None
) -> tuple[dict[str, Settlement], dict[str, frozenset[str]], frozenset[str]]:
    """The decisions that count in a version, the codes that they are there, and what has ended."""
    settlements: dict[str, Settlement] = {}
    finals: dict[str, frozenset[str]] = {}
    ended = set()
    for item, by_version in settled.items():
        every = list(by_version.values())
        led = [
            (made_in, carried(each.decision.codes, made_in, version, carry))
            for made_in, each in by_version.items()
        ]
        at = counting(led, version)
        settlements[item], codes = every[at], led[at][1]
        if codes:
            finals[item] = codes
        elif codes is not None and every[at].decision.codes:
            ended.add(item)
    return settlements, finals, frozenset(ended)

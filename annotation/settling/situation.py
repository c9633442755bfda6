"""A round as adjudication sees it: what everybody said at each stage, and what is settled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.labels import STAGES, Stage
from annotation.ratings import Ratings, ratings_of
from annotation.rounds import Round, find_round
from annotation.settling.settlements import Settlement, settlements_of
from data.identity import url_of

if TYPE_CHECKING:
    from pathlib import Path

    from annotation.ratings import Carry
    from data.store import Reader
    from data.taxonomy import Taxonomy


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
    settlements: Mapping[str, Settlement]
    finals: Mapping[str, frozenset[str]]  # of settled items, in this version

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
    from annotation.taxonomies.versions import Versions, carrier

    of = find_round(reader, round_name)
    wanted = version or of.taxonomy_version
    taxonomy = Versions.known(reader, directory, of.taxonomy).taxonomy(wanted)
    carry = carrier(reader, directory, of.taxonomy, wanted) if version else None
    settlements = settlements_of(reader, round_name)
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
        finals=_finals(settlements, wanted, carry),
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
        "FROM labels WHERE round = ? AND is_current "
        "ORDER BY taxonomy_version = ?, taxonomy_version",
        [round_name, version],
    )
    return {
        (row["item_id"], row["rater"], row["stage"]): {
            name: row[name] for name in ("confidence", "comment", "proposed")
        }
        for row in rows  # the wanted version comes last
    }


def _finals(
    settlements: Mapping[str, Settlement], version: str, carry: Carry | None
) -> dict[str, frozenset[str]]:
    found = {}
    for item, settlement in settlements.items():
        given = settlement.decision
        codes: set[str] | None = set()
        for code in given.codes:
            if given.taxonomy_version == version or code.startswith("~"):
                new: frozenset[str] | None = frozenset((code,))
            else:
                new = carry(given.taxonomy_version, code) if carry else None
            codes = None if new is None or codes is None else codes | new
        if codes:
            found[item] = frozenset(codes)
    return found

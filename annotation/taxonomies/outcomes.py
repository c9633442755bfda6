"""What becomes of labels in another version: every label has exactly one outcome.

carried: its code is decided. ended: its code was retired, and its labels with it. waiting:
somebody has to look again. answered: somebody did, in the wanted version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultatlas.annotation import labels
from faultatlas.annotation.ratings import carried, counting
from faultatlas.annotation.settling import settlements
from faultatlas.data.taxonomy_changes import Alternatives, decided

if TYPE_CHECKING:
    from faultatlas.annotation.taxonomies.versions import Versions
    from faultatlas.data.study import Reader

Outcome = Literal["carried", "ended", "waiting", "answered"]
OUTCOMES: tuple[Outcome, ...] = ("carried", "waiting", "ended", "answered")


@dataclass(frozen=True)
class Said:
    """A current answer of a rater, or a final decision about an item (rater and stage empty)."""

    answer_id: str
    round: str
    item_id: str
    artifact_id: str
    rater: str
    stage: str
    version: str
    codes: tuple[str, ...]

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What only one answer can count for."""
        return (self.round, self.item_id, self.rater, self.stage)


@dataclass(frozen=True)
class Followed:
    """A code of an answer, what it may be in the wanted version, and what that makes of it."""

    said: Said
    code: str
    alternatives: Alternatives
    outcome: Outcome


def current_answers(reader: Reader, taxonomy: str, round_name: str = "") -> list[Said]:
    """The current answers given with a taxonomy, in one round or in all.

    One without codes was withdrawn: it has no label, but those before it do not count.
    """
    rows = reader.rows(
        "SELECT answer_id, round, item_id, answer.artifact_id, rater, stage, "
        "taxonomy_version AS version, codes FROM store.answer "
        "JOIN store.item USING (round, item_id) "
        f"WHERE taxonomy = ? AND ? IN ('', round) AND {labels.HOLDS} "
        "ORDER BY round, item.position, item_id, rater, stage",
        [taxonomy, round_name],
    )
    return [Said(**{**row, "codes": tuple(row["codes"])}) for row in rows]


def current_decisions(reader: Reader, taxonomy: str, round_name: str = "") -> list[Said]:
    """The final labels of items, in one round or in all, of each version that they were settled in.

    One without codes says that the item is open again.
    """
    rows = reader.rows(
        "SELECT settlement_id AS answer_id, round, item_id, artifact_id, "
        "'' AS rater, '' AS stage, taxonomy_version AS version, codes FROM store.settlement "
        f"WHERE taxonomy = ? AND ? IN ('', round) AND {settlements.HOLDS} "
        "ORDER BY round, item_id, taxonomy_version",
        [taxonomy, round_name],
    )
    return [Said(**{**row, "codes": tuple(row["codes"])}) for row in rows]


def follow(versions: Versions, answers: Iterable[Said], wanted: str) -> Iterator[Followed]:
    """Every code of every answer with its outcome in a version, as `ratings_of` reads them.

    Where one place has answers in several versions, one of them counts; the labels of the others
    are answered by it.
    """
    for there, at in _places(versions, answers, wanted):
        for said in there:
            for code in said.codes:
                found = versions.alternatives(said.version, wanted, code)
                outcome = "answered" if said is not there[at] else _outcome(found)
                yield Followed(said, code, found, outcome)


def counting_ones(versions: Versions, answers: Iterable[Said], wanted: str) -> Iterator[Said]:
    """Of each place the answer that counts in a version."""
    for there, at in _places(versions, answers, wanted):
        yield there[at]


def carried_codes(versions: Versions, said: Said, version: str) -> frozenset[str] | None:
    """All codes of an answer in a version; None if one of them is not decided there."""

    def carry(start: str, code: str) -> frozenset[str] | None:
        return decided(versions.alternatives(start, version, code))

    return carried(said.codes, said.version, version, carry)


def _places(
    versions: Versions, answers: Iterable[Said], wanted: str
) -> Iterator[tuple[list[Said], int]]:
    """Answers to the same question, and which of them counts."""
    places: dict[tuple[str, str, str, str], list[Said]] = {}
    for said in answers:
        places.setdefault(said.place, []).append(said)
    for there in places.values():
        led = [(said.version, carried_codes(versions, said, wanted)) for said in there]
        yield there, counting(led, wanted)


def _outcome(alternatives: Alternatives) -> Outcome:
    codes = decided(alternatives)
    return "waiting" if codes is None else "carried" if codes else "ended"

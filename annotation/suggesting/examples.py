"""What a model can learn from: items with a text and a label, and the items that wait for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.labels import NEW_CODE, UNCLEAR
from faultatlas.annotation.ratings import Carry, ratings_of
from faultatlas.annotation.rounds import find_round, round_names

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader

_LONGEST = 20_000  # characters of a text: logs say little after that
_NOT_LEARNT = {UNCLEAR, NEW_CODE}  # they say something of the rater's doubt, nothing of the text


@dataclass(frozen=True, slots=True)
class Example:
    """An item with its text; `codes` are empty where it waits for a label."""

    round: str
    item_id: str
    artifact_id: str
    text: str
    codes: frozenset[str] = frozenset()
    is_final: bool = False  # settled; else what most raters said


@dataclass(frozen=True)
class Examples:
    """What rounds offer to a model."""

    labelled: tuple[Example, ...]
    waiting: tuple[Example, ...]  # of the round that suggestions are made for
    without_text: int  # items that were never mined
    disputed: int  # items whose raters do not agree, and that are not settled
    undecided: int  # items whose final label another version of the taxonomy does not tell


def examples(reader: Reader, wanted: Round, others: Sequence[str], carry: Carry) -> Examples:
    """Everything of the wanted round, and what is labelled in the others.

    `carry` brings labels of other versions into that of the wanted round.
    """
    labelled: list[Example] = []
    waiting: list[Example] = []
    without_text = disputed = undecided = 0
    for name in dict.fromkeys([wanted.name, *others]):
        each = find_round(reader, name)
        texts = _texts(reader, name)
        decided = _decided(reader, each, wanted.taxonomy_version, carry)
        for row in reader.rows(
            "SELECT item_id, artifact_id FROM items WHERE round = ? ORDER BY position", [name]
        ):
            item = row["item_id"]
            codes, is_final = decided.get(item, (frozenset(), False))
            if row["artifact_id"] not in texts:
                without_text += 1
                continue
            example = Example(
                name, item, row["artifact_id"], texts[row["artifact_id"]], codes or frozenset(),
                is_final,
            )  # fmt: skip
            if codes is None:
                undecided += is_final
                disputed += not is_final
            elif not codes:
                waiting.extend([example] if name == wanted.name else ())
            elif not codes & _NOT_LEARNT:
                labelled.append(example)
    return Examples(tuple(labelled), tuple(waiting), without_text, disputed, undecided)


def rounds_with(reader: Reader, taxonomy: str) -> list[str]:
    """The rounds that were labelled with a taxonomy."""
    return [name for name in round_names(reader) if find_round(reader, name).taxonomy == taxonomy]


def _texts(reader: Reader, round_name: str) -> dict[str, str]:
    """Title and text of a round's artifacts; the title counts twice, it says the most."""
    rows = reader.rows(
        "SELECT artifact_id, any_value(concat_ws(chr(10), title, title, left(body, ?))) AS text "
        "FROM items JOIN artifacts USING (artifact_id) "
        "WHERE round = ? AND (title IS NOT NULL OR body IS NOT NULL) GROUP BY artifact_id",
        [_LONGEST, round_name],
    )
    return {row["artifact_id"]: row["text"] for row in rows}


def _decided(
    reader: Reader, of: Round, version: str, carry: Carry
) -> Mapping[str, tuple[frozenset[str] | None, bool]]:
    """For each item its final codes, else what most raters said, and whether it is final.

    None where raters are at odds, or where the version does not tell what a final code is in it.
    """
    found: dict[str, tuple[frozenset[str] | None, bool]] = {}
    ratings = ratings_of(reader, of, version=version, carry=carry)
    for item, said in ratings.of_items.items():
        votes = Counter(said.values()).most_common(2)
        if len(votes) > 1 and votes[0][1] == votes[1][1]:
            found[item] = (None, False)
        elif votes:
            found[item] = (votes[0][0], False)
    rows = reader.rows(
        "SELECT item_id, taxonomy_version, list(code ORDER BY code) AS codes FROM final_labels "
        "WHERE round = ? AND taxonomy = ? GROUP BY ALL",
        [of.name, of.taxonomy],
    )
    for row in rows:
        codes = [
            frozenset((code,))
            if row["taxonomy_version"] == version or code.startswith("~")
            else carry(row["taxonomy_version"], code)
            for code in row["codes"]
        ]
        known = [code for code in codes if code is not None]
        whole = frozenset[str]().union(*known) if len(known) == len(codes) else None
        found[row["item_id"]] = (whole or None, True)
    return found

"""Saturation: how many codes each further batch of labels adds, and whether that has ended.

A batch is a round, or so many items in the order in which they were labelled. Codes that
raters propose count as codes. An item counts when somebody has answered, whatever it was. The
chance that the next item brings a new code is estimated after Good and Turing: the share of the
codes of items that only one item has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import SPECIAL
from faultatlas.annotation.rounds import Round, find_round, round_names
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded
from faultatlas.data.taxonomy_changes import decided, version_key

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True)
class Batch:
    """What one batch brought."""

    name: str
    items: int
    labels: int
    new_codes: tuple[str, ...]
    new_proposals: tuple[str, ...]
    codes: int  # distinct ones so far
    proposals: int
    is_full: bool  # else it is still being labelled, and cannot tell that nothing is new


@dataclass(frozen=True)
class Curve:
    """The batches in their order, and what is known of the labels in them."""

    taxonomy: Taxonomy  # in the version that the codes are of
    batches: tuple[Batch, ...]
    draws: int  # codes and proposals of items, each once for an item
    once: int  # codes and proposals that one item has
    undecided: int  # labels that wait to be given again
    unlabelled: int  # items that nobody has answered about

    @property
    def quiet(self) -> int:
        """How many full batches at the end brought nothing new."""
        quiet = 0
        for batch in reversed(self.batches):
            if batch.new_codes or batch.new_proposals:
                break
            quiet += batch.is_full
        return quiet

    @property
    def chance(self) -> float:
        """Percent: that the next code of an item is one which nobody has given yet."""
        return 100 * self.once / self.draws


# A round and an item of it.
_Item = tuple[str, str]


@dataclass(frozen=True)
class _Label:
    round: str
    item: str
    key: str  # the code, or a proposal as it is folded
    proposed: str  # its words, if it is a proposal


def rounds_of(reader: Reader, names: Sequence[str], sample: str) -> list[Round]:
    """The rounds that are meant, in their order: those named, those of a sample, or all."""
    rounds = [find_round(reader, name) for name in dict.fromkeys(names) or round_names(reader)]
    if sample:
        rounds = [each for each in rounds if each.sample == sample]
    if not rounds:
        of_sample = f" of sample {sample!r}" if sample else ""
        raise StudyError(
            f"there is no round{of_sample}", "Make one: annotation round, or annotation import."
        )
    taxonomies = sorted({each.taxonomy for each in rounds})
    if len(taxonomies) > 1:
        raise StudyError(
            f"the rounds have several taxonomies: {', '.join(taxonomies)}",
            "Name rounds of one of them.",
        )
    return rounds


def curve(
    reader: Reader, directory: Path, rounds: Sequence[Round], size: int | None = None
) -> Curve:
    """The curve over rounds, or over so many items at a time, in the highest known version."""
    versions = Versions.known(reader, directory, rounds[0].taxonomy)
    items, labels, undecided = _labels(reader, versions, rounds)
    if not labels:
        raise StudyError("these rounds have no labels", "Label them first.")
    sizes = {each.name: _size(reader, each) for each in rounds}
    # Raters of the same item do not draw anew.
    draws = Counter(key for _item, key in {(label.item, label.key) for label in labels})
    return Curve(
        versions.newest,
        tuple(_batches(items, labels, sizes, size)),
        draws.total(),
        sum(count == 1 for count in draws.values()),
        undecided,
        sum(sizes.values()) - len(items),
    )


def _size(reader: Reader, of: Round) -> int:
    return int(reader.value("SELECT count(*) FROM store.item WHERE round = ?", [of.name]))


def _labels(
    reader: Reader, versions: Versions, rounds: Sequence[Round]
) -> tuple[list[_Item], list[_Label], int]:
    """Items and labels in the order of rounds and of labelling; how many no version decides."""
    found: list[_Label] = []
    items: dict[_Item, None] = {}
    undecided = 0
    for each in rounds:
        rows = reader.rows(
            "SELECT answer_id, item_id, rater, taxonomy_version, code, proposed, "
            "CASE WHEN bool_and(labelled_at IS NOT NULL) OVER (PARTITION BY item_id) "
            "THEN min(labelled_at) OVER (PARTITION BY item_id) END AS begun, i.position "
            "FROM labels l JOIN items i USING (round, item_id) "
            "WHERE round = ? AND stage = 'independent' AND is_current "
            "ORDER BY begun NULLS LAST, i.position, item_id, rater, taxonomy_version, code",
            [each.name],
        ) or _decided(reader, each.name)
        answered = _last_versions(rows)
        heard: set[str] = set()  # an answer with several codes has one proposal
        for row in rows:
            items[each.name, row["item_id"]] = None
            if row["taxonomy_version"] != answered[row["item_id"], row["rater"]]:
                continue
            proposal = " ".join((row["proposed"] or "").split())
            if proposal and row["answer_id"] not in heard:
                heard.add(row["answer_id"])
                found.append(_Label(each.name, row["item_id"], f"~{folded(proposal)}", proposal))
            if row["code"] in SPECIAL:
                continue
            codes = decided(
                versions.alternatives(row["taxonomy_version"], versions.newest.version, row["code"])
            )
            undecided += codes is None
            found += [_Label(each.name, row["item_id"], code, "") for code in sorted(codes or ())]
    return list(items), found, undecided


def _decided(reader: Reader, round_name: str) -> list[dict[str, Any]]:
    """Of a round without labels of raters the final ones: some sheets have no others."""
    return reader.rows(
        "SELECT settlement_id AS answer_id, item_id, '' AS rater, f.taxonomy_version, code, "
        "NULL AS proposed FROM final_labels f JOIN items i USING (round, item_id) "
        "WHERE round = ? ORDER BY i.position, item_id, code",
        [round_name],
    )


def _last_versions(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Of each item and rater the highest version that was answered in."""
    last: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row["item_id"], row["rater"])
        before = last.get(key, row["taxonomy_version"])
        last[key] = max(before, row["taxonomy_version"], key=version_key)
    return last


def _batches(
    items: Sequence[_Item], labels: Sequence[_Label], sizes: Mapping[str, int], size: int | None
) -> list[Batch]:
    members: dict[str, list[_Item]] = {}
    for position, item in enumerate(items):
        start = position // size * size if size else 0
        name = f"{start + 1}-{min(start + size, len(items))}" if size else item[0]
        members.setdefault(name, []).append(item)
    of_items: dict[_Item, list[_Label]] = {}
    for label in labels:
        of_items.setdefault((label.round, label.item), []).append(label)
    batches: list[Batch] = []
    seen: dict[str, str] = {}
    for name, inside in members.items():
        given = [label for item in inside for label in of_items.get(item, ())]
        new: dict[str, str] = {}
        for label in given:
            if label.key not in seen:
                seen[label.key] = new[label.key] = label.proposed
        proposals = sum(bool(words) for words in seen.values())
        batches.append(
            Batch(
                name, len(inside), len(given),
                tuple(key for key, words in new.items() if not words),
                tuple(words for words in new.values() if words),
                len(seen) - proposals, proposals, len(inside) == (size or sizes[name]),
            )
        )  # fmt: skip
    return batches

"""Final labels: append-only, like labels. Another decision supersedes the one before.

Of an item one decision holds in each version of the taxonomy that it was settled in.

Everything that settles items (rules, discussions, a third rater, the final column of a sheet)
hands `Decision`s to `settle`, which can be called again with the same ones: nothing is doubled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.taxonomy_changes import version_key

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer

SettledBy = Literal["imported", "single", "unanimous", "majority", "negotiated", "adjudicated"]

# Of `store.settlement`, in SQL: those that no later one supersedes.
HOLDS = (
    "settlement_id NOT IN (SELECT supersedes FROM store.settlement WHERE supersedes IS NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The final codes of an item. Without codes, it opens the item again."""

    item_id: str
    codes: tuple[str, ...]
    settled_by: SettledBy
    rule: str  # in words
    taxonomy_version: str
    adjudicator: str | None = None
    comment: str | None = None
    settled_at: datetime | None = None


@dataclass(frozen=True)
class Settled:
    """What became of decisions."""

    new: int = 0
    changed: int = 0
    known: int = 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """The decision that holds for an item."""

    settlement_id: str
    decision: Decision


def settle(
    writer: Writer,
    round_name: str,
    decisions: Iterable[Decision],
    run: Run,
    *,
    may_change: bool = True,
) -> Settled:
    """Store decisions of a round, each unless it is the one that holds in its version.

    The run must have been recorded; items must be in the round. Unless it `may_change` them,
    other codes for a settled item are refused, and the same codes are known, however they came
    about. A decision without codes opens an item again that has some, in this version or before.
    """
    taxonomy = writer.value("SELECT taxonomy FROM store.round WHERE round = ?", [round_name])
    if taxonomy is None:
        raise StudyError(f"there is no round {round_name!r}", "See them: annotation status")
    artifacts = {
        row["item_id"]: row["artifact_id"]
        for row in writer.rows(
            "SELECT item_id, artifact_id FROM store.item WHERE round = ?", [round_name]
        )
    }
    holding = settlements_of(writer, round_name)
    rows: list[tuple[object, ...]] = []
    new = changed = known = 0
    for decision in decisions:
        item = decision.item_id
        if item not in artifacts:
            raise StudyError(
                f"{item} is no item of round {round_name!r}",
                f"See them: annotation export {typed(round_name)} FILE",
            )
        of_item = holding.setdefault(item, {})
        before = of_item.get(decision.taxonomy_version)
        if _is_known(before, decision, may_change=may_change, round_name=round_name):
            known += 1
            continue
        was_open = _is_open(of_item, decision.taxonomy_version)
        if not decision.codes and was_open:
            continue
        new += was_open
        changed += not was_open
        supersedes = before.settlement_id if before else None
        settlement_id = _digest(round_name, taxonomy, item, _said(decision), supersedes)
        of_item[decision.taxonomy_version] = Settlement(settlement_id, decision)
        rows.append((
            settlement_id, round_name, item, artifacts[item], taxonomy, decision.taxonomy_version,
            sorted(decision.codes), decision.settled_by, decision.rule, decision.adjudicator,
            decision.comment, decision.settled_at, supersedes, run.run_id,
        ))  # fmt: skip
    _insert(writer, rows)
    return Settled(new, changed, known)


def _is_open(of_item: Mapping[str, Settlement], version: str) -> bool:
    """Whether an item has no final codes in a version, nor in one before."""
    until = [each for each in of_item if version_key(each) <= version_key(version)]
    last = max(until, key=version_key, default=None)
    return last is None or not of_item[last].decision.codes


def settlements_of(reader: Reader | Writer, round_name: str) -> dict[str, dict[str, Settlement]]:
    """For each item of a round the decision that holds in each version that it was settled in.

    One without codes: the item is open again.
    """
    rows = reader.rows(
        "SELECT settlement.* FROM store.settlement JOIN store.round USING (round, taxonomy) "
        f"WHERE round = ? AND {HOLDS} ORDER BY item_id",
        [round_name],
    )
    found: dict[str, dict[str, Settlement]] = {}
    for row in rows:
        decision = Decision(
            row["item_id"], tuple(row["codes"]), row["settled_by"], row["rule"],
            row["taxonomy_version"], row["adjudicator"], row["comment"], row["settled_at"],
        )  # fmt: skip
        settlement = Settlement(row["settlement_id"], decision)
        found.setdefault(row["item_id"], {})[decision.taxonomy_version] = settlement
    return found


def _is_known(
    before: Settlement | None, decision: Decision, *, may_change: bool, round_name: str
) -> bool:
    if before is None or not before.decision.codes:
        return False
    there = before.decision
    if may_change:
        return _said(there) == _said(decision)
    if sorted(there.codes) != sorted(decision.codes):
        raise StudyError(
            f"{decision.item_id} has the final code {', '.join(sorted(there.codes))} in round "
            f"{round_name!r}; now it would be {', '.join(sorted(decision.codes)) or 'none'}",
            "Final labels are never overwritten by a sheet: choose another round name, or settle "
            f"it anew: annotation adjudicate {typed(round_name)} --from FILE. Nothing was stored.",
        )
    return True


def _said(decision: Decision) -> tuple[object, ...]:
    """What makes two decisions the same: not when it was made."""
    return (
        tuple(sorted(decision.codes)),
        decision.settled_by,
        decision.rule,
        decision.taxonomy_version,
        decision.adjudicator or "",
        decision.comment or "",
    )


def _insert(writer: Writer, rows: list[tuple[object, ...]]) -> None:
    import pyarrow as pa

    if not rows:
        return
    types = {"codes": pa.list_(pa.string()), "settled_at": pa.timestamp("us")}
    columns = zip(_COLUMNS, zip(*rows, strict=True), strict=True)
    table = {
        name: pa.array(list(values), type=types.get(name, pa.string())) for name, values in columns
    }
    pairs = zip(table["settled_by"].to_pylist(), table["rule"].to_pylist(), strict=True)
    table["by_hand"] = pa.array(
        by == "imported" or rule == "agreed in discussion" for by, rule in pairs
    )
    arrow_rows.insert(writer, "store.settlement", pa.table(table))


_COLUMNS = (
    "settlement_id", "round", "item_id", "artifact_id", "taxonomy", "taxonomy_version", "codes",
    "settled_by", "rule", "adjudicator", "comment", "settled_at", "supersedes", "run_id",
)  # fmt: skip


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

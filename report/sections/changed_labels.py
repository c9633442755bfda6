"""Labels that were changed after their gate, or after they had been settled: threats to a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sized

from faultatlas.data.old.results import Claim
from faultatlas.data.schema import literals
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material
from faultatlas.report.sections.numbers import count
from faultatlas.report.sections.signs import Sign, listed, sign

# The views have the decisions that hold; those before stay in the store.
_CHANGED = (
    "SELECT f.settlement_id, f.settled_by, min(e.settled_by) AS before "
    "FROM (SELECT DISTINCT settlement_id, settled_by FROM final_labels) f "
    "JOIN store.settlement s USING (settlement_id) JOIN store.settlement e "
    "ON (e.round, e.taxonomy, e.taxonomy_version, e.item_id) "
    "= (s.round, s.taxonomy, s.taxonomy_version, s.item_id) "
    "AND e.settlement_id IN (SELECT supersedes FROM store.settlement) AND len(e.codes) > 0 "
    "AND list_sort(e.codes) <> list_sort(s.codes) GROUP BY ALL ORDER BY f.settlement_id"
)
_MOST_LISTED = 1_000  # a query that names more decisions is too long to read


def signs(material: Material) -> Iterator[Sign]:
    """Those that are there."""
    yield from _after_gate(material)
    yield from _after_settling(material)


def _after_gate(material: Material) -> Iterator[Sign]:
    changed = material.reader.rows(
        "SELECT round, before, after FROM answers_changed_after_gate ORDER BY ALL"
    )
    if not changed:
        return
    ids = sorted({row[when] for row in changed for when in ("before", "after")})
    # A withdrawn answer has no label: what was said before stands for it.
    claim = count(
        material.reader,
        ("threats", "corrected"),
        "labels that were changed after their gate was decided",
        "SELECT round, item_id, artifact_id, rater, max(run_id) AS run_id FROM labels "
        f"WHERE answer_id IN ({literals(ids)}) GROUP BY ALL ORDER BY round, item_id, rater",
    )
    text = (
        f"{counted(len(changed), 'label')} of raters on their own {_were(changed)} changed after "
        "agreement had been measured."
    )
    yield sign("corrected", "Labels changed after the gate", text, "", *_listed(changed, claim))


def _after_settling(material: Material) -> Iterator[Sign]:
    """One, where an item has other final codes than it had."""
    changed = material.reader.rows(_CHANGED)
    if not changed:
        return
    ways = Counter(f"{row['before']}, then {row['settled_by']}" for row in changed)
    ids = [row["settlement_id"] for row in changed]
    claim = count(
        material.reader,
        ("threats", "resettled"),
        "items whose final label was changed after it had been settled",
        "SELECT DISTINCT round, item_id, artifact_id, settled_by, settlement_id, run_id "
        f"FROM final_labels WHERE settlement_id IN ({literals(ids)}) "
        "ORDER BY round, item_id, settlement_id",
    )
    what = listed(f"{way} {number:,}" for way, number in sorted(ways.items()))
    text = (
        f"{counted(len(changed), 'final label')} {_were(changed)} changed after being settled: "
        f"{what}. "
        "Numbers from before the change, such as those of a published package, can differ."
    )
    yield sign("resettled", "Final labels changed afterwards", text, "", *_listed(changed, claim))


def _were(changed: Sized) -> str:
    return "was" if len(changed) == 1 else "were"


def _listed(changed: Sized, claim: Claim) -> tuple[Claim, ...]:
    return (claim,) if len(changed) <= _MOST_LISTED else ()

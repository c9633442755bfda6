"""Final labels that were changed after they had been settled: a threat that labelling leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from data.sql_text import literals
from report.formatting import counted
from report.sections import Material
from report.sections.numbers import count
from report.sections.signs import Sign, listed, sign

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
    were = "was" if len(changed) == 1 else "were"
    text = (
        f"{counted(len(changed), 'final label')} {were} changed after being settled: {what}. "
        "Numbers from before the change, such as those of a published package, can differ."
    )
    claims = (claim,) if len(changed) <= _MOST_LISTED else ()
    yield sign("resettled", "Final labels changed afterwards", text, "", *claims)

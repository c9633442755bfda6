"""Which items of a sample a round takes: the next that no round with its taxonomy has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.rounds import Item
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

# Each artifact of the sample with the rounds that label it with the taxonomy.
_SAMPLED = """
WITH labelled AS (
    SELECT i.artifact_id,
        bool_or(r.sample = $1) AS is_planned,
        min(r.round) FILTER (r.origin = 'designed') AS designed,
        min(r.round) FILTER (r.origin <> 'designed') AS other
    FROM store.item i JOIN store.round r USING (round) WHERE r.taxonomy = $2 GROUP BY ALL
)
SELECT s.artifact_id, s.stratum, a.kind IS NOT NULL AS is_there,
    coalesce(is_planned, false) AS is_planned, designed, other
FROM store.sampled s LEFT JOIN artifacts a USING (artifact_id)
LEFT JOIN labelled USING (artifact_id)
WHERE s.sample = $1
ORDER BY s.position
"""


@dataclass(frozen=True)
class NextItems:
    """What is left of a sample, in its order."""

    items: tuple[Item, ...]
    missing: tuple[str, ...]  # no longer in the study
    elsewhere: tuple[str, ...]  # rounds of other samples, one for each item left out
    known: dict[str, str]  # items that an imported round has, too

    def remarks(self, taken: list[Item]) -> list[str]:
        """What a reader of the labels must know."""
        found = []
        if self.elsewhere:
            them = counted(len(self.elsewhere), "artifact")
            rounds = ", ".join(sorted({*self.elsewhere}))
            found.append(
                f"{them} of the sample left out, which rounds of other samples label with this "
                f"taxonomy: {rounds}"
            )
        again = [self.known[item.item_id] for item in taken if item.item_id in self.known]
        if again:
            found.append(
                f"{counted(len(again), 'item')} labelled again, which other rounds have with this "
                f"taxonomy: {', '.join(sorted({*again}))}"
            )
        return found


def next_items(reader: Reader, sample: str, taxonomy: str) -> NextItems:
    """What no planned round with this taxonomy has yet, whatever its sample."""
    rows = reader.rows(_SAMPLED, [sample, taxonomy])
    left = [row for row in rows if not row["is_planned"] and row["designed"] is None]
    there = [row for row in left if row["is_there"]]
    if not there:
        raise StudyError(
            f"sample {sample!r} has nothing left that rounds with {taxonomy} do not have",
            f"Draw more: annotation sample {typed(sample)} --extend --size N",
        )
    return NextItems(
        tuple(Item(row["artifact_id"], row["artifact_id"], row["stratum"]) for row in there),
        tuple(row["artifact_id"] for row in left if not row["is_there"]),
        tuple(row["designed"] for row in rows if row["designed"] and not row["is_planned"]),
        {row["artifact_id"]: row["other"] for row in there if row["other"]},
    )

"""What a decision on a gate leaves in a study: who went on in spite of it, who changed labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

GONE_ON = "not passed, and round "  # what the reason of who goes on in spite of it begins with

# By when a run brought it: a sheet says of few labels when they were given.
_CHANGED = """
WITH decision AS (
    SELECT round, min(decided_at) AS decided FROM store.gate
    WHERE stage = 'independent' AND items > 0 GROUP BY round
), said AS (
    SELECT a.round, item_id, rater, codes, answer_id, supersedes, started_at <= decided AS is_before
    FROM store.answer a JOIN store.run USING (run_id) JOIN decision USING (round)
    JOIN store.round r ON r.round = a.round AND r.taxonomy_version = a.taxonomy_version
    WHERE stage = 'independent'
), known AS (
    SELECT * FROM said WHERE is_before AND answer_id NOT IN
        (SELECT supersedes FROM said WHERE is_before AND supersedes IS NOT NULL)
), now AS (
    SELECT * FROM said WHERE answer_id NOT IN
        (SELECT supersedes FROM said WHERE supersedes IS NOT NULL)
)
SELECT round, known.answer_id AS before, now.answer_id AS after
FROM known JOIN now USING (round, item_id, rater)
WHERE known.codes <> now.codes ORDER BY ALL
"""


@dataclass(frozen=True)
class Changed:
    """What a rater said of an item before the gate of a round, and what she says now."""

    round: str
    before: str  # ids of answers
    after: str


def changed_after_gate(reader: Reader) -> list[Changed]:
    """Independent answers that are not what they were when the first gate was decided on them.

    Those that came later, and those that were given in another version, are no changes.
    """
    return [Changed(**row) for row in reader.rows(_CHANGED)]

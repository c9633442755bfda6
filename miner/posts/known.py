"""Questions that are not selected, but that the study may have from before they changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.data.old.records import Rows
    from faultatlas.data.study import Reader


def without_unknown(reader: Reader, rows: Rows) -> Rows:
    """The rows without the questions that are only of interest where the study has them."""
    if not rows.only_known_posts:
        return rows
    found = reader.rows(
        "SELECT artifact_id FROM store.post WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
        [rows.only_known_posts],
    )
    unknown = {*rows.only_known_posts} - {row["artifact_id"] for row in found}
    return replace(
        rows,
        posts=[row for row in rows.posts if row.artifact_id not in unknown],
        replies=[row for row in rows.replies if row.artifact_id not in unknown],
        all_replies_of={
            artifact: comments
            for artifact, comments in rows.all_replies_of.items()
            if artifact not in unknown
        },
    )

"""A sheet for one rater to fill in: what she is to label, in her own order, and the codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultatlas.annotation.labels import SPECIAL
from faultatlas.annotation.rounds import require_rater
from faultatlas.annotation.sheets.exporting import About, Exported, items_of, long_rows
from faultatlas.annotation.sheets.layout import LONG

if TYPE_CHECKING:
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy import Taxonomy


def for_rater(reader: Reader, of: Round, rater: str, stage: Stage, taxonomy: Taxonomy) -> Exported:
    """Her items with what she said so far, and nothing of what others said."""
    items = _assigned(reader, of, rater)
    said = {
        row[0]: row
        for row in long_rows(reader, of, (stage,))
        if row[_RATER] == rater and row[-1] == taxonomy.version
    }
    blank = ("", "", "", "", "", taxonomy.version)
    rows = [said.get(about.item, (*about, rater, stage, *blank)) for about in items]
    abstracts = _abstracts(reader, of)
    if abstracts:
        rows = [(*row, abstracts.get(row[0], "")) for row in rows]
    selectable = {node.code for node in taxonomy.selectable}
    legend = [
        (node.code if node.code in selectable else "", node.name, node.definition, node.not_this)
        for node in taxonomy.nodes
    ]
    special = [(code, text, "", "") for code, text in SPECIAL.items()]
    return Exported(
        (*LONG, "abstract") if abstracts else LONG,
        tuple(rows),
        legend=(("code", "name", "definition", "not"), *legend, *special),
        choices=tuple(node.code for node in taxonomy.selectable)
        if taxonomy.choice == "single"
        else (),
    )


_RATER = LONG.index("rater")
_LONGEST_ABSTRACT = 10_000  # characters


def _abstracts(reader: Reader, of: Round) -> dict[str, str]:
    """Abstracts of papers, which a rater needs to judge them; not where she goes by titles."""
    rows = reader.rows(
        "SELECT item_id, left(abstract, $1) AS abstract FROM store.item "
        "JOIN store.paper USING (artifact_id) WHERE round = $2 AND abstract IS NOT NULL "
        "AND round NOT IN (SELECT round FROM store.screening WHERE step = 'title')",
        [_LONGEST_ABSTRACT, of.name],
    )
    return {row["item_id"]: row["abstract"] for row in rows}


def _assigned(reader: Reader, of: Round, rater: str) -> Sequence[About]:
    """What a rater is to label, in her own order; without assignments, everything."""
    require_rater(of, rater)
    items = items_of(reader, of)
    if not reader.value("SELECT 1 FROM store.assignment WHERE round = ?", [of.name]):
        return items
    rows = reader.rows(
        "SELECT item_id FROM store.assignment WHERE round = ? AND rater = ? ORDER BY position",
        [of.name, rater],
    )
    known = {about.item: about for about in items}
    return [known[row["item_id"]] for row in rows]

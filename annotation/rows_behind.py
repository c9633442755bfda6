"""The rows behind numbers of labelling, as SQL on the study's views: what `report trace` lists."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.data.schema import literal, literals

_COLUMNS = (
    "label_id, round, item_id, artifact_id, rater, taxonomy_version, code, stage, origin, run_id"
)
_ORDER = "ORDER BY round, item_id, rater, label_id"
_SEVERAL = "QUALIFY count(DISTINCT rater) OVER (PARTITION BY round, item_id) > 1"


def compared_labels(
    rounds: Sequence[str],
    *,
    discussed: bool = False,
    raters: Sequence[str] = (),
    stratum: str | None = None,
) -> str:
    """The labels of items that several raters labelled: all of them, or of some raters."""
    where = _given(rounds, discussed=discussed)
    if raters:
        where += f" AND rater IN ({literals(raters)})"
    if stratum is not None:
        where += (
            " AND (round, item_id) IN (SELECT (round, item_id) FROM items "
            f"WHERE stratum = {literal(stratum)})"
        )
    return f"SELECT {_COLUMNS} FROM labels WHERE {where} {_SEVERAL} {_ORDER}"


def labels_beside_final(round_name: str, rater: str) -> str:
    """The labels of a rater on items with a final label."""
    return (
        f"SELECT {_COLUMNS} FROM labels WHERE {_given([round_name])} "
        f"AND rater = {literal(rater)} AND item_id IN "
        f"(SELECT item_id FROM final_labels WHERE round = {literal(round_name)}) {_ORDER}"
    )


def labels_beside_others(round_name: str, rater: str) -> str:
    """The labels of a rater, with those that the others gave to the same items."""
    given = _given([round_name])
    return (
        f"SELECT {_COLUMNS} FROM labels WHERE {given} AND item_id IN "
        f"(SELECT item_id FROM labels WHERE {given} AND rater = {literal(rater)}) "
        f"{_SEVERAL} {_ORDER}"
    )


def labels_or_final(rounds: Sequence[str], *, with_text: bool = False) -> str:
    """What raters said on their own in rounds; of items that nobody labelled, the final codes."""
    text = (
        "artifact_id IN (SELECT artifact_id FROM artifacts "
        "WHERE title IS NOT NULL OR body IS NOT NULL)"
    )
    kept = f" AND {text}" if with_text else ""
    given = _given(rounds)
    return (
        f"SELECT round, item_id, artifact_id, rater, code, origin, run_id FROM labels "
        f"WHERE {given}{kept} UNION ALL "
        "SELECT round, item_id, artifact_id, NULL, code, 'final: ' || settled_by, run_id "
        f"FROM final_labels WHERE round IN ({literals(rounds)}) AND (round, item_id) NOT IN "
        f"(SELECT (round, item_id) FROM labels WHERE {given}){kept} ORDER BY ALL"
    )


def _given(rounds: Sequence[str], *, discussed: bool = False) -> str:
    stages = "('independent', 'negotiated')" if discussed else "('independent')"
    return f"round IN ({literals(rounds)}) AND stage IN {stages} AND is_current"

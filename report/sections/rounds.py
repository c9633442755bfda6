"""Who labelled what: rounds, raters, overlap, blindness, taxonomies, and how items were settled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from faultatlas.data.old.results import Claim, Column, Table
from faultatlas.data.schema import literal
from faultatlas.report.formatting import counted, day
from faultatlas.report.sections import Material, Section
from faultatlas.report.sections.numbers import count

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

POSITION = 40
KEY = "rounds"

_SETTLED = {
    "imported": "as the sheet says",
    "single": "one rater",
    "unanimous": "all raters agreed",
    "majority": "most raters agreed",
    "negotiated": "after discussion",
    "adjudicated": "a third decided",
}
_WORK = """
SELECT a.round, a.rater, count(*) AS assigned, count(l.item_id) AS labelled,
    median(l.lead_time_s) AS median_s, avg(l.confidence) AS confidence,
    min(l.labelled_at)::VARCHAR AS first, max(l.labelled_at)::VARCHAR AS last
FROM (
    SELECT round, item_id, rater FROM assignments
    UNION SELECT round, item_id, rater FROM labels WHERE stage = 'independent'
) a LEFT JOIN (
    SELECT round, item_id, rater, max(lead_time_s) AS lead_time_s, max(confidence) AS confidence,
        max(labelled_at) AS labelled_at
    FROM labels WHERE stage = 'independent' AND is_current GROUP BY ALL
) l USING (round, item_id, rater)
GROUP BY ALL ORDER BY ALL
"""


def section(material: Material) -> Section | None:
    """The rounds; None without any."""
    reader = material.reader
    rounds = reader.rows("SELECT * FROM rounds ORDER BY created_at, run_id, round")
    settled = reader.rows(
        "SELECT round, settled_by, count(DISTINCT item_id) AS items FROM final_labels "
        "GROUP BY ALL ORDER BY ALL"
    )
    if not rounds and not settled:
        return None
    versions = reader.rows(
        "SELECT taxonomy, taxonomy_version, count(DISTINCT (round, item_id)) AS items, "
        "count(*) AS labels FROM labels GROUP BY ALL ORDER BY ALL"
    )
    tables = (
        _rounds(rounds),
        _work(reader.rows(_WORK)),
        _settled(settled),
        _versions(versions),
    )
    return Section(
        KEY,
        "Raters and rounds",
        text=tuple(map(_told, rounds)),
        claims=tuple(_claims(reader, rounds)),
        tables=tuple(table for table in tables if table.rows),
        notes=(
            (
                "Blind: whether raters could see each other's labels. In a project of their own on "
                "one server they could look; on a server of their own they could not; of sheets "
                "nothing is known."
            ),
            "A pilot or a round of training is a round before another one, which its gate opens.",
        ),
    )


def _told(each: dict[str, Any]) -> str:
    raters = len(each["raters"] or ())
    overlap = each["overlap"]
    told = (
        f"{each['round']}: {counted(each['item_count'], 'item')}, {counted(raters, 'rater')}, "
        f"taxonomy {each['taxonomy']} {each['taxonomy_version']}"
    )
    if overlap is not None and raters > 1:
        told += f", {overlap:g} % of the items for every rater"
    if each["after_round"]:
        told += f"; begun after the gate of {each['after_round']}"
    if each["threshold"] is not None and each["statistic"]:
        told += f"; to be reached: {each['statistic']} {each['threshold']:g}"
    return f"{told}."


def _claims(reader: Reader, rounds: list[dict[str, Any]]) -> Iterator[Claim]:
    for each in rounds:
        name = each["round"]
        where = f"WHERE round = {literal(name)}"
        yield count(
            reader,
            (KEY, name, "items"),
            f"items of the round {name}",
            f"SELECT item_id, artifact_id, run_id FROM items {where} ORDER BY item_id",
        )
        yield count(
            reader,
            (KEY, name, "settled"),
            f"items of the round {name} with a final label",
            "SELECT DISTINCT item_id, artifact_id, settled_by, run_id FROM final_labels "
            f"{where} ORDER BY item_id, artifact_id, settled_by, run_id",
        )


def _rounds(rounds: list[dict[str, Any]]) -> Table:
    return Table(
        "rounds",
        "Rounds",
        (
            Column("round", "Round"),
            Column("origin", "Origin"),
            Column("sample", "Sample"),
            Column("taxonomy", "Taxonomy"),
            Column("items", "Items", "count"),
            Column("raters", "Raters", "count"),
            Column("overlap", "Overlap", "percent"),
            Column("blindness", "Blind"),
            Column("statistic", "Statistic"),
            Column("threshold", "Threshold", "number"),
            Column("suggestions", "Suggestions shown"),
            Column("after", "After"),
        ),
        tuple(
            (
                each["round"], each["origin"], each["sample"],
                f"{each['taxonomy']} {each['taxonomy_version']}", each["item_count"],
                len(each["raters"] or ()), each["overlap"], each["blindness"] or "not known",
                each["statistic"], each["threshold"], each["suggestions"], each["after_round"],
            )
            for each in rounds
        ),
    )  # fmt: skip


def _work(rows: list[dict[str, Any]]) -> Table:
    return Table(
        "raters",
        "What each rater did",
        (
            Column("round", "Round"),
            Column("rater", "Rater"),
            Column("assigned", "Items", "count"),
            Column("labelled", "Labelled", "count"),
            Column("minutes", "Median minutes", "number"),
            Column("confidence", "Mean confidence", "number"),
            Column("first", "First label"),
            Column("last", "Last label"),
        ),
        tuple(
            (
                row["round"], row["rater"], row["assigned"], row["labelled"],
                None if row["median_s"] is None else row["median_s"] / 60, row["confidence"],
                day(row["first"]) or None, day(row["last"]) or None,
            )
            for row in rows
        ),
        "Labels of raters on their own, before any discussion.",
        grouped_by="round",
    )  # fmt: skip


def _settled(rows: list[dict[str, Any]]) -> Table:
    return Table(
        "settled",
        "How items got their final label",
        (
            Column("round", "Round"),
            Column("settled_by", "Settled"),
            Column("how", "How"),
            Column("items", "Items", "count"),
        ),
        tuple(
            (row["round"], row["settled_by"], _SETTLED.get(row["settled_by"]), row["items"])
            for row in rows
        ),
        grouped_by="round",
    )


def _versions(rows: list[dict[str, Any]]) -> Table:
    return Table(
        "taxonomies",
        "Taxonomies and their versions",
        (
            Column("taxonomy", "Taxonomy"),
            Column("version", "Version"),
            Column("items", "Items", "count"),
            Column("labels", "Labels", "count"),
        ),
        tuple(
            (row["taxonomy"], row["taxonomy_version"], row["items"], row["labels"]) for row in rows
        ),
    )

"""What the study has of papers, for the end of a command and for `miner status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.report.formatting import minute

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

_COUNTS = """
SELECT
    (SELECT count(*) FROM store.paper) AS papers,
    (SELECT count(abstract) FROM store.paper) AS with_abstract,
    (SELECT count(doi) FROM store.paper) AS with_doi,
    (SELECT count(*) FROM store.paper_record) AS records,
    (SELECT count(matched_by) FROM store.paper_record) AS duplicates,
    (SELECT count(*) FROM store.known_paper) AS known
"""
# A source is an index with one or many searches, or a file.
_SOURCES = """
WITH lone AS (
    SELECT artifact_id FROM store.paper_record GROUP BY ALL HAVING count(DISTINCT source) = 1
),
said AS (
    SELECT
        source, count(DISTINCT nullif(search, '')) AS searches, count(*) AS records,
        count(DISTINCT artifact_id) AS papers,
        count(DISTINCT artifact_id) FILTER (artifact_id IN (SELECT artifact_id FROM lone))
            AS only_here,
        max(fetched_at) AS last_fetch
    FROM store.paper_record GROUP BY ALL
),
spent AS (
    SELECT
        substr(project, 7) AS source, sum(requests)::BIGINT AS requests,
        arg_max(quota_left, run_id) AS quota_left, arg_max(quota_limit, run_id) AS quota_limit
    FROM store.traffic WHERE starts_with(project, 'paper:') GROUP BY ALL
),
walks AS (
    SELECT substr(project, 7) AS source, count(*) FILTER (NOT is_complete) AS unfinished
    FROM store.checkpoint WHERE starts_with(project, 'paper:') GROUP BY ALL
)
SELECT
    source, coalesce(searches, 0) AS searches, coalesce(records, 0) AS records,
    coalesce(papers, 0) AS papers, coalesce(only_here, 0) AS only_here,
    coalesce(unfinished, 0) AS unfinished, coalesce(requests, 0) AS requests, quota_left,
    quota_limit, last_fetch
FROM said FULL JOIN (SELECT * FROM walks FULL JOIN spent USING (source)
    WHERE source <> 'files') USING (source)
ORDER BY source
"""


def count(study: Study) -> dict[str, int]:
    """Papers and records of the whole study."""
    with study.reading() as reader:
        (found,) = reader.rows(_COUNTS)
    return {name: int(value) for name, value in found.items()}


def sources(reader: Reader) -> list[dict[str, Any]]:
    """Each index and file with its records and how far it was read."""
    return reader.rows(_SOURCES)


def sources_table(found: dict[str, Any]) -> Table | None:
    """The same for a reader."""
    if not found["papers"]:
        return None
    columns = (
        Column("source", "Source"),
        Column("searches", "Searches", "count"),
        Column("records", "Records", "count"),
        Column("papers", "Papers", "count"),
        Column("only_here", "Only here", "count"),
        Column("unfinished", "Unfinished", "count"),
        Column("requests", "Requests", "count", aside=True),
        Column("quota_left", "Quota left", "count", aside=True),
        Column("quota_limit", "Quota", "count", aside=True),
        Column("last_fetch", "Last fetch", "code", aside=True),
    )
    shown = [row | {"last_fetch": minute(row["last_fetch"])} for row in found["papers"]]
    note = "Only here: papers that no other source gave. Unfinished: searches to go on with."
    return Table("papers", "Papers", columns, rows_of(columns, shown), note)

"""The sites that a study has posts of, for `miner status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.report.formatting import day, minute

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_SITES = """
WITH of_posts AS (
    SELECT
        site, count(*) AS questions, count(accepted_answer_id) AS accepted,
        max(updated_at) AS newest_update,
        count(*) FILTER (artifact_id IN (SELECT artifact_id FROM store.departure)) AS gone
    FROM store.post GROUP BY ALL
),
of_replies AS (
    SELECT
        coalesce(nullif(regexp_extract(comment_id, '^stackoverflow:([^/]+\\.[^/]+)/', 1), ''),
            'stackoverflow.com') AS site,
        count(*) FILTER (is_answer) AS answers, count(*) FILTER (NOT is_answer) AS comments
    FROM store.reply WHERE gone_at IS NULL GROUP BY ALL
),
spent AS (
    SELECT
        substr(project, 15) AS site, sum(requests)::BIGINT AS requests,
        arg_max(quota_left, run_id) AS quota_left, arg_max(quota_limit, run_id) AS quota_limit
    FROM store.traffic WHERE starts_with(project, 'stackoverflow:') GROUP BY ALL
),
walks AS (
    SELECT
        substr(project, 15) AS site, count(*) FILTER (NOT is_complete) AS unfinished,
        max(updated_at) AS last_fetch
    FROM store.checkpoint WHERE starts_with(project, 'stackoverflow:') GROUP BY ALL
),
files AS (
    SELECT
        split_part(substr(stream, 15), ' ', 1) AS site,
        count(*) FILTER (NOT is_complete) AS unread
    FROM store.dump_read GROUP BY ALL
)
SELECT
    site, coalesce(questions, 0) AS questions, coalesce(accepted, 0) AS accepted,
    coalesce(answers, 0) AS answers, coalesce(comments, 0) AS comments,
    coalesce(gone, 0) AS gone, newest_update, coalesce(requests, 0) AS requests, quota_left,
    quota_limit, last_fetch, (coalesce(unfinished, 0) + coalesce(unread, 0))::BIGINT AS unfinished
FROM of_posts
FULL JOIN of_replies USING (site)
FULL JOIN walks USING (site)
FULL JOIN files USING (site)
LEFT JOIN spent USING (site)
ORDER BY site
"""


def sites(reader: Reader) -> list[dict[str, Any]]:
    """Each site with its posts and how far they were fetched."""
    return reader.rows(_SITES)


def sites_table(found: dict[str, Any]) -> Table | None:
    """The same for a reader."""
    if not found["sites"]:
        return None
    columns = (
        Column("site", "Site"),
        Column("questions", "Questions", "count"),
        Column("accepted", "Accepted", "count"),
        Column("answers", "Answers", "count"),
        Column("comments", "Comments", "count"),
        Column("gone", "Gone", "count"),
        Column("unfinished", "Unfinished", "count"),
        Column("newest_update", "Updated", "code"),
        Column("requests", "Requests", "count", aside=True),
        Column("quota_left", "Quota left", "count", aside=True),
        Column("quota_limit", "Quota", "count", aside=True),
        Column("last_fetch", "Last fetch", "code", aside=True),
    )
    shown = [
        row
        | {
            "newest_update": day(row["newest_update"]),
            "last_fetch": minute(row["last_fetch"]),
        }
        for row in found["sites"]
    ]
    rows = rows_of(columns, shown)
    note = "Accepted: questions with an accepted answer. Unfinished: lists and files to go on with."
    return Table("sites", "Posts", columns, rows, note)

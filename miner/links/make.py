"""Links from references, timelines and aliases: all of them anew, and only differences written.

Aliases come and go, so that a link cannot be made for good when its text is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import parse, resolve

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer

COMPUTED = "found_in IN ('text', 'hash')"  # duplicates that were computed

_SAID = """
CREATE TEMP TABLE said AS
SELECT from_id, named, kind, evidence, found_in, text_id, position FROM store.reference
UNION ALL
SELECT
    other_id, event.artifact_id,
    CASE WHEN event.kind <> 'closed' THEN 'mentions' WHEN is_pull THEN 'part of' ELSE 'fixes' END,
    event.kind, 'timeline', event_id, 0
FROM store.issue_event AS event LEFT JOIN store.issue USING (artifact_id)
WHERE event.kind IN ('closed', 'cross-referenced', 'referenced') AND other_id IS NOT NULL
UNION ALL
SELECT artifact_id, other_id, 'duplicate', kind, 'timeline', event_id, 0
FROM store.issue_event WHERE kind = 'marked_as_duplicate' AND other_id IS NOT NULL
"""
# What the study has; a transferred issue is what it became.
_STORED = """
CREATE TEMP TABLE stored AS
SELECT artifact_id FROM store.issue WHERE artifact_id NOT IN (
    SELECT artifact_id FROM store.departure WHERE reason = 'transferred')
UNION ALL SELECT artifact_id FROM store.commit
UNION ALL SELECT artifact_id FROM store.post
"""
_NAMES = """
CREATE TEMP TABLE name AS
SELECT id, id AS means FROM (SELECT from_id AS id FROM said UNION SELECT named FROM said)
WHERE id NOT IN (SELECT artifact_id FROM stored)
"""
_REPOSITORY = (
    "CASE WHEN starts_with(id, 'gitee:') AND len(string_split(id, '/')) = 2 THEN 'gitee.com/' "
    "ELSE '' END || regexp_extract(id, '^[a-z]+:([^#@]+)[#@]', 1)"
)
# A hash is that of the named project's commit, or else of the only project that has it.
_COMMITS = """
CREATE TEMP TABLE commit_name AS
SELECT
    id, CASE WHEN count(*) FILTER (project = own) = 1
        THEN any_value(artifact_id) FILTER (project = own)
        WHEN count(*) = 1 THEN any_value(artifact_id) END AS means
FROM (
    SELECT
        id, regexp_extract(means, '^git:(.+)@', 1) AS own,
        regexp_extract(means, '@([0-9a-f]+)$', 1) AS digits
    FROM name WHERE starts_with(means, 'git:')
        AND means NOT IN (SELECT artifact_id FROM stored)
) JOIN store.commit ON left(sha, 7) = left(digits, 7) AND starts_with(sha, digits)
WHERE len(digits) >= 7
GROUP BY id
"""
_FOUND = """
CREATE TEMP TABLE found AS
WITH meant AS (
    SELECT
        coalesce(a.means, from_id) AS from_id, coalesce(b.means, named) AS to_id, kind, evidence,
        found_in, text_id, position
    FROM said LEFT JOIN name AS a ON a.id = from_id LEFT JOIN name AS b ON b.id = named
), pull AS (
    SELECT artifact_id FROM store.issue WHERE is_pull
    UNION SELECT to_id FROM meant WHERE kind = 'part of' AND found_in = 'tracker'
    UNION SELECT to_id FROM meant WHERE regexp_matches(to_id, '^gitee:.*#[0-9]+$')
), sorted AS (
    SELECT
        from_id, to_id, evidence, found_in, text_id, position,
        CASE WHEN kind = 'part of' AND to_id NOT IN (SELECT artifact_id FROM pull)
            THEN 'mentions' ELSE kind END AS kind
    FROM meant WHERE from_id <> to_id
)
SELECT
    from_id, to_id, kind, arg_min(evidence, (text_id, position)) AS evidence, found_in,
    CASE WHEN kind = 'duplicate' THEN 1.0::DOUBLE END AS score
FROM sorted GROUP BY from_id, to_id, kind, found_in
"""
# One place that says more than a mention is not a mention as well.
_WEAKER = """
DELETE FROM found WHERE kind = 'mentions' AND EXISTS (
    SELECT 1 FROM found AS other WHERE other.from_id = found.from_id
    AND other.to_id = found.to_id AND other.found_in = found.found_in AND other.kind <> 'mentions')
"""
# A commit closes what its pull request closes.
_VIA = """
INSERT INTO found
SELECT
    part.from_id, closed.to_id, 'fixes', min(part.evidence || '; ' || closed.evidence),
    'via ' || part.to_id, NULL
FROM found AS part JOIN found AS closed ON part.to_id = closed.from_id
WHERE part.kind = 'part of' AND closed.kind = 'fixes' AND part.from_id <> closed.to_id
GROUP BY part.from_id, closed.to_id, part.to_id
"""
_SAME = "SELECT from_id, to_id, kind, found_in FROM"


def make_links(writer: Writer, run_id: str) -> dict[str, int]:
    """Bring `store.link` to what texts and trackers say now; what was new, changed and removed."""
    for statement in (_SAID, _STORED, _NAMES):
        writer.execute(statement)
    _follow_aliases(writer)
    writer.execute(_COMMITS)
    writer.execute(
        "UPDATE name SET means = commit_name.means FROM commit_name "
        "WHERE commit_name.id = name.id AND commit_name.means IS NOT NULL"
    )
    for statement in (_FOUND, _WEAKER, _VIA):
        writer.execute(statement)
    return write_links(writer, "found", f"NOT {COMPUTED}", run_id)


def write_links(writer: Writer, table: str, scope: str, run_id: str) -> dict[str, int]:
    """Make the links of a scope those of a table; a row that is the same stays untouched."""
    keys = "(from_id, to_id, kind, found_in)"
    gone = f"{scope} AND {keys} NOT IN ({_SAME} {table})"
    removed = writer.value(f"SELECT count(*) FROM store.link WHERE {gone}")
    if removed:
        writer.execute(f"DELETE FROM store.link WHERE {gone}")
    writer.execute(
        f"CREATE OR REPLACE TEMP TABLE differing AS SELECT * FROM {table} EXCEPT "
        "SELECT from_id, to_id, kind, evidence, found_in, score FROM store.link"
    )
    written = writer.value("SELECT count(*) FROM differing")
    changed = writer.value(f"SELECT count(*) FROM differing WHERE {keys} IN ({_SAME} store.link)")
    if written:
        writer.execute(
            "INSERT INTO store.link SELECT *, ? FROM differing "
            "ON CONFLICT (from_id, to_id, kind, found_in) DO UPDATE SET "
            "evidence = excluded.evidence, score = excluded.score, run_id = excluded.run_id",
            [run_id],
        )
    return {"new": written - changed, "changed": changed, "removed": removed}


def _follow_aliases(writer: Writer) -> None:
    """Let old names mean what they are names of now."""
    index = _index(writer)
    if not index:
        return
    writer.execute("CREATE TEMP TABLE renamed (old VARCHAR)")
    old = sorted(index)
    writer.execute("INSERT INTO renamed SELECT unnest(?::VARCHAR[])", [old])
    rows = writer.rows(
        f"SELECT id FROM name WHERE id IN (SELECT old FROM renamed) "
        f"OR {_REPOSITORY} IN (SELECT old FROM renamed)"
    )
    names = [row["id"] for row in rows]
    writer.execute(
        "UPDATE name SET means = known.means FROM "
        "(SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS means) AS known "
        "WHERE known.id = name.id",
        [names, [_meaning(name, index) for name in names]],
    )


def _index(reader: Reader) -> dict[str, str]:
    """The aliases that may matter: answers are many, so only those that something names."""
    rows = reader.rows(
        "SELECT alias, artifact_id FROM artifact_aliases WHERE kind IN "
        "('repository', 'transfer', 'short_hash') OR (kind = 'answer' AND alias IN "
        "(SELECT id FROM name)) ORDER BY alias, artifact_id DESC"
    )
    return {row["alias"]: row["artifact_id"] for row in rows}


def _meaning(name: str, index: dict[str, str]) -> str:
    try:
        found = resolve(name, index)
        parse(found)
    except StudyError:  # aliases in a circle, or one that leads to no artifact
        return name
    return found

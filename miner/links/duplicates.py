"""Texts that are nearly the same, as `duplicate` links with a score: suggestions, nothing more.

Artifacts of one kind are compared by the sets of their three-word sequences. The score is the
exact Jaccard similarity. Which pairs to compare is found by prefix filtering (Chaudhuri, Ganti
and Kaushik 2006; Bayardo, Ma and Srikant 2007): two sets that are similar enough have one of
their rarest members in common, so that pairs without one need not be looked at.

Templates make strangers look alike, so sequences that many texts of a project have are left out.
All of it happens in a database of its own, which uses the disk where memory does not do: it may
take a minute, in which others want to have the study.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.miner.links import THRESHOLD
from faultatlas.miner.links.make import write_links

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer

VERSION = 1
KINDS = ("issue", "pull", "post", "commit")
MATCHES = 5  # of one text, the best

_WORDS = 20_000  # of one text; what follows is a log
_CHARACTERS = 400_000
_LEAST_WORDS = 4  # fewer say nothing, even if they are the same
_LEAST_SEQUENCES = 10  # that are not of a template; of fewer only the whole text is compared
# A sequence is of a template when more texts of its project have it than both of these.
_TEMPLATE_TEXTS = 5
_TEMPLATE_SHARE = 0.002
_ROUNDING = 1e-9

# Tags of HTML and comments in Markdown are no words.
_SPLIT = (
    r"regexp_extract_all(lower(regexp_replace({}, '<[^<>]*>', ' ', 'g')), '[\p{{L}}\p{{N}}_]+')"
)
_POPULATION = """
SELECT
    a.artifact_id, a.project, a.created_at, sha, author_epoch, c.author,
    CASE WHEN a.kind = 'commit' THEN NULL ELSE a.title END AS title, a.body
FROM artifacts AS a LEFT JOIN store.commit AS c ON a.artifact_id = c.artifact_id
WHERE a.kind = ? AND a.gone_at IS NULL
"""
_COPIED = f"""
SELECT
    * EXCLUDE (title, body),
    left(coalesce(title, '') || chr(10) || coalesce(body, ''), {_CHARACTERS}) AS text
FROM ({_POPULATION})
"""
_COPY = """
CREATE TABLE copied (
    artifact_id VARCHAR, project VARCHAR, created_at TIMESTAMP, sha VARCHAR, author_epoch BIGINT,
    author VARCHAR, text VARCHAR)
"""
# Numbered from the oldest on: a link leads from the higher number to the lower one. A cherry
# pick keeps author and time, which tells it from another "fix typo".
_TEXTS = f"""
CREATE TABLE doc AS
SELECT
    n, artifact_id, project, sha, len(words) AS size,
    hash(words, CASE WHEN sha IS NULL THEN NULL ELSE (author, author_epoch) END) AS whole,
    list_distinct([hash(words[i], words[i + 1], words[i + 2]) for i in range(1, size - 1)]) AS parts
FROM (
    SELECT
        *, row_number() OVER (ORDER BY created_at NULLS LAST, artifact_id) AS n,
        ({_SPLIT.format("text")})[:{_WORDS}] AS words
    FROM copied
)
"""
_LIMITS = f"""
CREATE TABLE limits AS
SELECT project, greatest({_TEMPLATE_TEXTS}, count(*) * {_TEMPLATE_SHARE}) AS most
FROM doc GROUP BY project
"""
_PAIRS = """
CREATE TABLE pair (
    newer BIGINT, older BIGINT, score DOUBLE, evidence VARCHAR, found_in VARCHAR)
"""
# The same commit in a fork; the copies take no part in what follows.
_SAME_HASH = """
INSERT INTO pair
SELECT n, first, 1, 'same hash', 'hash'
FROM (SELECT n, min(n) OVER (PARTITION BY sha) AS first FROM doc WHERE sha IS NOT NULL)
WHERE n <> first
"""
_SAME_TEXT = f"""
INSERT INTO pair
SELECT n, first, 1, 'same text', 'text'
FROM (
    SELECT
        n, size, project, sha, min(n) OVER same AS first, count(*) OVER same AS copies
    FROM doc WHERE n NOT IN (SELECT newer FROM pair) AND size >= {_LEAST_WORDS}
    WINDOW same AS (PARTITION BY whole)
) JOIN limits USING (project)
WHERE n <> first AND (sha IS NOT NULL OR size >= {_LEAST_SEQUENCES} OR copies <= most)
"""
_SEQUENCES = """
CREATE TABLE sequence AS
SELECT n, project, unnest(parts) AS part FROM doc WHERE n NOT IN (SELECT newer FROM pair)
"""
_OWN = """
CREATE TABLE own AS
SELECT n, part FROM sequence ANTI JOIN (
    SELECT project, part FROM sequence JOIN limits USING (project)
    GROUP BY project, part, most HAVING count(*) > most
) AS template USING (project, part)
"""
_SIZES = f"""
CREATE TABLE compared AS
SELECT n, count(*) AS size, ceil(? * size - {_ROUNDING}) AS needed FROM own GROUP BY n
HAVING count(*) >= {_LEAST_SEQUENCES}
"""
# What only one text has comes first in its prefix and matches nothing: it is only counted.
_SHARED = """
CREATE TABLE shared AS
SELECT n, part, texts, size, needed FROM own JOIN compared USING (n) JOIN (
    SELECT part, count(*) AS texts FROM own GROUP BY part HAVING count(*) > 1
) USING (part)
"""
_PREFIXES = """
CREATE TABLE prefix AS
SELECT n, part, size FROM (
    SELECT
        *, size - count(*) OVER (PARTITION BY n)
            + row_number() OVER (PARTITION BY n ORDER BY texts, part) AS rank
    FROM shared
) WHERE rank <= size - needed + 1
"""
_CANDIDATES = f"""
CREATE TABLE candidate AS
SELECT DISTINCT a.n AS newer, b.n AS older FROM prefix AS a JOIN prefix AS b USING (part)
WHERE a.n > b.n AND least(a.size, b.size) >= ? * greatest(a.size, b.size) - {_ROUNDING}
"""
_NEAR = f"""
INSERT INTO pair
SELECT
    newer, older, same / every AS score,
    same || ' of ' || every || ' three-word sequences in common', 'text'
FROM (
    SELECT newer, older, count(*) AS same, any_value(a.size) + any_value(b.size) - same AS every
    FROM candidate JOIN shared AS a ON a.n = newer
    JOIN shared AS b ON b.n = older AND a.part = b.part
    GROUP BY newer, older
) WHERE score >= ? - {_ROUNDING}
QUALIFY row_number() OVER (PARTITION BY newer ORDER BY score DESC, older) <= {MATCHES}
"""
_SUGGESTED = """
SELECT a.artifact_id AS from_id, b.artifact_id AS to_id, 'duplicate' AS kind, evidence, found_in,
    score
FROM pair JOIN doc AS a ON a.n = newer JOIN doc AS b ON b.n = older
"""
_SUGGESTIONS = """
CREATE OR REPLACE TEMP TABLE suggested (
    from_id VARCHAR, to_id VARCHAR, kind VARCHAR, evidence VARCHAR, found_in VARCHAR, score DOUBLE)
"""
_THERE = "(SELECT artifact_id FROM artifacts WHERE kind IS NOT NULL AND gone_at IS NULL)"


def find_duplicates(study: Study, run: Run, threshold: float) -> dict[str, int]:
    """Bring the suggestions to what the texts are now; kinds without a change are left alone.

    What others write meanwhile is compared by the next run.
    """
    counts = {"new": 0, "changed": 0, "removed": 0}
    with study.reading() as reader:
        changed = [kind for kind in KINDS if _digest(reader, kind, threshold) is not None]
    for kind in changed:
        with study.scratch() as scratch:
            digest = _copy(study, scratch, kind, threshold)
            if digest is None:  # somebody else was faster
                continue
            found = _compare(scratch, threshold)
        with study.writing(keep_log=True) as writer:
            provenance.record(writer, run, "running")
            for name, count in _write(writer, kind, found, digest, run).items():
                counts[name] += count
    return counts


def check_threshold(threshold: float) -> float:
    """Refuse what cannot be computed: below a third, everything is compared with everything."""
    if not 0.3 <= threshold <= 1:
        raise StudyError(
            f"a threshold of {threshold:g} is not between 0.3 and 1",
            f"Leave --threshold out for {THRESHOLD}, or choose a number between these.",
        )
    return threshold


def drop_vanished(writer: Writer) -> int:
    """Suggestions about artifacts that are no longer in the study, or gone; how many went."""
    gone = f"found_in IN ('text', 'hash') AND (from_id NOT IN {_THERE} OR to_id NOT IN {_THERE})"
    count: int = writer.value(f"SELECT count(*) FROM store.link WHERE {gone}")
    if count:
        writer.execute(f"DELETE FROM store.link WHERE {gone}")
        # Should they come back, they must be compared again.
        writer.execute("DELETE FROM store.link_read WHERE starts_with(text_id, 'duplicates:')")
    return count


def _digest(reader: Reader, kind: str, threshold: float) -> int | None:
    """What the suggestions of a kind depend on, if that is not what it was the last time."""
    setting = json.dumps([VERSION, threshold])
    rows = reader.rows(
        f"WITH now AS (SELECT hash(?::VARCHAR, count(*), bit_xor(hash(text))) AS digest "
        f"FROM ({_POPULATION}) AS text HAVING count(*) > 0) SELECT digest FROM now "
        "WHERE digest NOT IN (SELECT digest FROM store.link_read WHERE text_id = ?)",
        [setting, kind, f"duplicates:{kind}"],
    )
    return rows[0]["digest"] if rows else None


def _copy(study: Study, scratch: Writer, kind: str, threshold: float) -> int | None:
    """Copy the texts of a kind; gives what the suggestions depend on, None if nothing is new."""
    import pyarrow as pa

    with study.reading() as reader:
        digest = _digest(reader, kind, threshold)
        if digest is not None:
            scratch.execute(_COPY)
            for batch in reader.batches(_COPIED, [kind]):
                arrow_rows.insert(scratch, "copied", pa.Table.from_batches([batch]))
    return digest


def _compare(scratch: Writer, threshold: float) -> pa.Table:
    scratch.execute(_TEXTS)
    scratch.execute("DROP TABLE copied")
    for statement in (_LIMITS, _PAIRS, _SAME_HASH, _SAME_TEXT, _SEQUENCES, _OWN):
        scratch.execute(statement)
    scratch.execute(_SIZES, [threshold])
    for statement in (_SHARED, _PREFIXES):
        scratch.execute(statement)
    scratch.execute(_CANDIDATES, [threshold])
    scratch.execute(_NEAR, [threshold])
    return scratch.arrow(_SUGGESTED)


def _write(writer: Writer, kind: str, found: pa.Table, digest: int, run: Run) -> dict[str, int]:
    writer.execute(_SUGGESTIONS)
    arrow_rows.insert(writer, "suggested", found)
    # What has gone since it was read.
    writer.execute(f"DELETE FROM suggested WHERE from_id NOT IN {_THERE} OR to_id NOT IN {_THERE}")
    scope = (
        "found_in IN ('text', 'hash') AND from_id IN "
        f"(SELECT artifact_id FROM artifacts WHERE kind = '{kind}')"
    )
    counts = write_links(writer, "suggested", scope, run.run_id)
    writer.execute(
        "INSERT OR REPLACE INTO store.link_read VALUES (?, ?, ?)",
        [f"duplicates:{kind}", digest, run.run_id],
    )
    return counts

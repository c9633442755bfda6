"""The commits of another study in this one.

Commits are read from repositories, not from stored responses, so their rows themselves are taken.
Their authors are pseudonyms of the other study's key: with another key here they would be nobody,
so then nothing is taken, and the repository has to be read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.old import arrow_rows
from faultatlas.miner.commits.forgetting import written_by
from faultatlas.miner.commits.rows import DERIVED

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.keeping.erasing import Forgotten

TABLES = (*DERIVED, "store.git_walk", "store.keyword_hit")
_CHANGES = DERIVED[1:]
_TEMPORARY = "theirs"


def take_commits(source: Reader, writer: Writer, gone: Forgotten) -> dict[str, int]:
    """Rows of commits that are not here, or whose changes were not read here, by table.

    People whom messages name are taken out with everything else that is forgotten.
    """
    left_out = written_by(source, gone.people) | gone.artifacts
    new = _artifacts(source, "store.commit") - _artifacts(writer, "store.commit") - left_out
    deeper = _artifacts(source, "store.commit_diff") - _artifacts(writer, "store.commit_diff")
    taken = {"store.commit": _copy(source, writer, "store.commit", new)}
    for table in _CHANGES:
        taken[table] = _copy(source, writer, table, deeper - left_out)
    taken["store.keyword_hit"] = _take_hits(source, writer, sorted(left_out))
    taken["store.git_walk"] = _take_walks(source, writer)
    return taken


def _artifacts(reader: Reader, table: str) -> set[str]:
    return {row["artifact_id"] for row in reader.rows(f"SELECT artifact_id FROM {table}")}


def _copy(source: Reader, writer: Writer, table: str, artifacts: set[str]) -> int:
    import pyarrow as pa

    if not artifacts:
        return 0
    query = f"SELECT * FROM {table} WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))"
    return sum(
        arrow_rows.insert(writer, table, pa.Table.from_batches([batch]))
        for batch in source.batches(query, [sorted(artifacts)], rows=100_000)
    )


def _take_hits(source: Reader, writer: Writer, left_out: list[str]) -> int:
    before = writer.value("SELECT count(*) FROM store.keyword_hit")
    found = source.arrow(
        "SELECT * FROM store.keyword_hit WHERE NOT list_contains(?, artifact_id)", [left_out]
    )
    writer.execute(f"CREATE OR REPLACE TEMP TABLE {_TEMPORARY} AS FROM store.keyword_hit LIMIT 0")
    arrow_rows.insert(writer, _TEMPORARY, found)
    writer.execute(f"INSERT OR IGNORE INTO store.keyword_hit BY NAME FROM {_TEMPORARY}")
    after: int = writer.value("SELECT count(*) FROM store.keyword_hit")
    return after - int(before)


def _take_walks(source: Reader, writer: Writer) -> int:
    """Readings that came to their end, behind our own: the next one goes on from their tips."""
    known = {row["run_id"] for row in writer.rows("SELECT run_id FROM store.git_walk")}
    theirs = source.arrow("SELECT * FROM store.git_walk WHERE is_complete ORDER BY number")
    new = [at for at, run in enumerate(theirs.column("run_id").to_pylist()) if run not in known]
    if not new:
        return 0
    writer.execute(f"CREATE OR REPLACE TEMP TABLE {_TEMPORARY} AS FROM store.git_walk LIMIT 0")
    count = arrow_rows.insert(writer, _TEMPORARY, theirs.take(new))
    writer.execute(
        "INSERT INTO store.git_walk SELECT * REPLACE ((SELECT coalesce(max(number), 0) "
        f"FROM store.git_walk) + row_number() OVER (ORDER BY number) AS number) FROM {_TEMPORARY}"
    )
    return count

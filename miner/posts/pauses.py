"""The pauses that the answers of earlier runs asked for hold for this run, too."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from faultatlas.miner.archive import unpacked
from faultatlas.miner.posts import limits
from faultatlas.miner.posts.client import method_of

if TYPE_CHECKING:
    from faultatlas.miner.posts.ingest import PostIngest

_DAY = timedelta(days=1)  # no pause is longer


def remember(ingest: PostIngest) -> None:
    """Let the client wait as long as it must: for each method, as its last answer said."""
    if ingest.client is None or not ingest.study.exists:
        return
    # Not reading: the run before may have been killed before there were tables.
    with ingest.study.writing(keep_log=True) as writer:
        answers = writer.rows(
            "SELECT number, url FROM store.response WHERE source = 'stackoverflow' "
            "AND starts_with(url, '/') AND fetched_at >= ? ORDER BY number",
            [ingest.client.now() - _DAY],
        )
        last = {method_of(row["url"].partition("?")[0]): row["number"] for row in answers}
        rows = writer.rows(
            "SELECT url, fetched_at, size, body FROM store.response "
            "WHERE number IN (SELECT unnest(?::BIGINT[]))",
            [list(last.values())],
        )
    for row in rows:
        said = limits.said_in(unpacked(row["body"], row["size"]))
        if said is not None and (seconds := limits.backoff_in(said)):
            until = row["fetched_at"] + timedelta(seconds=seconds)
            ingest.client.pause(method_of(row["url"].partition("?")[0]), until)

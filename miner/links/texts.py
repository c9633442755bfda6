"""Every text of a study as one relation, and the references of those that are new or changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.identity import split_project
from faultatlas.data.old import arrow_rows
from faultatlas.miner.links.answers import KINDS, answered
from faultatlas.miner.links.references import VERSION, Reference, references

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.identity import Hosts
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer

Progress = Callable[[int, int], None]  # texts read, and in all

BATCH = 2000  # texts in one transaction
BATCH_SIZE = 8_000_000  # characters in one transaction

# For each table: rowid, whose text it is, where it stands, and what it says.
_SELECTS = {
    "issue": (
        "SELECT rowid AS place, artifact_id AS text_id, artifact_id AS from_id, "
        "CASE WHEN is_pull THEN 'pull' ELSE 'issue' END AS kind, project, title, body, "
        "'body' AS found_in FROM store.issue"
    ),
    "commit": (
        "SELECT rowid AS place, artifact_id AS text_id, artifact_id AS from_id, 'commit' AS kind, "
        "project, NULL AS title, message AS body, 'message' AS found_in FROM store.commit"
    ),
    "post": (
        "SELECT rowid AS place, artifact_id AS text_id, artifact_id AS from_id, 'post' AS kind, "
        "site AS project, title, body, 'body' AS found_in FROM store.post"
    ),
    "comment": (
        "SELECT comment.rowid AS place, comment_id AS text_id, comment.artifact_id AS from_id, "
        "CASE WHEN is_pull THEN 'pull' ELSE 'issue' END AS kind, project, NULL AS title, "
        "comment.body, comment_id AS found_in FROM store.comment JOIN store.issue "
        "ON comment.artifact_id = issue.artifact_id"
    ),
    "reply": (
        "SELECT reply.rowid AS place, comment_id AS text_id, reply.artifact_id AS from_id, "
        "'post' AS kind, site AS project, NULL AS title, reply.body, comment_id AS found_in "
        "FROM store.reply JOIN store.post ON reply.artifact_id = post.artifact_id"
    ),
    # What GitHub answered about commits: the response's own id changes with its content.
    "response": (
        "SELECT rowid AS place, 'response:' || number AS text_id, response_id AS from_id, "
        "'response' AS kind, project, NULL AS title, NULL AS body, 'tracker' AS found_in "
        "FROM store.response WHERE status = 200 AND request ->> 'kind' IN "
        f"({', '.join(repr(kind) for kind in KINDS)})"
    ),
}
_DIGEST = "hash(?::VARCHAR, from_id, kind, project, title, body, found_in)"
ALL = " UNION ALL ".join(f"({sql})" for sql in _SELECTS.values())


@dataclass(frozen=True)
class _Span:
    """Rows of a table that stand near each other, with the number of texts to read in it."""

    table: str
    first: int
    last: int
    texts: int


def read_texts(study: Study, run: Run, progress: Progress = lambda _done, _total: None) -> int:
    """Look for references in every text that is new or changed; how many these were.

    Some thousand texts go into one transaction: killed at any moment, the next run goes on.
    """
    done = 0
    while True:
        with study.reading() as reader:
            hosts = private_hosts(reader)
            spans = list(_unread(reader, _setting(hosts)))
        total = done + sum(span.texts for span in spans)
        for span in spans:
            with study.writing(keep_log=True) as writer:
                provenance.record(writer, run, "running")
                done += _read_span(writer, span, hosts, run)
            progress(done, total)
        if done >= total:  # else rows have moved since they were listed
            return done


def private_hosts(reader: Reader) -> dict[str, str]:
    """What the hosts run from which issues were fetched, but for the public ones."""
    rows = reader.rows("SELECT DISTINCT source, project FROM store.issue ORDER BY ALL")
    found = {split_project(row["project"], "git")[0]: row["source"] for row in rows}
    return {host: runs for host, runs in found.items() if host not in ("github.com", "gitee.com")}


def forget_texts(writer: Writer) -> None:
    """Drop the references of texts that are no longer in the study."""
    gone = f"text_id NOT IN (SELECT text_id FROM ({ALL}))"
    writer.execute(f"DELETE FROM store.reference WHERE {gone}")
    kinds = "SELECT 'duplicates:' || kind FROM artifacts WHERE kind IS NOT NULL AND gone_at IS NULL"
    writer.execute(f"DELETE FROM store.link_read WHERE {gone} AND text_id NOT IN ({kinds})")


def _setting(hosts: Hosts) -> str:
    """What, beside a text, its references depend on."""
    return json.dumps([VERSION, dict(sorted(hosts.items()))])


def _changed(table: str, columns: str) -> str:
    return (
        f"SELECT {columns} FROM (SELECT *, {_DIGEST} AS digest FROM ({_SELECTS[table]})) AS text "
        "LEFT JOIN store.link_read USING (text_id) "
        "WHERE text.digest IS DISTINCT FROM link_read.digest"
    )


def _unread(reader: Reader, setting: str) -> Iterator[_Span]:
    for table in _SELECTS:
        size = "coalesce(length(title), 0) + coalesce(length(body), 0) AS size"
        found = reader.arrow(_changed(table, f"place, {size}") + " ORDER BY place", [setting])
        places, sizes = found["place"].to_pylist(), found["size"].to_pylist()
        first = held = 0
        for at, length in enumerate(sizes):
            held += length
            if at + 1 - first == BATCH or held >= BATCH_SIZE or at + 1 == len(sizes):
                yield _Span(table, places[first], places[at], at + 1 - first)
                first, held = at + 1, 0


def _read_span(writer: Writer, span: _Span, hosts: Hosts, run: Run) -> int:
    rows = writer.rows(
        _changed(span.table, "text.*") + " AND place BETWEEN ? AND ?",
        [_setting(hosts), span.first, span.last],
    )
    if not rows:
        return 0
    found = [line for row in rows for line in _lines(writer, row, hosts)]
    read = [row["text_id"] for row in rows]
    writer.execute(
        "DELETE FROM store.reference WHERE text_id IN (SELECT unnest(?::VARCHAR[]))", [read]
    )
    if found:
        arrow_rows.insert(writer, "store.reference", _arrow(found))
    writer.execute(
        "INSERT OR REPLACE INTO store.link_read "
        "SELECT unnest(?::VARCHAR[]), unnest(?::UBIGINT[]), ?",
        [read, [row["digest"] for row in rows], run.run_id],
    )
    return len(rows)


def _lines(reader: Reader, row: Mapping[str, Any], hosts: Hosts) -> Iterator[dict[str, Any]]:
    """The references of a text as rows."""
    for position, (said_by, found_in, each) in enumerate(_references(reader, row, hosts)):
        yield {
            "text_id": row["text_id"],
            "position": position,
            "from_id": said_by,
            "named": each.target_id,
            "kind": each.kind,
            "evidence": each.evidence,
            "found_in": found_in,
        }


def _references(
    reader: Reader, row: Mapping[str, Any], hosts: Hosts
) -> Iterator[tuple[str, str, Reference]]:
    if row["kind"] == "response":
        for said_by, each in answered(reader, int(row["text_id"].partition(":")[2])):
            yield said_by, row["found_in"], each
        return
    # A comment closes nothing, whatever it says.
    can_close = row["found_in"] in ("body", "message")
    parts = [("title", row["title"]), (row["found_in"], row["body"])]
    for found_in, text in parts:
        for each in references(
            text, project=row["project"], kind=row["kind"], can_close=can_close, hosts=hosts
        ):
            yield row["from_id"], found_in, each


def _arrow(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(rows)

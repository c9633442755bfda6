"""Records into the study: the papers that they touch are put together again, in the caller's
transaction. The outcome depends on the records and on the ids that labels use, not on the order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.old import arrow_rows
from faultatlas.data.old.records import KnownPaperRow, PaperRecordRow
from faultatlas.miner.papers.grouping import Record, grouped
from faultatlas.miner.papers.merging import best_first, id_of, matches, paper_of

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.archive import Exchange

# Tables that name a paper for good: what was drawn, labelled or quoted.
_USING = ("store.item", "store.sampled", "store.code_place")
_STAMPS = ("run_id", "fetched_at", "response_id")
_TYPES = {"position": "int32", "year": "int32", "cited_by": "int32", "row_hash": "uint64"}


@dataclass
class Stored:
    """What changed."""

    records_new: int = 0
    papers_new: int = 0
    papers_changed: int = 0


def put_records(writer: Writer, rows: Sequence[PaperRecordRow], exchange: Exchange) -> Stored:
    """Store records, and the papers that they and their likes are."""
    if not rows:
        return Stored()
    stored = _neighbours(writer, rows)
    records = dict(stored)
    stamps = {name: getattr(exchange, name) for name in _STAMPS}  # once: an id reads the whole body
    for row in rows:
        said = asdict(row)
        known = stored.get(row.record_id)
        if known is None or any(known[name] != value for name, value in _plain(said).items()):
            before = {"artifact_id": known["artifact_id"]} if known else {}
            records[row.record_id] = {**_plain(said), **stamps, **before}
    names = {record["own_id"] for record in records.values()}
    before_ids = {record["artifact_id"] for record in stored.values()}
    papers = _papers(records.values(), _used(writer, names | before_ids))
    result = _write(writer, papers, before_ids)
    result.records_new = len(records) - len(stored)
    # A paper whose id changed is none that is new.
    fresh = sum(not any(each["record_id"] in stored for each in group) for group in papers.values())
    result.papers_changed += result.papers_new - fresh
    result.papers_new = fresh
    _write_aliases(writer, papers, names | before_ids)
    return result


def _neighbours(reader: Reader, rows: Iterable[PaperRecordRow]) -> dict[str, dict[str, Any]]:
    """Stored records that may be the same papers: by DOI, by title, and by these again."""
    dois, titles, ids = set[str](), set[str](), set[str]()
    for row in rows:
        titles.add(row.title_key)
        ids.add(row.record_id)
        dois |= {row.doi} if row.doi else set()
    found: dict[str, dict[str, Any]] = {}
    size = -1
    while size != len(found):
        size = len(found)
        for known in reader.rows(
            "SELECT * EXCLUDE search_name FROM store.paper_record "
            "WHERE doi IN (SELECT unnest(?::VARCHAR[])) "
            "OR title_key IN (SELECT unnest(?::VARCHAR[])) "
            "OR record_id IN (SELECT unnest(?::VARCHAR[]))",
            [sorted(dois), sorted(titles), sorted(ids)],
        ):
            found[known["record_id"]] = known
            titles.add(known["title_key"])
            dois |= {known["doi"]} if known["doi"] else set()
    return found


def _used(reader: Reader, names: Collection[str]) -> set[str]:
    query = " UNION ".join(
        f"SELECT artifact_id FROM {table} WHERE artifact_id IN (SELECT unnest($1::VARCHAR[]))"
        for table in _USING
    )
    return {row["artifact_id"] for row in reader.rows(query, [sorted(names)])}


def _papers(records: Iterable[Record], used: set[str]) -> dict[str, list[Record]]:
    """Papers by id, each with its records, the best first."""
    groups = [best_first(group) for group in grouped(records)]
    # Who has a name of its own keeps it, before others that only had it until now.
    groups.sort(key=lambda group: not used & {record["own_id"] for record in group})
    papers: dict[str, list[Record]] = {}
    for group in groups:
        papers[id_of(group, used, papers)] = group
    return papers


def _write(writer: Writer, papers: Mapping[str, Sequence[Record]], before_ids: set[str]) -> Stored:
    records: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for artifact_id, group in papers.items():
        how = matches(group)
        records += [
            {**record, "artifact_id": artifact_id, "matched_by": how[record["record_id"]]}
            for record in group
        ]
        stamps = {name: group[0][name] for name in _STAMPS}
        rows.append({**_plain(asdict(paper_of(artifact_id, group))), **stamps})
    gone = sorted(before_ids - papers.keys())
    if gone:
        writer.execute(
            "DELETE FROM store.paper WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))", [gone]
        )
    arrow_rows.upsert(writer, "store.paper_record", "record_id", _batch(records))
    new, changed = arrow_rows.upsert(writer, "store.paper", "artifact_id", _batch(rows))
    return Stored(papers_new=new, papers_changed=changed)


def _write_aliases(
    writer: Writer, papers: Mapping[str, Sequence[Record]], names: Collection[str]
) -> None:
    """Every other id that a record of a paper has or had leads to the paper."""
    wanted: dict[str, tuple[str, Record]] = {}
    for artifact_id, group in papers.items():
        for record in group:
            others = {record["own_id"], record.get("artifact_id")} - {artifact_id, None}
            for name in others - papers.keys():
                wanted.setdefault(str(name), (artifact_id, record))
    stored = {
        row["alias"]: row["artifact_id"]
        for row in writer.rows(
            "SELECT alias, artifact_id FROM store.alias WHERE kind = 'paper' "
            "AND alias IN (SELECT unnest(?::VARCHAR[]))",
            [sorted({*names, *papers})],
        )
    }
    stale = sorted(name for name in stored if name in papers)
    if stale:
        writer.execute(
            "DELETE FROM store.alias WHERE alias IN (SELECT unnest(?::VARCHAR[]))", [stale]
        )
    changed = sorted(name for name, (it, _record) in wanted.items() if stored.get(name) != it)
    if changed:
        said = [wanted[name] for name in changed]
        columns = [changed, [artifact_id for artifact_id, _record in said]]
        columns += [[record[name] for _it, record in said] for name in ("run_id", "response_id")]
        writer.execute(
            "INSERT INTO store.alias SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), 'paper', "
            "unnest(?::VARCHAR[]), unnest(?::VARCHAR[]) ON CONFLICT (alias) DO UPDATE SET "
            "artifact_id = excluded.artifact_id, kind = excluded.kind, run_id = excluded.run_id, "
            "response_id = excluded.response_id",
            columns,
        )


def put_known(writer: Writer, rows: Sequence[KnownPaperRow], exchange: Exchange) -> None:
    """A list of known papers takes the place of an older one of its name."""
    for name in sorted({row.list for row in rows}):
        last = max(row.position for row in rows if row.list == name)
        writer.execute(
            "DELETE FROM store.known_paper WHERE list = ? AND position > ?", [name, last]
        )
    said = [asdict(row) for row in rows]
    if said:
        columns = ", ".join(
            f"unnest(?::{kind}[])"
            for kind in ("VARCHAR", "INTEGER", "VARCHAR", "VARCHAR", "INTEGER", "VARCHAR")
        )
        writer.execute(
            f"INSERT OR REPLACE INTO store.known_paper SELECT {columns}, ?",
            [*([row[name] for row in said] for name in said[0]), exchange.run_id],
        )


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    """As the database gives it back."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in said.items()}


def _batch(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    hashed = [{**row, "row_hash": _hash(row)} for row in rows]
    kinds = {name: getattr(pa, kind)() for name, kind in _TYPES.items()}
    kinds |= {"authors": pa.list_(pa.string()), "fetched_at": pa.timestamp("us")}
    columns = {
        name: pa.array([row[name] for row in hashed], kinds.get(name, pa.string()))
        for name in hashed[0]
    }
    return pa.table(columns)


def _hash(row: Mapping[str, Any]) -> int:
    said = repr([(name, row[name]) for name in sorted(row) if name != "row_hash"])
    return int.from_bytes(hashlib.blake2b(said.encode(), digest_size=8).digest(), "big")

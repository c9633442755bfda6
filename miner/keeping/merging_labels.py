"""The samples, rounds, labels and re-executions of another study in this one.

Two raters may have labelled in two copies of a study. What both have must be the same, or one of
them must have gone on where the other stopped; then all of it is united. Where they contradict
each other nobody can tell which holds, and nothing is merged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.schema import schema
from faultatlas.miner.keeping.erased_labels import LEFT_BEHIND
from faultatlas.miner.keeping.merging_servers import TABLES as SERVERS
from faultatlas.miner.keeping.merging_servers import take_servers

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Reader, Writer

_MOST_SHOWN = 3


@dataclass(frozen=True)
class _Kind:
    """Rows of a table that are the same if their key is; `same` must then agree."""

    table: str
    key: tuple[str, ...]
    same: tuple[str, ...] = ()
    called: str = ""  # what differs, for a message; the key's first columns follow
    within: str = ""  # rows that are new get a position behind those of the same


@dataclass(frozen=True)
class _Chain:
    """Rows that supersede each other: of each subject one holds."""

    table: str
    identity: str
    subject: tuple[str, ...]
    said: tuple[str, ...]  # two that say the same do not contradict each other


_RULES = schema().merge_rules()
_KINDS = tuple(
    _Kind(table, rule.key, rule.agree, rule.called, rule.within)
    for table, rule in _RULES.items()
    if rule.how == "agree"
)
_CHAINS = tuple(
    _Chain(table, rule.key[0], rule.subject, rule.agree)
    for table, rule in _RULES.items()
    if rule.how == "ledger"
)
# All of one, or nothing.
_WHOLE = {table: rule.within for table, rule in _RULES.items() if rule.how == "whole"}
TABLES = (
    *(f"store.{each.table}" for each in _KINDS),
    *(f"store.{each.table}" for each in _CHAINS),
    *(f"store.{table}" for table in _WHOLE),
    "store.taxonomy_text",
    *SERVERS,
)


def take_labels(source: Reader, writer: Writer, gone: list[str]) -> dict[str, int]:
    """Rows that are not here, by table; labels that contradict each other are refused."""
    taken = {"store.taxonomy_text": _take_taxonomies(source, writer)}
    for kind in _KINDS:
        taken[f"store.{kind.table}"] = _take(source, writer, kind, gone)
    for chain in _CHAINS:
        taken[f"store.{chain.table}"] = _take_chain(source, writer, chain, gone)
    for table, group in _WHOLE.items():
        taken[f"store.{table}"] = _take_whole(source, writer, table, group, gone)
    taken |= take_servers(source, writer)
    for table in LEFT_BEHIND:  # of items that one of them has forgotten
        taken[table] -= _drop_left_behind(writer, table)
    return taken


def _theirs(source: Reader, table: str, gone: list[str], order: Sequence[str]) -> pa.Table:
    query = f"SELECT * FROM store.{table}"
    if "artifact_id" in source.arrow(f"{query} LIMIT 0").column_names:
        kept = f"{query} WHERE NOT coalesce(list_contains(?, artifact_id), false)"
        return source.arrow(f"{kept} ORDER BY {', '.join(order)}", [gone])
    return source.arrow(f"{query} ORDER BY {', '.join(order)}")


def _take(source: Reader, writer: Writer, kind: _Kind, gone: list[str]) -> int:
    compared = ", ".join((*kind.key, *kind.same))
    ours = {
        tuple(row[name] for name in kind.key): [row[name] for name in kind.same]
        for row in writer.rows(f"SELECT {compared} FROM store.{kind.table}")
    }
    order = (kind.within, "position") if kind.within else kind.key
    theirs = _theirs(source, kind.table, gone, order)
    new = []
    for at, row in enumerate(theirs.select([*kind.key, *kind.same]).to_pylist()):
        key = tuple(row[name] for name in kind.key)
        if key not in ours:
            new.append(at)
        elif ours[key] != [row[name] for name in kind.same]:
            raise _differ(f"different {kind.called} {key[0]}")
    if not new:
        return 0
    taken = theirs.take(new)
    if kind.within:
        taken = _behind(writer, kind, taken)
    return arrow_rows.insert(writer, f"store.{kind.table}", taken)


def _behind(writer: Writer, kind: _Kind, taken: pa.Table) -> pa.Table:
    """New rows of what is here, with positions after those that it has."""
    import pyarrow as pa

    rows = writer.rows(
        f"SELECT {kind.within} AS it, max(position) AS last FROM store.{kind.table} GROUP BY ALL"
    )
    last = {row["it"]: row["last"] for row in rows}
    positions = []
    names = taken.column(kind.within).to_pylist()
    for name, position in zip(names, taken.column("position").to_pylist(), strict=True):
        if name in last:
            last[name] += 1
        positions.append(last.get(name, position))
    at = taken.column_names.index("position")
    return taken.set_column(at, "position", pa.array(positions, pa.int32()))


def _take_chain(source: Reader, writer: Writer, chain: _Chain, gone: list[str]) -> int:
    import pyarrow as pa

    ours = _by_subject(writer.rows(f"SELECT * FROM store.{chain.table}"), chain)
    theirs = _theirs(source, chain.table, gone, ("run_id", chain.identity))
    contradictions = []
    wanted: set[str] = set()
    for subject, rows in _by_subject(theirs.to_pylist(), chain).items():
        here = ours.get(subject, {})
        new = rows.keys() - here.keys()
        # The first final label of an older study is called after the item alone.
        first = chain.said[0]
        is_same = all(row[first] == rows[it][first] for it, row in here.items() if it in rows)
        if is_same and (not new or len(_holding({**here, **rows})) == 1):
            wanted |= new
        elif _said(here, chain) != _said(rows, chain):
            contradictions.append((subject, _told(here, chain), _told(rows, chain)))
    if contradictions:
        raise _contradicting(chain, contradictions)
    found = pa.array(each in wanted for each in theirs.column(chain.identity).to_pylist())
    return arrow_rows.insert(writer, f"store.{chain.table}", theirs.filter(found)) if wanted else 0


def _by_subject(
    rows: list[dict[str, Any]], chain: _Chain
) -> dict[tuple[str, ...], dict[str, dict[str, Any]]]:
    found: dict[tuple[str, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        found[tuple(row[name] for name in chain.subject)][row[chain.identity]] = row
    return found


def _holding(rows: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    superseded = {row["supersedes"] for row in rows.values()}
    return [row for identity, row in rows.items() if identity not in superseded]


def _said(rows: dict[str, dict[str, Any]], chain: _Chain) -> list[list[Any]]:
    return [[row[name] for name in chain.said] for row in _holding(rows)]


def _told(rows: dict[str, dict[str, Any]], chain: _Chain) -> str:
    if chain.table == "code_place":
        return " and ".join(row["support"] for row in _holding(rows))
    first = chain.said[0]
    if first != "codes":
        return " and ".join(str(row[first]) for row in _holding(rows))
    return " and ".join(", ".join(row["codes"]) or "nothing" for row in _holding(rows))


def _take_taxonomies(source: Reader, writer: Writer) -> int:
    """Texts of versions that are not here; the same version must have the same tree."""
    import pyarrow as pa

    from faultatlas.data.taxonomy_library import taxonomy_of_text

    query = "SELECT * FROM store.taxonomy_text ORDER BY taxonomy, version"
    ours = {(row["taxonomy"], row["version"]): row["text"] for row in writer.rows(query)}
    new = []
    for row in source.rows(query):
        text = ours.get((row["taxonomy"], row["version"]))
        if text is None:
            new.append(row)
            continue
        trees = [taxonomy_of_text(each, row["taxonomy"]) for each in (text, row["text"])]
        here, there = [[(node.code, node.parent) for node in tree.nodes] for tree in trees]
        if here != there:
            raise _differ(f"different codes of {row['taxonomy']} {row['version']}")
    return arrow_rows.insert(writer, "store.taxonomy_text", pa.Table.from_pylist(new)) if new else 0


def _take_whole(source: Reader, writer: Writer, table: str, group: str, gone: list[str]) -> int:
    rows = writer.rows(f"SELECT DISTINCT {group} AS it FROM store.{table}")
    known = {row["it"] for row in rows}
    theirs = _theirs(source, table, gone, (group,))
    new = [at for at, it in enumerate(theirs.column(group).to_pylist()) if it not in known]
    return arrow_rows.insert(writer, f"store.{table}", theirs.take(new)) if new else 0


def _drop_left_behind(writer: Writer, table: str) -> int:
    before: int = writer.value(f"SELECT count(*) FROM {table}")
    writer.execute(f"DELETE FROM {table} WHERE {LEFT_BEHIND[table]}")
    return before - int(writer.value(f"SELECT count(*) FROM {table}"))


def _differ(what: str) -> StudyError:
    return StudyError(
        f"the studies have {what}",
        "Which of the two holds, nobody can tell: give it another name in one of them, then "
        "merge. Nothing was changed.",
    )


def _contradicting(
    chain: _Chain, contradictions: list[tuple[tuple[str, ...], str, str]]
) -> StudyError:
    if chain.table == "code_place":
        paper, taxonomy, code, rater, place = contradictions[0][0]
        return _differ(f"different words for {taxonomy} {code} of {paper} by {rater} at {place}")
    kind = "labels" if chain.table == "answer" else "final labels"
    shown = [
        f"{subject[1]}{f' by {subject[2]}' if chain.table == 'answer' else ''}: {here} here, "
        f"{there} there"
        for subject, here, there in contradictions[:_MOST_SHOWN]
    ]
    more = len(contradictions) - len(shown)
    return StudyError(
        f"both studies have a round {contradictions[0][0][0]}, with different {kind}: "
        + "; ".join(shown)
        + (f"; and {more:,} more" if more > 0 else ""),
        "Settle or label them in one of the studies only, or give the round another name in one "
        "of them, then merge. Nothing was changed.",
    )

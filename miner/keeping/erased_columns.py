"""Which columns may name a forgotten person or artifact: the schema says so.

A login may be any word: `ml` is also the name of a lexicon, `commit` a kind, `fixes` a link. So
names are looked for only where somebody's words are or where artifacts are named.
"""

from __future__ import annotations

from dataclasses import dataclass

from faultatlas.data.schema import schema


@dataclass(frozen=True)
class Column:
    """A column in which names are looked for."""

    table: str
    name: str
    is_typed: bool  # on a command line: there a login may stand alone
    only: frozenset[str]  # of JSON: the entries that are looked at, if not all


# What `miner link` noted about texts, with their words; it reads them again.
NOTES = tuple(
    f"store.{table.name}" for table in schema().tables.values() if table.erase == "emptied"
)
ERASED = tuple(
    Column(f"store.{rule.table}", rule.column, rule.logins, frozenset(rule.entries))
    for rule in schema().erase_rules()
)

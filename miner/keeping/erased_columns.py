"""Which columns may name a forgotten person or artifact, and which cannot.

A login may be any word: `ml` is also the name of a lexicon, `commit` a kind, `fixes` a link. So
names are looked for only where somebody's words stand or where artifacts are named. Every text
column of the store is in one of these lists; a test sees to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from miner.tables import DERIVED


@dataclass(frozen=True)
class Column:
    """A column in which names are looked for."""

    table: str
    name: str
    is_typed: bool = False  # on a command line: there a login may stand alone
    only: frozenset[str] = frozenset()  # of JSON: the entries that are looked at, if not all


# What `miner link` noted about texts, with their words; it reads them again.
NOTES = ("store.reference", "store.link_read")
# What is in repositories for everybody to see: names in code are left.
_CODE = ("store.commit_diff", "store.commit_file", "store.commit_hunk", "store.commit_function")
# Tables that other ways take care of: they are emptied, made anew, or hold tombstones.
ELSEWHERE = frozenset(
    {"store.forgotten", "store.schema_migration", "store.response", *NOTES, *_CODE, *DERIVED}
)
# Rows of these artifacts are removed; the other two are made of nobody's words.
KEYS = frozenset({"artifact_id", "run_id", "response_id"})

ERASED = (
    Column("store.checkpoint", "stream"),
    Column("store.checkpoint", "selection"),
    Column("store.checkpoint", "url"),
    Column("store.claim", "statement"),
    Column("store.claim", "query"),
    Column("store.claim", "reason"),
    Column("store.commit", "message"),
    Column("store.dump_read", "stream"),
    Column("store.dump_read", "name"),
    Column("store.final_label", "item_id"),
    Column("store.funnel_step", "predicate"),
    Column("store.funnel_step", "definition", only=frozenset({"where", "by", "highest"})),
    Column("store.link", "from_id"),
    Column("store.link", "to_id"),
    Column("store.link", "evidence"),
    Column("store.link", "found_in"),
    Column("store.result", "parameters", is_typed=True),
    Column("store.result", "content"),
    Column("store.run", "arguments", is_typed=True),
    Column("store.search_slice", "search", is_typed=True),
    Column("store.search_slice", "query", is_typed=True),
    Column("store.search_slice", "next_url"),
)

# Names of steps, lexicons, rounds and codes, kinds and states, hashes. The names and addresses of
# mined projects stay: without them nothing of a project could be named or read again.
FREE = {
    "store.checkpoint": {"project", "since", "etag"},
    "store.claim": {"result", "claim_id", "unit", "method", "status"},
    # Author and committer are pseudonyms, which `erase_people` takes care of.
    "store.commit": {"project", "sha", "parents", "author", "author_zone", "committer",
                     "committer_zone", "encoding", "problem", "gone_reason"},
    "store.dump_read": {"digest", "tally"},
    "store.final_label": {"round", "taxonomy", "taxonomy_version", "code", "settled_by"},
    "store.funnel_count": {"step", "source", "kind"},
    "store.funnel_step": {"step"},
    "store.git_walk": {"project", "place", "tips", "seen", "options"},
    "store.key_check": {"fingerprint"},
    "store.keyword_hit": {"lexicon", "words", "reading", "text_run"},
    "store.link": {"kind"},
    "store.part_read": {"part"},
    "store.result": {"result", "analysis"},
    "store.run": {"command", "version", "outcome"},
    "store.search_slice": {"state"},
    "store.funnel_member": {"step"},
    "store.traffic": {"project"},
}  # fmt: skip

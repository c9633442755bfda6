"""Which columns may name a forgotten person or artifact, and which cannot.

A login may be any word: `ml` is also the name of a lexicon, `commit` a kind, `fixes` a link. So
names are looked for only where somebody's words stand or where artifacts are named. Every text
column of the store is in one of these lists; a test sees to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from faultatlas.miner.tables import DERIVED


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
# Rows of these artifacts and items are removed (`erased_labels`); the others are made of nobody's
# words.
KEYS = frozenset(
    {
        "artifact_id",
        "item_id",
        "run_id",
        "response_id",
        "answer_id",
        "settlement_id",
        "place_id",
        "supersedes",
    }
)

ERASED = (
    Column("store.account", "username", is_typed=True),
    Column("store.answer", "comment"),
    Column("store.answer", "proposed"),
    Column("store.answer", "origin"),
    Column("store.bug", "title"),
    Column("store.bug", "url"),
    Column("store.bug", "requirements"),
    Column("store.bug", "oracle"),
    Column("store.bug", "own_oracle"),
    Column("store.bug", "claimed_reason"),
    Column("store.bug_sample", "stratum"),
    Column("store.checkpoint", "stream"),
    Column("store.checkpoint", "selection"),
    Column("store.checkpoint", "url"),
    Column("store.claim", "statement"),
    Column("store.claim", "query"),
    Column("store.claim", "rows_query"),
    Column("store.claim", "reason"),
    Column("store.code_place", "place"),
    Column("store.code_place", "quote"),
    Column("store.code_place", "origin"),
    Column("store.commit", "message"),
    Column("store.dump_read", "stream"),
    Column("store.dump_read", "name"),
    Column("store.execution", "files"),
    Column("store.execution", "problem"),
    Column("store.execution", "versions"),
    Column("store.frame_member", "stratum"),
    Column("store.funnel_step", "predicate"),
    Column("store.funnel_step", "definition", only=frozenset({"where", "by", "highest"})),
    Column("store.gate", "reason"),
    Column("store.item", "place"),
    Column("store.item", "stratum"),
    Column("store.link", "from_id"),
    Column("store.link", "to_id"),
    Column("store.link", "evidence"),
    Column("store.link", "found_in"),
    Column("store.package_row", "cells"),
    Column("store.result", "parameters", is_typed=True),
    Column("store.result", "content"),
    Column("store.run", "arguments", is_typed=True),
    Column("store.sample", "frame"),
    Column("store.sample_draw", "frame_query"),
    Column("store.sampled", "stratum"),
    Column("store.search_slice", "search", is_typed=True),
    Column("store.search_slice", "query", is_typed=True),
    Column("store.search_slice", "next_url"),
    Column("store.settlement", "comment"),
    Column("store.taxonomy_change", "reason"),
    Column("store.taxonomy_text", "text"),
    Column("store.verdict", "detail"),
    Column("store.verdict", "signature"),
    Column("store.verdict", "evidence"),
)

# Names of steps, lexicons, samples, rounds, raters and codes, kinds and states, hashes. The names
# and addresses of mined projects stay: without them nothing of a project could be named or read
# again. A rater is called what the study likes; that is no login.
FREE = {
    "store.account": {"server", "rater"},
    "store.answer": {"round", "rater", "stage", "taxonomy", "taxonomy_version", "codes"},
    "store.assignment": {"round", "rater"},
    # A set and a name in it; hashes, kinds and states; words of the harness.
    "store.bug": {"bug_id", "set_name", "source", "symptom", "fault", "taxonomy", "property",
                  "framework", "python", "guessed", "sides", "fidelity", "oracle_symptom",
                  "oracle_hash", "claimed_verdict", "content"},
    "store.bug_draw": {"sample", "sets", "strata", "frame_hash", "size_rule"},
    "store.bug_sample": {"sample", "bug_id"},
    "store.checkpoint": {"project", "since", "etag"},
    "store.code_place": {"taxonomy", "code", "rater", "support"},
    "store.claim": {"result", "claim_id", "unit", "method", "status"},
    # Author and committer are pseudonyms, which `erase_people` takes care of.
    "store.commit": {"project", "sha", "parents", "author", "author_zone", "committer",
                     "committer_zone", "encoding", "problem", "gone_reason"},
    "store.dump_read": {"digest", "tally"},
    "store.execution": {"execution_id", "bug_id", "content", "side", "outcome", "environment",
                        "repairs", "fidelity", "device", "device_name", "isolation",
                        "memory_limit", "process_limit", "host"},
    "store.frame_member": {"frame_hash"},
    "store.funnel_count": {"step", "source", "kind"},
    "store.funnel_step": {"step"},
    "store.gate": {"round", "stage", "statistic"},
    "store.git_walk": {"project", "place", "tips", "seen", "options"},
    "store.item": {"round"},
    "store.key_check": {"fingerprint"},
    "store.keyword_hit": {"lexicon", "words", "reading", "text_run"},
    "store.link": {"kind"},
    "store.package_file": {"package", "file", "digest"},
    "store.package_row": {"package", "file", "sheet"},
    "store.part_read": {"part"},
    "store.project": {"server", "round", "rater", "stage", "taxonomy_version", "blindness"},
    "store.rater": {"rater"},
    "store.relabel": {"to_version", "code", "choices"},
    "store.result": {"result", "analysis"},
    "store.round": {"round", "origin", "sample", "taxonomy", "taxonomy_version", "choice",
                    "after_round", "statistic"},
    "store.round_rater": {"round", "rater"},
    "store.run": {"command", "version", "outcome"},
    "store.sample": {"sample", "method", "allocation", "strata", "ordered_by"},
    "store.sample_draw": {"sample", "frame_hash", "size_rule", "rounding"},
    "store.sampled": {"sample"},
    "store.screening": {"round", "step"},
    "store.search_slice": {"state"},
    "store.settlement": {"round", "taxonomy", "taxonomy_version", "codes", "settled_by", "rule",
                         "adjudicator"},
    "store.suggestion": {"round", "code", "model"},
    "store.task": {"server", "content_hash"},
    "store.taxonomy_change": {"taxonomy", "from_version", "to_version", "kind", "old_codes",
                              "new_codes"},
    "store.taxonomy_text": {"taxonomy", "version"},
    "store.funnel_member": {"step"},
    "store.traffic": {"project"},
    "store.verdict": {"verdict_id", "bug_id", "content", "device", "oracle_hash", "verdict",
                      "reason", "rule"},
}  # fmt: skip

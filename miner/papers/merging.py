"""One paper of its records: its id, what is known of it, and how each record was recognised.

The record that says most stands first: a published one before a preprint, one with a DOI, then
Scopus, OpenAlex, files. What it lacks comes from the next one; of the authors the longest list.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from faultatlas.data.old.records import PaperRow
from faultatlas.miner.papers.grouping import Record, is_preprint

_SOURCES = {"scopus": 0, "openalex": 1}
_FILE = 2


def best_first(records: Sequence[Record]) -> list[Record]:
    """The records, the one that says most first."""
    return sorted(records, key=_rank)


def _rank(record: Record) -> tuple[bool, bool, int, str]:
    source = _FILE if not record["search"] else _SOURCES.get(record["source"], _FILE)
    return is_preprint(record["doi"]), record["doi"] is None, source, record["record_id"]


def paper_of(artifact_id: str, records: Sequence[Record]) -> PaperRow:
    """What the records say together; they are ordered, the best first."""

    def said(name: str) -> Any:
        return next((record[name] for record in records if record[name] is not None), None)

    authors = max((record["authors"] for record in records), key=len)
    return PaperRow(
        artifact_id=artifact_id,
        title=records[0]["title"],
        year=said("year"),
        venue=said("venue"),
        doi=said("doi"),
        authors=tuple(authors),
        abstract=said("abstract"),
        publication_type=said("publication_type"),
        url=said("url"),
        cited_by=said("cited_by"),
    )


def id_of(records: Sequence[Record], used: Collection[str], taken: Collection[str]) -> str:
    """The id of a paper: by its DOI, else by title and earliest year.

    An id under which the study has drawn or labelled the paper stays: labels must find it.
    """
    names = {str(record["own_id"]) for record in records}
    names |= {str(record["artifact_id"]) for record in records if record.get("artifact_id")}
    kept = sorted(name for name in names if name in used and name not in taken)
    if kept:
        return next((name for name in kept if name.startswith("doi:")), kept[0])
    if records[0]["doi"]:
        return str(records[0]["own_id"])
    return str(min(records, key=lambda r: (r["year"] is None, r["year"], r["own_id"]))["own_id"])


def matches(records: Sequence[Record]) -> dict[str, str | None]:
    """By record how it was recognised as this paper; None for the one that was there first."""
    found: dict[str, str | None] = {}
    dois: set[str] = set()
    for record in sorted(records, key=_seen):
        doi = record["doi"]
        if not found:
            how = None
        elif doi and doi in dois:
            how = "doi"
        elif doi and dois:
            how = "preprint"
        else:
            how = "title"
        found[record["record_id"]] = how
        dois |= {doi} if doi else set()
    return found


def _seen(record: Record) -> tuple[Any, ...]:
    return record["run_id"], record["fetched_at"], record["position"], record["record_id"]

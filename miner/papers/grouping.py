"""Which records are one paper. Pure: it depends on the records, not on their order.

1. Records with one DOI are one paper.
2. A record without a DOI is the paper with the same title whose year differs by one at most; of
   several the one that is no preprint, then the nearest year. A short title such as "Editorial"
   must have the very same year and first author, and says nothing of a record with a DOI.
3. Two DOIs are two papers, unless one is that of a preprint server and exactly one other has the
   same title, within three years: then the preprint is a record of the published paper.

Titles are compared as `faultatlas.data.identity.title_key` spells them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faultatlas.data.identity import title_key

Record = Mapping[str, Any]  # a row of store.paper_record

# arXiv, SSRN, Research Square, bioRxiv and medRxiv (a number behind 10.1101; journals there have
# letters), TechRxiv, Preprints.org, OSF, PsyArXiv, Authorea.
_PREPRINT = re.compile(
    r"10\.(?:48550/|2139/ssrn|21203/|1101/[0-9]|36227/|20944/preprints|31219/|31234/|22541/)"
)
_INITIALS = re.compile(r"(?:\w\.?-?){1,3}\.|[A-Z]{1,2}")
_SHORT = 16  # letters; "Editorial", "Introduction", "Message from the chairs"
_IDEOGRAPHS = "\u2e80"
_ONE_YEAR = 1
_PREPRINT_YEARS = 3


def is_preprint(doi: str | None) -> bool:
    """Whether a DOI is that of a preprint server."""
    return doi is not None and _PREPRINT.match(doi) is not None


def grouped(records: Iterable[Record]) -> list[list[Record]]:
    """The records of each paper, in the order of their ids."""
    ordered = sorted(records, key=lambda record: record["record_id"])
    units: dict[str, list[Record]] = defaultdict(list)  # what surely is one paper
    loose: dict[str, list[Record]] = defaultdict(list)
    for record in ordered:
        if record["doi"]:
            units[record["doi"]].append(record)
        else:
            loose[record["title_key"]].append(record)
    by_title: dict[str, set[str]] = defaultdict(set)  # to DOIs
    for doi, unit in units.items():
        for record in unit:
            by_title[record["title_key"]].add(doi)
    for key, same in sorted(loose.items()):
        is_short = _is_short(key)
        for at, cluster in enumerate(_clusters(same, is_short=is_short)):
            dois = [] if is_short else sorted(by_title.get(key, ()))
            nearest = _nearest(cluster, [(doi, units[doi]) for doi in dois])
            units[nearest or f"{key}\n{at}"] += cluster
    for doi in sorted(doi for doi in units if is_preprint(doi)):
        published = _published(units, by_title, doi)
        if published is not None:
            units[published] += units.pop(doi)
    found = (sorted(unit, key=lambda record: record["record_id"]) for unit in units.values())
    return sorted(found, key=lambda unit: unit[0]["record_id"])


def _is_short(key: str) -> bool:
    """Whether a title is one that many papers have; a sign of Chinese or Japanese is a word."""
    return sum(3 if sign >= _IDEOGRAPHS else 1 for sign in key) < _SHORT


def _clusters(records: Sequence[Record], *, is_short: bool) -> list[list[Record]]:
    """Records of one title by their years: a gap separates; without a year they join the first."""
    if is_short:
        alike: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in records:
            alike[str(record["year"]), _family(record["authors"])].append(record)
        return [alike[which] for which in sorted(alike)]
    dated = sorted((r for r in records if r["year"] is not None), key=lambda r: r["year"])
    undated = [record for record in records if record["year"] is None]
    clusters: list[list[Record]] = []
    for record in dated:
        if clusters and record["year"] - clusters[-1][-1]["year"] <= _ONE_YEAR:
            clusters[-1].append(record)
        else:
            clusters.append([record])
    if undated and not clusters:
        return [undated]
    if undated:
        clusters[0] += undated
    return clusters


def _family(authors: Sequence[str]) -> str:
    """The family name of the first author: of "Doe, Jane", "Doe J.A." and "Jane Doe"."""
    first = authors[0] if authors else ""
    family, comma, _given = first.partition(",")
    if comma:
        return title_key(family)
    words = [word for word in first.split() if not _INITIALS.fullmatch(word)]
    return title_key(words[-1] if words else first)


def _nearest(
    cluster: Sequence[Record], units: Sequence[tuple[str, Sequence[Record]]]
) -> str | None:
    """The DOI whose paper the records are, if there is one."""
    fitting = [
        (is_preprint(doi), distance, doi)
        for doi, unit in units
        if (distance := _distance(cluster, unit)) <= _ONE_YEAR
    ]
    return min(fitting)[2] if fitting else None


def _published(
    units: Mapping[str, Sequence[Record]], by_title: Mapping[str, set[str]], preprint: str
) -> str | None:
    """The DOI under which a preprint was published, if there is exactly one."""
    others = {
        doi
        for record in units[preprint]
        if not _is_short(record["title_key"])
        for doi in by_title.get(record["title_key"], ())
        if not is_preprint(doi) and doi in units
    }
    fitting = [doi for doi in others if _distance(units[preprint], units[doi]) <= _PREPRINT_YEARS]
    return fitting[0] if len(fitting) == 1 else None


def _distance(one: Sequence[Record], other: Sequence[Record]) -> int:
    """Years between records; none where nobody says one."""
    years, others = ([r["year"] for r in group if r["year"] is not None] for group in (one, other))
    return min((abs(year - another) for year in years for another in others), default=0)

"""RIS: records from TY to ER, tag by tag.

A parser of our own: rispy stops at the first record without an end, and tells no lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from miner.papers.entries import (
    BrokenEntry,
    Entry,
    FileRead,
    abstract_of,
    address_of,
    authors_of,
    doi_of,
    title_of,
    words_of,
    year_of,
)

_TAG = re.compile(r"([A-Z][A-Z0-9])  ?-(?: (.*))?\Z")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_AUTHORS = ("AU", "A1", "A2")
# The first that is there; programs differ in which they write.
_TITLES = ("TI", "T1", "CT", "BT")
_VENUES = ("JO", "JF", "T2", "JA", "J2", "BT", "C3", "PB")
_YEARS = ("PY", "Y1", "DA")
_TYPES = {"JOUR": "article", "CONF": "proceedings-article", "CPAPER": "proceedings-article",
          "CHAP": "book-chapter", "BOOK": "book", "THES": "thesis", "RPRT": "report",
          "GEN": "other", "UNPB": "preprint"}  # fmt: skip


@dataclass
class _Record:
    line: int
    start: int
    tags: dict[str, list[str]] = field(default_factory=dict)
    last: str = ""

    def first(self, names: tuple[str, ...]) -> str:
        return next((self.tags[name][0] for name in names if self.tags.get(name)), "")


def read_ris(text: str) -> FileRead:
    """The records of a file, and what of it is broken."""
    read = FileRead()
    record: _Record | None = None
    for number, found in enumerate(_LINE.finditer(text), 1):
        line = found[0].rstrip("\r\n")
        tag = _TAG.match(line.rstrip() if line.endswith("- ") else line)
        name, value = (tag[1], (tag[2] or "").strip()) if tag else ("", line.strip())
        if name == "TY":
            if record is not None:
                _put(read, record, found.start(), is_ended=False)
            record = _Record(number, found.start(), {"TY": [value]}, "TY")
        elif name == "ER":
            if record is not None:
                _put(read, record, found.end(), is_ended=True)
            else:
                read.broken.append(BrokenEntry(number, "a record ends that never began"))
            record = None
        elif record is None:
            if value:
                read.broken.append(BrokenEntry(number, "this line belongs to no record"))
        elif name:
            record.tags.setdefault(name, []).append(value)
            record.last = name
        elif value:  # a long value goes on in the next line
            said = record.tags[record.last]
            said[-1] = f"{said[-1]} {value}".strip()
    if record is not None:
        _put(read, record, len(text), is_ended=False)
    read.broken = _folded(read.broken)
    return read


def _put(read: FileRead, record: _Record, end: int, *, is_ended: bool) -> None:
    said = record.tags
    title = record.first(_TITLES)
    if not is_ended and not title:
        read.broken.append(BrokenEntry(record.line, "it has neither an end (ER) nor a title"))
        return
    if not is_ended:
        read.notes.append(f"line {record.line}: the record has no end (ER); it is in")
    venue = record.first(tuple(name for name in _VENUES if record.first((name,)) != title))
    read.add(
        Entry(
            key=record.first(("ID", "AN")).strip()[:200],
            title=title_of(title),
            year=year_of(record.first(_YEARS)),
            venue=words_of(venue),
            doi=doi_of(record.first(("DO", "M3"))) or doi_of(record.first(("UR",))),
            authors=authors_of([name for tag in _AUTHORS[:2] for name in said.get(tag, ())]),
            abstract=abstract_of(record.first(("AB", "N2"))),
            publication_type=_TYPES.get(said["TY"][0], words_of(said["TY"][0].lower())),
            url=address_of(record.first(("UR", "L2"))),
            line=record.line,
            span=(record.start, end),
        )
    )


def _folded(broken: list[BrokenEntry]) -> list[BrokenEntry]:
    """Lines that follow each other and belong nowhere are told once."""
    kept: list[BrokenEntry] = []
    last = 0
    for each in broken:
        is_more = bool(kept) and each.reason == kept[-1].reason and each.line == last + 1
        last = each.line
        if not is_more or "line" not in each.reason:
            kept.append(each)
    return kept

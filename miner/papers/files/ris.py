"""RIS: records from TY to ER, tag by tag.

A parser of our own. Tried: rispy 0.10.0 loses a record without an end, or the one behind it, and
lines that belong to no record, without a word, and tells no lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from faultatlas.miner.papers.entries import (
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

_TAG = re.compile(r"([A-Z][A-Z0-9])  ?-(?:\s(.*))?\Z")
_TIGHT = re.compile(r"([A-Z][A-Z0-9])  -(\S.*)\Z")  # as some programs write it
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_STRAY = "this line belongs to no record"
_AUTHORS = ("AU", "A1")
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
        said = (value for name in names for value in self.tags.get(name, ())[:1])
        return next((value for value in said if value), "")


def read_ris(text: str) -> FileRead:
    """The records of a file, and what of it is broken."""
    reading = _Reading(FileRead())
    for number, found in enumerate(_LINE.finditer(text), 1):
        reading.take(number, found)
    reading.end(len(text), is_ended=False)
    reading.read.broken = _folded(reading.read.broken)
    return reading.read


@dataclass
class _Reading:
    """One line after the other."""

    read: FileRead
    record: _Record | None = None

    def take(self, number: int, found: re.Match[str]) -> None:
        line = found[0].rstrip("\n")
        tag = _TAG.match(line.rstrip()) or _TIGHT.match(line.rstrip())
        name, value = (tag[1], (tag[2] or "").strip()) if tag else ("", line.strip())
        if name == "TY":
            self.end(found.start(), is_ended=False)
            self.record = _Record(number, found.start(), {"TY": [value]}, "TY")
        elif self.record is None:
            if name == "ER":
                self.read.broken.append(BrokenEntry(number, "a record ends that never began"))
            elif value:
                self.read.broken.append(BrokenEntry(number, _STRAY))
        elif name == "ER":
            self.end(found.end(), is_ended=True)
        elif name:
            self.record.tags.setdefault(name, []).append(value)
            self.record.last = name
        elif value:  # a long value goes on in the next line
            said = self.record.tags[self.record.last]
            said[-1] = f"{said[-1]} {value}".strip()

    def end(self, place: int, *, is_ended: bool) -> None:
        if self.record is not None:
            _put(self.read, self.record, place, is_ended=is_ended)
        self.record = None


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
            authors=authors_of([name for tag in _AUTHORS for name in said.get(tag, ())]),
            abstract=abstract_of(record.first(("AB", "N2"))),
            publication_type=_TYPES.get(said["TY"][0], words_of(said["TY"][0].lower())),
            url=address_of(record.first(("UR", "L2"))),
            line=record.line,
            span=(record.start, end),
        ),
        record.first(_YEARS),
    )


def _folded(broken: list[BrokenEntry]) -> list[BrokenEntry]:
    """Lines that follow each other and belong nowhere are told once."""
    kept: list[BrokenEntry] = []
    last = 0
    for each in broken:
        is_more = each.reason == _STRAY and bool(kept) and kept[-1].reason == _STRAY
        if not (is_more and each.line == last + 1):
            kept.append(each)
        last = each.line
    return kept

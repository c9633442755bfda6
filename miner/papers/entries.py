"""A paper as a source tells it, and the row of the study that is made of it.

Pure functions. What is told is hostile: texts are cut, cleaned of marks and put on one line.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import paper_id, parse, title_key
from faultatlas.data.old.records import PaperRecordRow
from faultatlas.miner.payload import text

TITLE_LIMIT = 1000  # characters
ABSTRACT_LIMIT = 20_000
_NAME_LIMIT = 200
_MOST_AUTHORS = 500
_YEAR = re.compile(r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2}|2100)(?![0-9])")
_MARK = re.compile(
    r"</?(?:i|b|u|em|strong|italic|bold|sub|sup|inf|sc|scp|tt|span|p|br|math|m(?:i|n|o|row|sup|sub"
    r"|text|frac|style)|jats:[a-z-]{1,20}|mml:[a-z]{1,20})"
    r"(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_DOI_WORD = re.compile(r"doi\b(?!\.)\s*[:=]?\s*", re.IGNORECASE)
# What stands before a DOI where no scheme does, or where a publisher's page has it in its address.
_DOI_PLACE = re.compile(
    r"(?:(?:dx\.|www\.)?doi\.org/|https?://[^/\s?#]+/doi/(?:(?:abs|full|pdf|book|epdf)/)?)(?=10\.)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Entry:
    """A paper as one source tells it."""

    key: str  # the source's own; '' where it has none
    title: str
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    authors: tuple[str, ...] = ()
    abstract: str | None = None
    publication_type: str | None = None
    url: str | None = None
    cited_by: int | None = None
    line: int = 0  # in a file, from 1
    span: tuple[int, int] = (0, 0)  # of its text in a file

    @property
    def own_id(self) -> str:
        """The id that it has if no other record is the same paper."""
        return paper_id(self.title, self.year, self.doi)


@dataclass(frozen=True)
class BrokenEntry:
    """A part of a file that is no whole paper."""

    line: int
    reason: str
    key: str = ""


@dataclass
class FileRead:
    """What a file holds."""

    entries: list[Entry] = field(default_factory=list)
    broken: list[BrokenEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, entry: Entry, year: str = "") -> None:
        """An entry; one without a title is broken. What it says instead of a year is told."""
        if not entry.title:
            self.broken.append(BrokenEntry(entry.line, "it has no title", entry.key))
        elif not title_key(entry.title):
            why = "its title has no letter and no digit"
            self.broken.append(BrokenEntry(entry.line, why, entry.key))
        else:
            self.entries.append(entry)
            said = one_line(year, 40)
            if said and entry.year is None:
                self.notes.append(f"line {entry.line}: {said!r} is no year; it is in without one")


def record_rows(
    entries: Iterable[Entry], source: str, search: str = "", first: int = 1
) -> list[PaperRecordRow]:
    """The rows of what one answer or file gave, in its order."""
    rows = []
    seen: Counter[str] = Counter()
    for position, entry in enumerate(entries, first):
        key = one_line(entry.key)
        if not key:  # a file may have one paper twice: these are two records
            seen[entry.own_id] += 1
            number = seen[entry.own_id]
            key = entry.own_id if number == 1 else f"{entry.own_id}#{number}"
        rows.append(_record_row(entry, key, source, search, position))
    return rows


def _record_row(entry: Entry, key: str, source: str, search: str, position: int) -> PaperRecordRow:
    own_id = entry.own_id
    # Two files of one name may use one key for two papers: neither replaces the other.
    said = [source, search, key, *([] if search else [own_id])]
    return PaperRecordRow(
        record_id=hashlib.blake2b("\n".join(said).encode(), digest_size=12).hexdigest(),
        own_id=own_id,
        source=source,
        search=search,
        record_key=key,
        position=position,
        title=entry.title,
        title_key=title_key(entry.title),
        year=entry.year,
        venue=entry.venue,
        doi=entry.doi,
        authors=entry.authors,
        abstract=entry.abstract,
        publication_type=entry.publication_type,
        url=entry.url,
        cited_by=entry.cited_by,
    )


def one_line(value: object, limit: int = _NAME_LIMIT) -> str:
    """Text without marks, control characters and line breaks; '' where there is none."""
    found = text(value) or ""
    found = found[: 4 * limit]
    for _time in range(2):  # indexes give `&amp;amp;` too
        found = html.unescape(found) if "&" in found else found
    if "<" in found:
        found = _MARK.sub("", found)
    found = " ".join(found.split())
    if not found.isprintable():  # marks of formatting vanish, control characters are spaces
        shown = (c for c in found if unicodedata.category(c) != "Cf")
        found = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return found[:limit].rstrip()


def title_of(value: object) -> str:
    """A title on one line."""
    return one_line(value, TITLE_LIMIT)


def abstract_of(value: object) -> str | None:
    """An abstract as plain text, or None."""
    return one_line(value, ABSTRACT_LIMIT) or None


def words_of(value: object) -> str | None:
    """A name or another short text, or None."""
    return one_line(value) or None


def authors_of(names: Sequence[object]) -> tuple[str, ...]:
    """The names that are there, in their order."""
    found = (one_line(name) for name in names[:_MOST_AUTHORS])
    return tuple(name for name in found if name)


def year_of(value: object) -> int | None:
    """The year in a date or a number."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    found = _YEAR.search(str(value)[:100])
    return int(found[0]) if found else None


def doi_of(value: object) -> str | None:
    """A DOI without anything around it, in lower case; None for what is none."""
    said = one_line(value, 400).replace("\\_", "_")
    if not said:
        return None
    said = _DOI_WORD.sub("", said, count=1) if _DOI_WORD.match(said) else said
    said = said.strip("{}").split(" ")[0]
    if place := _DOI_PLACE.match(said):
        said = said[place.end() :].partition("?")[0]
    said = re.sub(r"\A(10\.[0-9.]+)%2f", r"\1/", said, flags=re.IGNORECASE)
    try:
        found = parse(said)
    except StudyError:
        return None
    return found.key if found.source == "doi" else None


def address_of(value: object) -> str | None:
    """A web address, or None."""
    said = one_line(value, 500)
    return said if re.match(r"https?://[^\s<>\"]+\Z", said) else None

"""BibTeX: entries with the lines that they stand on; a broken one costs no other.

A parser of our own. Tried: pybtex 0.26.1 loses all behind an unclosed brace, and the second of two
entries with one key, and tells no lines of entries. bibtexparser 2.1.0 goes on behind a broken one
and tells its line, but takes an entry with a missing comma or with a brace too many for whole. A
block that opens at the beginning of a line with a key behind it ends whatever was left open before
it, so that a missing brace breaks one entry and the time stays linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
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
from faultatlas.miner.papers.latex import plain

_BLOCK = re.compile(r"@[ \t]*([A-Za-z]+)\s*([{(])")
# A block that surely begins: another entry's text seldom looks like that.
_START = re.compile(
    r"^[ \t]*@[ \t]*(?:(?i:string|comment|preamble)\s*[{(]|[A-Za-z]+\s*[{(]\s*[^\s,{}()=\"#]+\s*,)",
    re.MULTILINE,
)
_KEY = re.compile(r"\s*([^\s,{}\"=]*)\s*")
_NAME = re.compile(r"\s*([A-Za-z_][\w:.+/-]*)\s*=\s*")
_BARE_VALUE = re.compile(r"[^\s,#{}()\"=]+")
_SPACE = re.compile(r"\s*")
_BEGINNING = re.compile(r"^[ \t]*(?=@[ \t]*[A-Za-z]+\s*[{(])", re.MULTILINE)
_CLOSING = {"{": "}", "(": ")"}
_COLLECTIONS = ("proceedings", "collection", "mvcollection", "mvproceedings")
_VENUES = ("journal", "journaltitle", "booktitle", "series", "howpublished", "school",
           "institution", "publisher")  # fmt: skip


class _Damage(Exception):  # noqa: N818  (it is caught and told, never shown)
    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason


@dataclass
class _Block:
    kind: str
    key: str
    fields: dict[str, str]
    start: int
    end: int
    line: int = 0


@dataclass
class _Reading:
    text: str
    macros: dict[str, str] = field(default_factory=dict)
    damages: list[tuple[int, str]] = field(default_factory=list)


def read_bibtex(text: str) -> FileRead:
    """The entries of a file, and what of it is broken."""
    reading = _Reading(text)
    blocks = list(_blocks(reading))
    lines = _Lines(text)
    for block in blocks:
        block.line = lines.of(block.start)
    by_key = {block.key.lower(): block for block in reversed(blocks)}
    parents = {_plain(block.fields.get("crossref", "")).lower() for block in blocks}
    read = FileRead()
    seen: dict[str, int] = {}
    for block in blocks:
        if block.kind in _COLLECTIONS and block.key.lower() in parents:
            continue  # no paper: others say that they are in it
        seen[block.key] = number = seen.get(block.key, 0) + 1 if block.key else 1
        if number > 1:
            read.notes.append(
                f"line {block.line}: the key {block.key} was used before; both are in"
            )
        read.add(_entry(block, by_key, number), _plain(block.fields.get("year", "")))
    for at, reason in reading.damages:
        found = _BLOCK.match(text, at)
        key = _KEY.match(text, found.end()) if found else None
        read.broken.append(BrokenEntry(lines.of(at), reason, key[1][:100] if key else ""))
    read.broken.sort(key=lambda each: each.line)
    return read


class _Lines:
    """Line numbers of places that are asked for in any order."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer(r"\n", text)]

    def of(self, place: int) -> int:
        return bisect_left(self._ends, place) + 1


def _blocks(reading: _Reading) -> Iterator[_Block]:
    """Entries in their order; macros are noted, comments left out."""
    text = reading.text
    starts = [found.start() for found in _START.finditer(text)]
    for begin, end in zip([0, *starts], [*starts, len(text)], strict=True):
        at = begin
        while found := _BLOCK.search(text, at, end):
            try:
                block, at = _block(reading, found, end)
            except _Damage as damage:
                reading.damages.append((found.start(), damage.reason))
                # What follows in this part is told apart by the beginnings of its lines.
                following = _BEGINNING.search(text, found.end(), end)
                at = following.end() if following else end
                continue
            if block is not None:
                yield block


def _block(reading: _Reading, found: re.Match[str], end: int) -> tuple[_Block | None, int]:
    """A block and where it ends; None for what is no entry."""
    kind, text = found[1].lower(), reading.text
    closing = _CLOSING[found[2]]
    if kind == "comment":
        return None, _skipped(text, found.end(), end, closing)
    if kind == "preamble":
        _said, at = _value(reading, found.end(), end)
        return None, _closed(text, at, end, closing)
    if kind == "string":
        fields, at = _fields(reading, found.end(), end, closing)
        reading.macros |= {name.lower(): value for name, value in fields.items()}
        return None, at
    key = _KEY.match(text, found.end(), end)
    at = key.end() if key else found.end()
    if key is None or at >= end:
        raise _Damage(at, "it ends before its first field")
    if text[at] == closing:
        return _Block(kind, key[1], {}, found.start(), at + 1), at + 1
    if text[at] != ",":
        raise _Damage(at, "there is no comma behind its key")
    fields, at = _fields(reading, at + 1, end, closing)
    return _Block(kind, key[1], fields, found.start(), at), at


def _fields(reading: _Reading, at: int, end: int, closing: str) -> tuple[dict[str, str], int]:
    text, found = reading.text, dict[str, str]()
    while True:
        at = _past_space(text, at, end)
        if text[at] == closing:
            return found, at + 1
        if text[at] == ",":
            at += 1
            continue
        name = _NAME.match(text, at, end)
        if name is None:
            here = text[at : at + 20].splitlines()[0]
            raise _Damage(at, f"there is no field at {here!r}")
        value, at = _value(reading, name.end(), end)
        found.setdefault(name[1].lower(), value)  # BibTeX takes the first of two
        at = _past_space(text, at, end)
        if text[at] not in (",", closing):
            raise _Damage(at, f"there is no comma behind the field {name[1][:40]}")


def _value(reading: _Reading, at: int, end: int) -> tuple[str, int]:
    """Parts that `#` joins: in braces, in quotes, numbers, macros."""
    text, parts = reading.text, []
    while True:
        at = _past_space(text, at, end)
        if text[at] == "{":
            close = _skipped(text, at + 1, end, "}")
            parts.append(text[at + 1 : close - 1])
        elif text[at] == '"':
            close = _quoted(text, at + 1, end)
            parts.append(text[at + 1 : close - 1])
        else:
            bare = _BARE_VALUE.match(text, at, end)
            if bare is None:
                raise _Damage(at, "a field has no value")
            close = bare.end()
            # A macro that nobody defined, such as jan, stands for itself.
            parts.append(reading.macros.get(bare[0].lower(), bare[0]))
        at = _past_space(text, close, end)
        if text[at] != "#":
            return "".join(parts), close
        at += 1


def _skipped(text: str, at: int, end: int, closing: str) -> int:
    """Behind the sign that closes what was opened; braces in it are in pairs."""
    depth = 0
    while at < end:
        sign = text[at]
        if sign == "\\":
            at += 1
        elif sign == closing and depth == 0:
            return at + 1
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth < 0:
                raise _Damage(at, "a brace closes that was never opened")
        at += 1
    raise _Damage(at, f"a {'brace' if closing == '}' else 'parenthesis'} is never closed")


def _quoted(text: str, at: int, end: int) -> int:
    depth = 0
    while at < end:
        sign = text[at]
        if sign == '"' and depth == 0:
            return at + 1
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            raise _Damage(at, "a quotation is never closed")
        at += 1
    raise _Damage(at, "a quotation is never closed")


def _past_space(text: str, at: int, end: int) -> int:
    found = _SPACE.match(text, at, end)
    at = found.end() if found else at
    if at >= end:
        raise _Damage(at, "it is never closed")
    return at


def _closed(text: str, at: int, end: int, closing: str) -> int:
    at = _past_space(text, at, end)
    if text[at] != closing:
        raise _Damage(at, "it is never closed")
    return at + 1


def _entry(block: _Block, by_key: Mapping[str, _Block], number: int) -> Entry:
    said = dict(block.fields)
    parent = by_key.get(_plain(said.get("crossref", "")).lower())
    if parent is not None and parent is not block:
        inherited = {name: value for name, value in parent.fields.items() if name != "crossref"}
        inherited["booktitle"] = inherited.get("booktitle") or inherited.pop("title", "")
        # A DOI or an abstract of the proceedings is not that of a paper in it.
        for own in ("title", "doi", "abstract", "url", "author"):
            inherited.pop(own, None)
        said = inherited | said
    venue = next((said[name] for name in _VENUES if said.get(name)), None)
    key = block.key if number == 1 else f"{block.key}#{number}"
    return Entry(
        key=key[:200],
        title=title_of(_plain(said.get("title", ""))),
        year=year_of(_plain(said.get("year") or said.get("date") or "")),
        venue=words_of(_plain(venue or "")),
        doi=doi_of(_plain(said.get("doi", ""))) or doi_of(said.get("url", "")),
        authors=authors_of(_people(said.get("author") or said.get("editor") or "")),
        abstract=abstract_of(_plain(said.get("abstract", ""))),
        publication_type=block.kind[:60],
        url=address_of(said.get("url", "").strip().replace("\\_", "_")),
        line=block.line,
        span=(block.start, block.end),
    )


def _people(said: str) -> list[str]:
    """Names that `and` separates, outside of braces."""
    names, depth, begin = [], 0, 0
    for found in re.finditer(r"[{}]|\s+and\s+", said, re.IGNORECASE):
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        elif depth <= 0:
            names.append(said[begin : found.start()])
            begin = found.end()
    names.append(said[begin:])
    if len(names) > 1 and names[-1].strip().lower() == "others":  # "et al." to BibTeX
        names.pop()
    return [_plain(name) for name in names]


def _plain(said: str) -> str:
    return plain(said[:100_000]).strip()

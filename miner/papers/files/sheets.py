"""CSV: what Scopus exports, or any table with columns for title, year and DOI."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from faultatlas.data.errors import StudyError
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

_LONGEST_CELL = 1_000_000
# Names of columns without case, spaces and marks; the first that is there.
_COLUMNS = {
    "title": ("title", "documenttitle", "articletitle", "itemtitle"),
    "year": ("year", "publicationyear", "pubyear", "date", "published"),
    "venue": ("sourcetitle", "venue", "publicationtitle", "journal", "booktitle", "conference",
              "conferencename"),
    "doi": ("doi",),
    "authors": ("authors", "author", "authornames", "authorfullnames"),
    "abstract": ("abstract", "abstractnote"),
    "type": ("documenttype", "publicationtype", "type", "itemtype"),
    "url": ("link", "url", "pdflink"),
    "cited": ("citedby", "citations", "timescited", "articlecitationcount"),
    "key": ("eid", "id", "key", "openalexid", "accessionnumber"),
}  # fmt: skip
_TOLD = re.compile(r'"?sep=(.)"?')  # the first line as Excel writes it
_UNCLOSED = "a quotation is not closed"
_QUOTING = re.compile(r"end of data|expected after")
_NONE_SAID = {"[no author name available]", "[no abstract available]", "n/a"}


def read_sheet(text: str) -> FileRead:
    """The rows of a file, and what of it is broken."""
    read = FileRead()
    lines = _rows(text, read)
    header = next((row for row in lines if any(cell.strip() for cell in row[2])), None)
    if header is None:
        raise StudyError("the file is empty", "Take the file that the index exports, with headers.")
    width = len(header[2])
    places = _places(header[2])
    if "title" not in places:
        found = ", ".join(header[2])[:100]
        raise StudyError(
            f"it has no column Title; its first line is: {found}",
            "Export with titles, years and DOIs, and with the line of headers.",
        )
    for line, span, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != width:
            reason = f"it has {len(cells)} cells where the header has {width}"
            read.broken.append(BrokenEntry(line, reason, cells[0][:60].strip()))
            continue
        said = {name: cells[at] for name, at in places.items()}
        read.add(_entry(said, line, span), said.get("year", ""))
    read.broken.sort(key=lambda each: each.line)
    return read


def _places(header: Sequence[str]) -> dict[str, int]:
    names = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    return {
        what: next(names.index(name) for name in known if name in names)
        for what, known in _COLUMNS.items()
        if any(name in names for name in known)
    }


def _entry(cells: Mapping[str, str], line: int, span: tuple[int, int]) -> Entry:
    said = {
        name: "" if cell.strip().lower() in _NONE_SAID else cell for name, cell in cells.items()
    }
    number = said.get("cited", "").strip()
    return Entry(
        key=said.get("key", "").strip()[:200],
        title=title_of(said["title"]),
        year=year_of(said.get("year", "")),
        venue=words_of(said.get("venue")),
        doi=doi_of(said.get("doi")),
        authors=authors_of(_people(said.get("authors", ""))),
        abstract=abstract_of(said.get("abstract")),
        publication_type=words_of(said.get("type")),
        url=address_of(said.get("url")),
        cited_by=int(number) if re.fullmatch(r"[0-9]{1,7}", number) else None,
        line=line,
        span=span,
    )


def _people(said: str) -> list[str]:
    """Names, which Scopus separates by semicolons and used to separate by commas."""
    if ";" in said:
        return re.split(r"\s*;\s*", said)
    # "Smith J., Doe A." are two, "Smith, John" is one.
    parts = re.split(r",\s*", said)
    many = len(parts) > 1 and all(re.search(r"\s\S{1,6}\.?\Z", part) for part in parts)
    return parts if many else [said]


def _rows(text: str, read: FileRead) -> Iterator[tuple[int, tuple[int, int], list[str]]]:
    """Rows with the line they begin on and their place in the text.

    A quotation that is not closed would swallow rows behind it, up to the next quotation or the
    end: it is broken, and the reading goes on in the line behind the one in which it was opened.
    """
    csv.field_size_limit(_LONGEST_CELL)
    lines = [found[0] for found in re.finditer(r"[^\n]*\n|[^\n]+\Z", text)]
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    at = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    told = _TOLD.fullmatch(lines[at].strip()) if at < len(lines) else None
    at += 1 if told else 0
    separator = told[1] if told else _separator(lines[at]) if at < len(lines) else ","
    places: dict[str, int] | None = None
    width = 0
    while at < len(lines):
        rest = (lines[place] for place in range(at, len(lines)))
        reader = csv.reader(rest, delimiter=separator, strict=True)
        begin = at
        try:
            for cells in reader:
                until = at + reader.line_num
                if places is None:
                    places, width = _places(cells), len(cells)
                elif until > begin + 1:
                    inner = _alone(lines[begin + 1 : until], separator)
                    _refuse_swallowed(inner, width, places, is_odd=len(cells) != width)
                yield begin + 1, (offsets[begin], offsets[until]), cells
                begin = until
            at = len(lines)
        except csv.Error as error:
            reason = _UNCLOSED if _QUOTING.search(str(error)) else str(error)
            read.broken.append(BrokenEntry(begin + 1, reason, lines[begin][:60].strip()))
            at = begin + 1


def _alone(lines: Sequence[str], separator: str) -> Iterator[list[str]]:
    """The cells of each line by itself."""
    for line in lines:
        yield next(csv.reader([line], delimiter=separator), [])


def _refuse_swallowed(
    lines: Iterator[list[str]], width: int, places: Mapping[str, int], *, is_odd: bool
) -> None:
    """Refuse a quotation with a whole row in it; where no cell is missing, with a dated one."""
    for cells in lines:
        if len(cells) == width and cells[places.get("title", 0)].strip():
            year = cells[places["year"]] if "year" in places else ""
            if is_odd or year_of(year) is not None:
                raise csv.Error(_UNCLOSED)


def _separator(first: str) -> str:
    """Of comma, semicolon and tab the one that makes the most columns."""
    return max(",;\t", key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))

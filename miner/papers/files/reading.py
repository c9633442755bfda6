"""A file of papers as text, and read by whichever format it has."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.miner.papers.files.bibtex import read_bibtex
from faultatlas.miner.papers.files.ris import read_ris
from faultatlas.miner.papers.files.sheets import read_sheet

if TYPE_CHECKING:
    from faultatlas.miner.papers.entries import FileRead

MOST_BYTES = 32 << 20
_ENDINGS = {".bib": "bibtex", ".bibtex": "bibtex", ".ris": "ris", ".csv": "csv"}
_READERS = {"bibtex": read_bibtex, "ris": read_ris, "csv": read_sheet}
_MARKED = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"),
           (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip


def format_of(path: Path) -> str:
    """bibtex, ris or csv, by the end of the name."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise StudyError(
            f"{path.name} ends with none of .bib, .ris and .csv",
            "Export from the index or the reference manager in one of these formats.",
        )
    return _ENDINGS[ending]


def bytes_of(path: Path) -> bytes:
    """What a file holds, if it is no monster."""
    try:
        with path.open("rb") as file:
            body = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read: {error.strerror or 'no such file'}", "Check the path."
        ) from None
    if len(body) > MOST_BYTES:
        raise StudyError(
            f"{path} is larger than {MOST_BYTES >> 20} MB", "Cut it into several files."
        )
    return body


def text_of(body: bytes) -> str:
    """The text, with plain ends of lines: UTF-8, what a mark says, else Windows' Latin-1."""
    return _decoded(body).replace("\r\n", "\n").replace("\r", "\n")


def _decoded(body: bytes) -> str:
    for mark, encoding in _MARKED:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    if body[:4].count(0) == 2:  # UTF-16 without a mark: every other byte of plain letters is none
        return body.decode("utf-16-be" if body[0] == 0 else "utf-16-le", "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def read_body(body: bytes, kind: str) -> FileRead:
    """The papers of a file, and what of it is broken."""
    return _READERS[kind](text_of(body))

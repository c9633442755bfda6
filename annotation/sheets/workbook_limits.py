"""What a workbook may cost: it is looked through before it is opened.

Sizes in the file are claims. A row may call itself the ten-thousand-millionth, a few bytes of
XML entities may grow to gigabytes. So every part is walked through once by a parser that stops
at the first such claim.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

from faultatlas.data.errors import StudyError

MOST_BYTES = 512 * 1024 * 1024  # unpacked
MOST_ROWS = 1_048_576  # of a sheet, to every spreadsheet program
MOST_CELLS = 5_000_000  # of a sheet
_PIECE = 1024 * 1024
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"


def check_workbook(path: Path) -> None:
    """Refuse a workbook that would cost too much, or that declares XML entities."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    with archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise StudyError(
                f"{path} is larger than {MOST_BYTES // 1024**2} MB when it is unpacked",
                "Save the sheet as CSV.",
            )
        for member in archive.infolist():
            _Part(path).read(archive, member)


class _Part:
    """One part of a workbook. Only sheets are looked at closely."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells = 0
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._root

    def read(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        with archive.open(member) as file:
            piece = file.read(_PIECE)
            if not piece[:64].lstrip(_BEFORE_XML).startswith(b"<"):
                return  # a picture
            try:
                while piece:
                    self.parser.Parse(piece, False)
                    piece = file.read(_PIECE)
                self.parser.Parse(b"", True)  # what it kept back: it waits for whole elements
            except expat.ExpatError:
                return  # drawings of old programs are no XML; sheets that are none are said later

    def _doctype(self, *_about: object) -> None:
        raise StudyError(
            f"{self.path} is no XLSX workbook that can be read: its XML has a document type, "
            "which no spreadsheet program writes",
            "Do not trust the file. Ask for the sheet as CSV.",
        )

    def _root(self, name: str, _attributes: Mapping[str, str]) -> None:
        is_sheet = name.rpartition(":")[2] == "worksheet"
        self.parser.StartElementHandler = self._element if is_sheet else None

    def _element(self, name: str, attributes: Mapping[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "row":
            number = attributes.get("r", "1")
            try:
                fits = 1 <= float(number) <= MOST_ROWS
            except ValueError:
                fits = False
            if not fits:
                raise StudyError(
                    f"{self.path} has a row {number[:20]}: a sheet has {MOST_ROWS:,} at most",
                    "Save the sheet anew in a spreadsheet program, or as CSV.",
                )
        elif kind == "c":
            self.cells += 1
            if self.cells > MOST_CELLS:
                raise too_many_cells(self.path)


def too_many_cells(path: Path) -> StudyError:
    """That a sheet is too large."""
    return StudyError(
        f"{path} has a sheet with more than {MOST_CELLS:,} cells", "Save the sheet as CSV."
    )

"""A file of a dump from one end to the other, in parts of rows that are meant.

The file goes once through a small buffer, is hashed, and is looked at by a picker. Where a part
ends follows from where it began and from the file alone, so that a reading that goes on there
makes the same parts as one that was never stopped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from blake3 import blake3

from faultatlas.data.errors import StudyError
from faultatlas.miner.posts.dump_files import Broken, Read
from faultatlas.miner.posts.dump_pick import Found, Picker, row_at
from faultatlas.miner.posts.dump_rows import DamagedRow, attributes

BLOCK = 1 << 19  # measured: the hash and the search share the processor's cache
LONGEST_ROW = 64 << 20
PART_ROWS = 2_000
PART_BYTES = 4 << 20
_SAVE_EVERY = 1 << 30  # bytes without a row that is meant
_SPARE = 64  # for the `<` of a row that never came, and for looking beyond the end
_PROLOG = 1 << 16
_HINT = "Give Posts.xml of a Stack Exchange data dump, as archive.org has it."
_ENCODING = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]{1,40})""")
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<", b"\0\0")

Picked = list[tuple[bytes, Found]]


@dataclass(frozen=True)
class Part:
    """Rows that are meant, between two places in a file."""

    raw: list[bytes]
    found: list[Found]  # the same rows, as a study has them
    start: int
    end: int  # everything before it was looked at
    digest: str  # BLAKE3 of everything before it
    is_last: bool = False
    is_complete: bool = False  # whether it ends with the file's end, as it should


@dataclass
class Scan:
    """One reading of a file."""

    read: Read
    name: str  # for messages
    picker: Picker
    position: int = 0
    hashed: blake3 = field(default_factory=blake3)  # four times as fast as SHA-256
    broken: str = ""  # why a packed file ends where it does

    def skip(self, count: int) -> bool:
        """Pass over bytes that were read before; whether there are so many."""
        view = memoryview(bytearray(BLOCK))
        while count:
            got = self._fill(view[: min(count, BLOCK)])
            if not got:
                return False
            self.hashed.update(view[:got])
            self.position += got
            count -= got
        return True

    def parts(self, stop: int | None = None) -> Iterator[Part]:
        """The rest of the file in parts, or up to a place between two rows."""
        raw: list[bytes] = []
        rows: list[Found] = []
        start, size = self.position, 0
        for picked, ending in self._blocks(stop):
            for text, row in picked:
                raw.append(text)
                rows.append(row)
                size += len(text)
            full = len(raw) >= PART_ROWS or size >= PART_BYTES
            if full or ending or self.position - start >= _SAVE_EVERY:
                digest = self.hashed.copy().hexdigest()
                is_whole = ending == "whole"
                yield Part(raw, rows, start, self.position, digest, bool(ending), is_whole)
                raw, rows, start, size = [], [], self.position, 0

    def _blocks(self, stop: int | None) -> Iterator[tuple[Picked, str]]:
        """The rows of one block after the other; at the end, whether the file is `whole`."""
        length, fill, is_grown, ending = BLOCK, 0, False, ""
        buffer = bytearray(length + _SPARE)
        while not ending:
            limit = length if stop is None else min(length, stop - self.position)
            before = fill
            with memoryview(buffer) as view:
                fill += self._fill(view[fill:limit])
            if self.position == 0:
                self._check_prolog(bytes(buffer[: min(fill, _PROLOG)]))
            if fill < length:
                with memoryview(buffer) as view:
                    self._fill(view[fill : fill + 1])  # a packed file tells now why it ends
                end, behind, ending = self._ending(buffer, fill, is_stopped=stop is not None)
            else:
                # Of a row that is longer than a block, what was looked at has no other `<`.
                end = max(buffer.rfind(b"<", before, fill), 0) if is_grown else _last(buffer, fill)
                if end == 0 and length < LONGEST_ROW:
                    length, is_grown = length + BLOCK, True
                    buffer += bytes(length + _SPARE - len(buffer))
                    continue
                if end == 0:
                    self.picker.unreadable(self.position, f"longer than {LONGEST_ROW >> 20} MB")
                behind = end if end > 0 else fill
            rows, reached = self._rows(buffer, end)
            if reached < end:  # as many as a part may have: the rest is another block
                behind, ending = reached, ""
            self._pass(buffer, behind)
            fill -= behind
            with memoryview(buffer) as view:
                view[:fill] = view[behind : behind + fill]
            if is_grown:
                length, is_grown = max(BLOCK, fill), False
                del buffer[length + _SPARE :]
            yield rows, ending

    def _ending(self, buffer: bytearray, fill: int, *, is_stopped: bool) -> tuple[int, int, str]:
        """Where the last rows end, what is passed with them, and how the file ends."""
        last = _last(buffer, fill)
        buffer[fill] = ord("<")  # behind the last row
        if is_stopped:  # between two rows, by the caller
            return fill, fill, "stopped"
        closing = f"</{self.picker.root}".encode()
        is_closed = last >= 0 and buffer.startswith(closing, last) and b">" in buffer[last:fill]
        if is_closed and not self.broken:
            return last, fill, "whole"
        end = max(last, 0)
        if last >= 0 and (whole := _whole_row(buffer, last, fill)):
            # Only blanks follow; where the rest of the file came, they would be passed later.
            return fill, last + whole, "cut"
        return end, end, "cut"

    def _rows(self, buffer: bytearray, end: int) -> tuple[Picked, int]:
        """The rows of a block that are meant, and where they end if there are too many."""
        picker = self.picker
        rows: Picked = []
        if end <= 0:
            return rows, end
        picker.base = self.position
        most = PART_ROWS
        found = picker.candidates(buffer, end, most)
        for at, following in found:
            raw = row_at(buffer, at, following)
            try:
                if (row := picker.accepted(attributes(raw))) is not None:
                    rows.append((raw, row))
            except DamagedRow as damage:
                picker.tally.damage(self.position + at, str(damage))
        picker.tally.kept += len(rows)
        return rows, found[-1][1] if len(found) >= most else end

    def _pass(self, buffer: bytearray, end: int) -> None:
        with memoryview(buffer) as view:
            self.hashed.update(view[:end])
        self.position += end

    def _fill(self, view: memoryview) -> int:
        if not len(view) or self.broken:
            return 0
        try:
            return self.read(view)
        except Broken as broken:
            self.broken = str(broken)
            return 0

    def _check_prolog(self, text: bytes) -> None:
        """Refuse what is no such file, before anything is stored."""
        if not text:
            why = self.broken or "it is empty"
            raise StudyError(f"{self.name} cannot be read: {why}", _HINT)
        if text.startswith(_OTHER_ENCODINGS):
            raise StudyError(f"{self.name} is not UTF-8", _HINT)
        root = re.search(rb"<[A-Za-z]", text)
        before = text[: root.start()] if root else text
        if b"<!DOCTYPE" in before or b"<!ENTITY" in text:
            raise StudyError(
                f"{self.name} has a document type, which no data dump has: it is not read, since "
                "entities could make it any size",
                _HINT,
            )
        encoding = _ENCODING.search(before)
        if encoding and encoding[1].lower() not in (b"utf-8", b"utf8", b"us-ascii"):
            raise StudyError(
                f"{self.name} is not UTF-8: it says {encoding[1].decode('ascii', 'replace')}", _HINT
            )
        wanted = self.picker.root
        if root is None or not re.match(rf"<{wanted}[\s/>]".encode(), text[root.start() :]):
            raise StudyError(f"{self.name} has no <{wanted}>: it is no {wanted.title()}.xml", _HINT)


def _last(buffer: bytearray, fill: int) -> int:
    return buffer.rfind(b"<", 0, fill)


def _whole_row(buffer: bytearray, at: int, end: int) -> int:
    """The length of a row that nothing follows; 0 if it is cut."""
    raw = row_at(buffer, at, end)
    try:
        attributes(raw)
    except DamagedRow:
        return 0
    return len(raw) if raw.endswith(b"/>") else 0

"""The posts of a dump that the study kept: what answers and comments are looked for by.

They come from the stored parts, not from the tables: those may hold the same posts of another
source, and a reading that goes on must look for the same ones as one that was never stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from miner import archive
from miner.posts.dump_rows import DamagedRow, Kind, attributes, number_of, raw_rows

if TYPE_CHECKING:
    from data.store import Reader

_USUAL = re.compile(rb'<row Id="([0-9]{1,18})" PostTypeId="[12]"(?: ParentId="([0-9]{1,18})")?')


def questions(reader: Reader, stream: str, turn: int, since: int = 0) -> set[int]:
    """Numbers of the questions of a file, or of those behind a place in it."""
    found: set[int] = set()
    for asked, body in _parts(reader, "dump questions", stream, turn):
        if asked["from"] >= since:
            found.update(number for number, _parent in _numbers(body))
    return found


def answers(reader: Reader, stream: str, turn: int, since: int = -1) -> dict[int, int]:
    """Answers with their questions, or those to questions that were read later."""
    found: dict[int, int] = {}
    for asked, body in _parts(reader, "dump answers", stream, turn):
        if asked["known_to"] > since:
            found.update(_numbers(body))
    return found


def _parts(
    reader: Reader, kind: Kind, stream: str, turn: int
) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    rows = reader.rows(
        "SELECT number, request FROM store.response WHERE request ->> 'kind' = ? "
        "AND request ->> 'stream' = ? AND (request ->> 'turn')::INTEGER = ? ORDER BY number",
        [kind, stream, turn],
    )
    for row in rows:
        (stored,) = reader.rows(
            "SELECT body, size FROM store.response WHERE number = ?", [row["number"]]
        )
        yield json.loads(row["request"]), archive.unpacked(stored["body"], stored["size"])


def _numbers(body: bytes) -> Iterator[tuple[int, int]]:
    """The number of each row, and that of its question; 0 for none."""
    for raw in raw_rows(body):
        if usual := _USUAL.match(raw):
            yield int(usual[1]), int(usual[2] or 0)
            continue
        try:
            row = attributes(raw)
            yield number_of(row, "Id"), number_of(row, "ParentId") if "ParentId" in row else 0
        except DamagedRow:
            continue

"""The posts of a dump that the study kept: what answers and comments are looked for by.

They come from the stored parts, not from the tables: those may hold the same posts of another
source, and a reading that goes on must look for the same ones as one that was never stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from faultatlas.miner import archive
from faultatlas.miner.posts.dump_numbers import numbers, pairs
from faultatlas.miner.posts.dump_rows import DamagedRow, Kind, attributes, number_of, raw_rows

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_QUESTION = re.compile(rb'<row Id="([0-9]{1,18})" PostTypeId="1"')
_ANSWER = re.compile(rb'<row Id="([0-9]{1,18})" PostTypeId="2" ParentId="([0-9]{1,18})"')


def questions(reader: Reader, stream: str, turn: int, since: int = 0) -> Container[int]:
    """Numbers of the questions of a file, or of those behind a place in it."""
    return numbers(
        number
        for asked, body in _parts(reader, "dump questions", stream, turn)
        if asked["from"] >= since
        for (number,) in _numbers(body, _QUESTION, "Id")
    )


def answers(reader: Reader, stream: str, turn: int, since: int = -1) -> Mapping[int, int]:
    """Answers with their questions, or those to questions that were read later."""
    return pairs(
        (number, question)
        for asked, body in _parts(reader, "dump answers", stream, turn)
        if asked["known_to"] > since
        for number, question in _numbers(body, _ANSWER, "Id", "ParentId")
    )


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


def _numbers(body: bytes, usual: re.Pattern[bytes], *names: str) -> Iterator[tuple[int, ...]]:
    """These numbers of each row; a parser reads a row that is written in another way."""
    for raw in raw_rows(body):
        if (match := usual.match(raw)) and all(found := tuple(map(int, match.groups()))):
            yield found
            continue
        try:
            row = attributes(raw)
            yield tuple(number_of(row, name) for name in names)
        except DamagedRow:
            continue

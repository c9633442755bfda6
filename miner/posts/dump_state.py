"""How far a file of a dump was read: stored in the same transaction as the rows before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from faultatlas.miner.posts.dump_tally import Tally, tally_of

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer


@dataclass(frozen=True)
class Reached:
    """A place in a file, and what was seen before it."""

    stream: str
    name: str
    position: int
    digest: str  # BLAKE3 of everything before it
    is_complete: bool
    turn: int  # which file it is: one that differs from the one before is read from its start
    known_to: int  # of answers and comments: how far the questions were read that they belong to
    tally: Tally


def load(reader: Reader, stream: str) -> Reached | None:
    """Where a reading was left."""
    rows = reader.rows(
        "SELECT stream, name, position, digest, is_complete, turn, known_to, tally "
        "FROM store.dump_read WHERE stream = ?",
        [stream],
    )
    if not rows:
        return None
    return Reached(**{**rows[0], "tally": tally_of(json.loads(rows[0]["tally"]))})


def save(writer: Writer, at: Reached, run_id: str, now: datetime) -> None:
    """Note where to go on."""
    writer.execute(
        "INSERT OR REPLACE INTO store.dump_read (stream, name, size, position, digest, rows_seen, "
        "rows_kept, is_complete, turn, known_to, tally, run_id, updated_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            at.stream,
            at.name,
            at.position,
            at.position,
            at.digest,
            at.tally.rows,
            at.tally.kept,
            at.is_complete,
            at.turn,
            at.known_to,
            json.dumps(at.tally.as_json(), sort_keys=True),
            run_id,
            now,
        ],
    )
